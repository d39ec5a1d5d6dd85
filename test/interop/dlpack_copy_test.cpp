// SPDX-License-Identifier: MIT
// roc::copy from and to DLPack tensors, whose element type and rank are known at run time.
#include <gtest/gtest.h>

#if __has_include(<dlpack/dlpack.h>)
#include <roc/interop/dlpack.hpp>
#include <roc/roc.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/call.hpp"

namespace {

// A tensor that another library exports; `memory` is not owned.
struct tensor {
  tensor(void* memory, DLDevice device, std::vector<std::int64_t> extents,
         std::vector<std::int64_t> steps = {}, DLDataType type = {kDLInt, 32, 1})
      : shape(std::move(extents)), strides(std::move(steps)) {
    dl.data = memory;
    dl.device = device;
    dl.ndim = static_cast<int>(shape.size());
    dl.dtype = type;
    dl.shape = shape.data();
    dl.strides = strides.empty() ? nullptr : strides.data();
  }

  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  DLTensor dl{};
};

constexpr DLDevice cpu{kDLCPU, 0};
constexpr DLDevice on_device(int ordinal) { return {roc::dlpack_device, ordinal}; }

// Memory that the library does not know.
struct foreign_memory {
  foreign_memory(int ordinal, std::size_t bytes) {
    roc::device_guard const guard{roc::device(ordinal)};
    ROCARRAY_HIP(hipMalloc, &data, bytes);
  }
  ~foreign_memory() { ROCARRAY_HIP_QUIET(hipFree, data); }
  foreign_memory(foreign_memory const&) = delete;
  foreign_memory& operator=(foreign_memory const&) = delete;

  void* data = nullptr;
};

std::vector<int> numbers(int count) {
  std::vector<int> result;
  for (int i = 0; i < count; ++i) result.push_back(i);
  return result;
}

template <class Call>
std::string message(Call&& call) {
  try {
    call();
  } catch (roc::error const& error) {
    return error.what();
  }
  return "nothing was thrown";
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE(std::string::npos, (text).find(part)) << (text)

TEST(DlpackCopy, CopiesBetweenTensorsOfAnyLayoutAndDevice) {
  if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  auto host = numbers(24);
  tensor const from(host.data(), cpu, {2, 3, 4});
  foreign_memory first(0, 24 * sizeof(int));
  foreign_memory second(1, 24 * sizeof(int));
  tensor const f_order(first.data, on_device(0), {2, 3, 4}, {1, 2, 6});
  tensor const c_order(second.data, on_device(1), {2, 3, 4});
  roc::copy(from.dl, f_order.dl);
  roc::copy(f_order.dl, c_order.dl);
  std::vector<int> result(24);
  tensor const to(result.data(), cpu, {2, 3, 4});
  roc::copy(c_order.dl, to.dl);
  EXPECT_EQ(host, result);
  std::vector<int> stored(24);
  ROCARRAY_HIP(hipMemcpy, stored.data(), first.data, 24 * sizeof(int), hipMemcpyDeviceToHost);
  EXPECT_EQ(12, stored[1]);
}

TEST(DlpackCopy, CopiesBetweenTensorAndTypedOperands) {
  if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  roc::device_array<int, 2> array({3, 4});
  auto host = numbers(12);
  tensor const host_tensor(host.data(), cpu, {3, 4});
  roc::copy(host_tensor.dl, array);
  EXPECT_EQ(7, array(1, 3).get());
  std::vector<int> flat(12);
  foreign_memory memory(1, 12 * sizeof(int));
  tensor const device_tensor(memory.data, on_device(1), {3, 4});
  roc::copy(array, device_tensor.dl);
  roc::copy(device_tensor.dl, flat);  // a range of rank 1 takes the shape
  EXPECT_EQ(host, flat);
  int c_array[3][4] = {};
  roc::copy(device_tensor.dl, c_array);
  EXPECT_EQ(11, c_array[2][3]);
  roc::copy(roc::memory_view(static_cast<int*>(memory.data), roc::shape<2>{3, 4}), host_tensor.dl);
  EXPECT_EQ(roc::copy_path::none, roc::planned_path(tensor(nullptr, cpu, {0}).dl,
                                                    roc::device_array<int>(roc::shape<1>{0})));
}

TEST(DlpackCopy, RangeOfRankOneTakesShapeOfTensorIfItIsContiguous) {
  auto host = numbers(24);
  std::vector<int> result(12);
  tensor const matrix(result.data(), cpu, {3, 4});
  auto const first_half = std::vector<int>(host.begin(), host.begin() + 12);
  roc::copy(first_half, matrix.dl);
  EXPECT_EQ(first_half, result);
  roc::memory_view<int> const every_second(host.data(), {12}, {2});
  EXPECT_THROW(roc::copy(every_second, matrix.dl), roc::shape_error);
  EXPECT_THROW(roc::copy(matrix.dl, every_second), roc::shape_error);
  EXPECT_EQ(first_half, result);
}

TEST(DlpackCopy, ManagedTensorIsAnOperand) {
  auto host = numbers(6);
  tensor const description(host.data(), cpu, {6});
  DLManagedTensor managed{};
  managed.dl_tensor = description.dl;
  roc::device_array<int> array(roc::shape<1>{6});
  roc::stream stream;
  roc::copy(managed, array, stream);
  roc::copy(array, managed, stream, roc::borrow_source);
  roc::copy(managed, array, stream, {.path = roc::copy_path::staged});
  stream.synchronize();
  EXPECT_EQ(5, array(5).get());
}

TEST(DlpackCopy, RanksFromZeroTo64AreCopied) {
  std::vector<int> host{1};
  std::vector<int> result(1);
  for (std::size_t const rank : {0u, 1u, 5u, 64u}) {
    host[0] = static_cast<int>(rank) + 1;
    roc::copy(tensor(host.data(), cpu, std::vector<std::int64_t>(rank, 1)).dl,
              tensor(result.data(), cpu, std::vector<std::int64_t>(rank, 1)).dl);
    EXPECT_EQ(host, result);
  }
  tensor const too_large(host.data(), cpu, std::vector<std::int64_t>(65, 1));
  EXPECT_THROW(roc::copy(too_large.dl, too_large.dl), roc::shape_error);
  tensor negative_rank(host.data(), cpu, {1});
  negative_rank.dl.ndim = -1;
  EXPECT_THROW(roc::copy(negative_rank.dl, result), roc::shape_error);
}

TEST(DlpackCopy, NegativeStridesAndByteOffsetAreApplied) {
  auto host = numbers(8);
  tensor reversed(host.data(), cpu, {4}, {-2});
  reversed.dl.byte_offset = 7 * sizeof(int);
  std::vector<int> result(4);
  roc::copy(reversed.dl, result);
  EXPECT_EQ((std::vector<int>{7, 5, 3, 1}), result);
}

TEST(DlpackCopy, ElementsOfSeveralLanesAndUnknownToCppAreCopied) {
  auto host = numbers(8);
  std::vector<int> result(8);
  for (DLDataType const type : {DLDataType{kDLFloat, 16, 2}, DLDataType{kDLBfloat, 16, 2},
                                DLDataType{kDLOpaqueHandle, 32, 1}, DLDataType{17, 4, 8}}) {
    std::fill(result.begin(), result.end(), -1);
    roc::copy(tensor(host.data(), cpu, {8}, {}, type).dl,
              tensor(result.data(), cpu, {8}, {}, type).dl);
    EXPECT_EQ(host, result);
  }
}

TEST(DlpackCopy, TensorsAreFilledAndCopiedInBatches) {
  foreign_memory memory(0, 24 * sizeof(int));
  tensor const device(memory.data, on_device(0), {4, 6}, {1, 4});
  auto host = numbers(24);
  tensor const from(host.data(), cpu, {4, 6});
  std::vector<int> result(24);
  tensor const to(result.data(), cpu, {4, 6});
  roc::copy_batch().add(from.dl, device.dl).add(device.dl, to.dl).submit();
  EXPECT_EQ(host, result);
  roc::stream stream;
  roc::fill(device.dl, 7, stream);
  roc::copy_batch().add(device.dl, result).submit(stream);
  stream.synchronize();
  EXPECT_EQ(std::vector<int>(24, 7), result);
  roc::zero(device.dl);
  roc::zero(from.dl, stream);
  roc::copy(device.dl, to.dl, stream);
  stream.synchronize();
  EXPECT_EQ(std::vector<int>(24), result);
  EXPECT_EQ(std::vector<int>(24), host);
  EXPECT_CONTAINS(message([&] { roc::fill(device.dl, 7.0f); }), "fill at dlpack_copy_test.cpp:");
  EXPECT_CONTAINS(
      message([&] { roc::fill(device.dl, 7.0f); }),
      "the value is float32, but the tensor has elements of type int32; pass a value of "
      "the tensor's type");
  tensor const wrong(memory.data, cpu, {24});
  EXPECT_THROW(roc::zero(wrong.dl), roc::dlpack_error);
  EXPECT_THROW(roc::copy_batch().add(host, wrong.dl), roc::dlpack_error);
}

TEST(DlpackCopyErrors, TypesThatDifferOrAreUnknownThrow) {
  auto host = numbers(4);
  std::vector<float> result(4, 1.0f);
  tensor const ints(host.data(), cpu, {4});
  auto const text = message([&] { roc::copy(ints.dl, result); });
  EXPECT_CONTAINS(text, "element types of source and destination differ: int32, float32; ");
  EXPECT_CONTAINS(text, "copy at dlpack_copy_test.cpp:");
  EXPECT_THROW(roc::copy(result, ints.dl), roc::dlpack_error);
  for (DLDataType const type :
       {DLDataType{18, 32, 1}, DLDataType{255, 32, 1}, DLDataType{kDLInt, 0, 1},
        DLDataType{kDLInt, 32, 0}, DLDataType{kDLInt, 7, 1}}) {
    tensor const unknown(host.data(), cpu, {4}, {}, type);
    EXPECT_THROW(roc::copy(unknown.dl, ints.dl), roc::dlpack_error);
    EXPECT_THROW(roc::copy(ints.dl, unknown.dl), roc::dlpack_error);
  }
  EXPECT_EQ(std::vector<float>(4, 1.0f), result);
}

TEST(DlpackCopyErrors, UnknownDeviceThrows) {
  auto host = numbers(4);
  std::vector<int> result(4, 1);
  for (std::int32_t const type : {4, 8, 0, -5, 1000, INT32_MAX}) {
    DLDevice device{};
    std::memcpy(&device.device_type, &type, sizeof type);  // a number that no enumerator has
    tensor const unknown(host.data(), device, {4});
    EXPECT_THROW(roc::copy(unknown.dl, result), roc::dlpack_error) << type;
    EXPECT_THROW(roc::copy(result, unknown.dl), roc::dlpack_error) << type;
  }
  for (int const ordinal : {-1, roc::device::count(), INT32_MAX}) {
    EXPECT_THROW(roc::copy(tensor(host.data(), on_device(ordinal), {4}).dl, result), roc::error);
  }
  EXPECT_EQ(std::vector<int>(4, 1), result);
}

TEST(DlpackCopyErrors, UnknownDeviceOfManagedMemoryThrows) {
  int has_managed_memory = 0;
  ROCARRAY_HIP(hipDeviceGetAttribute, &has_managed_memory, hipDeviceAttributeManagedMemory, 0);
  if (has_managed_memory == 0) GTEST_SKIP() << "no managed memory";
  auto managed = roc::managed_array<int>(4);
  std::vector<int> result(4, 1);
  DLDevice device{};
  std::int32_t const type = 1000;
  std::memcpy(&device.device_type, &type, sizeof type);
  EXPECT_THROW(roc::copy(tensor(managed.data(), device, {4}).dl, result), roc::dlpack_error);
  EXPECT_EQ(std::vector<int>(4, 1), result);
}

TEST(DlpackCopyErrors, DeviceThatIsNotThatOfTheMemoryThrows) {
  if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  foreign_memory memory(1, 64);
  std::vector<int> host(16, 3);
  auto const text = message([&] { roc::copy(tensor(memory.data, on_device(0), {16}).dl, host); });
  EXPECT_CONTAINS(text, "is described as memory of device 0, but it is memory of device 1; ");
  EXPECT_THROW(roc::copy(tensor(memory.data, cpu, {16}).dl, host), roc::dlpack_error);
  EXPECT_THROW(roc::copy(host, tensor(host.data(), on_device(0), {16}).dl), roc::dlpack_error);
  EXPECT_EQ(std::vector<int>(16, 3), host);
}

TEST(DlpackCopy, PinnedMemoryOfOtherCodeIsCopiedByTheEngines) {
  constexpr std::size_t bytes = 1 << 20;
  void* pinned = nullptr;
  ROCARRAY_HIP(hipHostMalloc, &pinned, bytes, hipHostMallocDefault);
  std::memset(pinned, 1, bytes);
  roc::device_array<std::uint8_t> const array(roc::shape<1>{bytes});
  for (DLDeviceType const type : {kDLCPU, roc::dlpack_pinned}) {
    tensor const view(pinned, {type, 0}, {static_cast<std::int64_t>(bytes)}, {}, {kDLUInt, 8, 1});
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(view.dl, array));
    roc::copy(view.dl, array);
    EXPECT_EQ(1, array(-1).get());
  }
  ROCARRAY_HIP(hipHostFree, pinned);
}

// A producer may describe mapped memory as memory of a device. It need not be one registration.
TEST(DlpackCopy, DeviceTensorInSeveralRegistrationsOfOtherCodeIsCopied) {
  constexpr std::size_t half = 1 << 16;
  std::unique_ptr<void, decltype(&std::free)> const memory(std::aligned_alloc(half, 2 * half),
                                                           &std::free);
  auto* const data = static_cast<std::uint8_t*>(memory.get());
  std::memset(data, 7, 2 * half);
  ROCARRAY_HIP(hipHostRegister, data, half, hipHostRegisterMapped);
  ROCARRAY_HIP(hipHostRegister, data + half, half, hipHostRegisterMapped);
  tensor const all(data, on_device(0), {2 * half}, {}, {kDLUInt, 8, 1});
  std::vector<std::uint8_t> result(2 * half);
  roc::copy(all.dl, result);
  EXPECT_EQ(std::vector<std::uint8_t>(2 * half, 7), result);
  roc::device_array<std::uint8_t> const array(roc::shape<1>{2 * half});
  array.fill(9);
  roc::copy(array, all.dl);
  EXPECT_EQ(9, data[0]);
  EXPECT_EQ(9, data[2 * half - 1]);
  ROCARRAY_HIP(hipHostUnregister, data);
  ROCARRAY_HIP(hipHostUnregister, data + half);
}

// Kernels can access pinned memory: a producer may describe it as memory of a device.
TEST(DlpackCopyErrors, OverlapWithPinnedArrayOnADeviceThrows) {
  auto pinned = roc::pinned_array<int>(100);
  tensor const view(pinned.data(), on_device(0), {99});
  EXPECT_THROW(roc::copy(view.dl, std::span(pinned.data() + 1, 99)), roc::overlap_error);
}

TEST(DlpackCopy, PinnedArrayOnADeviceIsTracked) {
  constexpr std::size_t count = 1000;
  roc::device_array<int> const result(roc::shape<1>{count});
  result.zero();
  roc::stream stream;
  {
    auto pinned = roc::pinned_array<int>(count);
    std::fill(pinned.begin(), pinned.end(), 5);
    roc::copy(tensor(pinned.data(), on_device(0), {count}).dl, result, stream);
  }
  EXPECT_TRUE(stream.query());  // the array has waited for the copy
  EXPECT_EQ(5, result(-1).get());
}

TEST(DlpackCopyErrors, ShapesAndStridesAreChecked) {
  auto host = numbers(12);
  std::vector<int> result(12, 1);
  tensor const from(host.data(), cpu, {3, 4});
  EXPECT_THROW(roc::copy(from.dl, tensor(result.data(), cpu, {4, 3}).dl), roc::shape_error);
  EXPECT_THROW(roc::copy(from.dl, tensor(result.data(), cpu, {2, 2, 3}).dl), roc::shape_error);
  EXPECT_THROW(roc::copy(from.dl, std::vector<int>(11)), roc::shape_error);
  EXPECT_THROW(roc::copy(tensor(host.data(), cpu, {-1}).dl, result), roc::shape_error);
  EXPECT_THROW(roc::copy(tensor(host.data(), cpu, {INT64_MAX, 8}).dl, result), roc::shape_error);
  tensor const far(host.data(), cpu, {4}, {INT64_MAX / 4});
  EXPECT_THROW(roc::copy(far.dl, std::vector<int>(4)), roc::layout_error);
  tensor const near(host.data(), cpu, {4}, {INT64_MIN});
  EXPECT_THROW(roc::copy(near.dl, std::vector<int>(4)), roc::layout_error);
  tensor offset(host.data(), cpu, {4});
  offset.dl.byte_offset = UINT64_MAX;
  EXPECT_THROW(roc::copy(offset.dl, std::vector<int>(4)), roc::layout_error);
  tensor no_shape(host.data(), cpu, {4});
  no_shape.dl.shape = nullptr;
  EXPECT_THROW(roc::copy(no_shape.dl, std::vector<int>(4)), roc::shape_error);
  EXPECT_THROW(roc::copy(tensor(nullptr, cpu, {4}).dl, std::vector<int>(4)), roc::lifetime_error);
  EXPECT_NO_THROW(roc::copy(tensor(nullptr, cpu, {4, 0}).dl, tensor(nullptr, cpu, {4, 0}).dl));
  EXPECT_EQ(std::vector<int>(12, 1), result);
}

#if ROCARRAY_DLPACK_VERSIONED
TEST(DlpackCopyErrors, ReadOnlyDestinationAndUnknownVersionThrow) {
  auto host = numbers(4);
  std::vector<int> result(4);
  tensor const description(host.data(), cpu, {4});
  DLManagedTensorVersioned versioned{};
  versioned.dl_tensor = description.dl;
  versioned.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  versioned.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  roc::copy(versioned, result);
  EXPECT_EQ(host, result);
  auto const text = message([&] { roc::copy(result, versioned); });
  EXPECT_CONTAINS(text, "the destination is read-only; ");
  EXPECT_EQ(numbers(4), host);
  std::vector<int> other(4, 7);
  EXPECT_THROW(roc::copy(other, versioned), roc::dlpack_error);
  EXPECT_EQ(numbers(4), host);
  versioned.version.major = DLPACK_MAJOR_VERSION + 1;
  EXPECT_THROW(roc::copy(versioned, other), roc::dlpack_error);
  EXPECT_EQ(std::vector<int>(4, 7), other);
}
#endif

}  // namespace
#else
TEST(DlpackCopy, TensorsAreOperands) {
  GTEST_SKIP()
      << "dlpack/dlpack.h is not installed (Debian, Ubuntu: apt-get install libdlpack-dev)";
}
#endif

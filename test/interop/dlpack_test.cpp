// SPDX-License-Identifier: MIT
// DLPack import and export, with a producer and a consumer that do not use the library.
#include <gtest/gtest.h>

#if __has_include(<dlpack/dlpack.h>)
#include <roc/interop/dlpack.hpp>
#include <roc/roc.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

// A tensor as another library would export it: two rows of three ints in its own device memory. The
// first is at byte 64, and the rows are four elements apart.
struct producer {
  explicit producer(std::atomic<int>& deletions) : deleted(&deletions) {
    ROCARRAY_HIP(hipMalloc, &memory, std::size_t{256});
    tensor.dl_tensor.data = memory;
    tensor.dl_tensor.device = {roc::dlpack_device, 0};
    tensor.dl_tensor.ndim = 2;
    tensor.dl_tensor.dtype = {kDLInt, 32, 1};
    tensor.dl_tensor.shape = shape.data();
    tensor.dl_tensor.strides = strides.data();
    tensor.dl_tensor.byte_offset = 64;
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensor* self) {
      auto* const owner = static_cast<producer*>(self->manager_ctx);
      ++*owner->deleted;
      if (owner->before_free) owner->before_free();
      ROCARRAY_HIP(hipFree, owner->memory);
      delete owner;
    };
  }

  int* first() const { return static_cast<int*>(memory) + 16; }

  std::atomic<int>* deleted;
  std::function<void()> before_free;
  void* memory = nullptr;
  std::array<std::int64_t, 2> shape{2, 3};
  std::array<std::int64_t, 2> strides{4, 1};
  DLManagedTensor tensor{};
};

template <class Call>
std::string message(Call&& call) {
  try {
    call();
  } catch (roc::error const& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool contains(std::string const& text, char const* part) {
  return text.find(part) != std::string::npos;
}

TEST(FromDlpack, ErrorNamesTheCall) {
  auto const text = message(
      [] { static_cast<void>(roc::from_dlpack<int, 2>(static_cast<DLManagedTensor*>(nullptr))); });
  EXPECT_EQ(0u, text.find("from_dlpack at dlpack_test.cpp:")) << text;
  EXPECT_TRUE(contains(text, ": the tensor is null; ")) << text;
}

TEST(ToDlpack, ErrorNamesTheCall) {
  roc::device_array<int> array({4});
  auto const owner = std::move(array);
  auto const text = message([&] { static_cast<void>(roc::to_dlpack(std::move(array))); });
  EXPECT_EQ(0u, text.find("to_dlpack at dlpack_test.cpp:")) << text;
}

TEST(FromDlpack, ArrayOwnsTensor) {
  std::atomic<int> deleted = 0;
  auto* const source = new producer(deleted);
  {
    auto const array = roc::from_dlpack<int, 2>(&source->tensor);
    EXPECT_EQ(source->first(), array.data());
    EXPECT_EQ((roc::strides<2>{4, 1}), array.strides());
    EXPECT_EQ(0, array.device_ordinal());
    array.copy_to_device(std::vector<int>{1, 2, 3, 4, 5, 6});
    EXPECT_EQ(6, array(1, 2).get());
    EXPECT_EQ(0, deleted);
  }
  EXPECT_EQ(1, deleted);
}

TEST(FromDlpack, DeleterRunsAfterWorkOnDevice) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::stream const stream;
  std::vector<int> host(6);
  auto const pins = roc::register_host(host);
  std::atomic<int> deleted = 0;
  int value_at_deletion = -1;
  auto* const source = new producer(deleted);
  source->before_free = [&] { value_at_deletion = host[5]; };
  {
    auto const array = roc::from_dlpack<int, 2>(&source->tensor);
    array.fill(7, stream);
    array.copy_to_host(host, stream);
  }
  EXPECT_EQ(1, deleted);
  EXPECT_EQ(7, value_at_deletion);
}

TEST(FromDlpack, NullStridesMeanCOrder) {
  std::atomic<int> deleted = 0;
  auto* const source = new producer(deleted);
  source->tensor.dl_tensor.strides = nullptr;
  EXPECT_TRUE((roc::from_dlpack<int, 2>(&source->tensor).is_c_contiguous()));
  EXPECT_EQ(1, deleted);
}

TEST(FromDlpack, EmptyTensorIsDeletedAtOnce) {
  std::atomic<int> deleted = 0;
  auto* const source = new producer(deleted);
  source->shape = {0, 3};
  auto const array = roc::from_dlpack<int, 2>(&source->tensor);
  EXPECT_EQ(1, deleted);
  EXPECT_EQ(0u, array.size());
}

TEST(FromDlpack, AcceptsNullDeleter) {
  std::atomic<int> deleted = 0;
  producer source(deleted);
  source.tensor.deleter = nullptr;
  {
    auto const array = roc::from_dlpack<int, 2>(&source.tensor);
    array.copy_to_device(std::vector<int>{1, 2, 3, 4, 5, 6});
  }
  EXPECT_EQ(0, deleted);
  // The memory still belongs to the producer.
  int last = 0;
  roc::device_view<int, 2> const view(source.first(), {2, 3}, roc::strides<2>{4, 1});
  view(1, roc::slice(2, 3)).copy_to_host(roc::host_view(&last, roc::shape<1>{1}));
  EXPECT_EQ(6, last);
  EXPECT_EQ(hipSuccess, ROCARRAY_HIP_CODE(hipFree, source.memory));
}

TEST(FromDlpack, ThrowsForUnsuitableTensorAndLeavesItToCaller) {
  std::atomic<int> deleted = 0;
  auto* const source = new producer(deleted);
  DLTensor& tensor = source->tensor.dl_tensor;
  DLTensor const good = tensor;
  auto const take = [&] { static_cast<void>(roc::from_dlpack<int, 2>(&source->tensor)); };

  EXPECT_THROW(static_cast<void>(roc::from_dlpack<float, 2>(&source->tensor)), roc::dlpack_error);
  EXPECT_TRUE(
      contains(message([&] { static_cast<void>(roc::from_dlpack<float, 2>(&source->tensor)); }),
               "DLPack tensor has elements of type int32, requested float32"));
  tensor.dtype.lanes = 4;
  EXPECT_THROW(take(), roc::dlpack_error);
  tensor = good;
  EXPECT_THROW(static_cast<void>(roc::from_dlpack<int, 3>(&source->tensor)), roc::shape_error);

  tensor.device = {kDLVulkan, 0};
  EXPECT_TRUE(contains(message(take), "DLPack tensor is on a device of type 7, requested memory"))
      << message(take);
  // A type that the header's enumeration does not name, from a newer producer.
  std::int32_t const unknown_type = 1000;
  std::memcpy(&tensor.device.device_type, &unknown_type, sizeof(unknown_type));
  EXPECT_TRUE(contains(message(take), "on a device of type 1000, requested")) << message(take);
  EXPECT_TRUE(contains(message([&] { static_cast<void>(roc::dlpack_host_view<int, 2>(tensor)); }),
                       "on a device of type 1000, requested host memory"));
  tensor = good;
  tensor.dtype = {200, 8, 1};
  EXPECT_TRUE(contains(message(take), "elements of type code 200 with 8 bits, requested int32"))
      << message(take);
  tensor = good;
  tensor.device = {kDLCPU, 0};
  EXPECT_THROW(take(), roc::dlpack_error);
  tensor.device = {roc::dlpack_device, 1000};
  EXPECT_TRUE(contains(message(take), "on device 1000 of")) << message(take);
  tensor.device = {roc::dlpack_device, -1};
  EXPECT_THROW(take(), roc::dlpack_error);
  tensor = good;

  source->strides = {4, -1};  // reversed
  EXPECT_THROW(take(), roc::layout_error);
  source->strides = {0, 1};  // repeated
  EXPECT_THROW(take(), roc::layout_error);
  source->strides = {4, 1};
  source->shape = {-2, 3};
  EXPECT_THROW(take(), roc::shape_error);
  source->shape = {2, 3};
  tensor.byte_offset = 62;
  EXPECT_THROW(take(), roc::layout_error);
  tensor.byte_offset = UINT64_MAX - 63;  // wraps
  EXPECT_TRUE(contains(message(take), "beyond the address space")) << message(take);
  tensor = good;
  tensor.shape = nullptr;
  EXPECT_TRUE(contains(message(take), "DLPack tensor of rank 2 has no extents")) << message(take);
  tensor = good;
  tensor.data = nullptr;
  EXPECT_THROW(take(), roc::lifetime_error);
  std::vector<int> host(64);
  tensor.data = host.data();
  EXPECT_THROW(take(), roc::error);
  tensor = good;

  EXPECT_THROW(static_cast<void>(roc::from_dlpack<int, 2>(static_cast<DLManagedTensor*>(nullptr))),
               roc::lifetime_error);
  EXPECT_EQ(0, deleted);
  source->tensor.deleter(&source->tensor);
}

TEST(DlpackView, BorrowsDeviceTensor) {
  std::atomic<int> deleted = 0;
  auto* const source = new producer(deleted);
  auto const view = roc::dlpack_view<int, 2>(source->tensor.dl_tensor);
  view.fill(5);
  source->strides = {4, -1};
  source->tensor.dl_tensor.byte_offset += 8;
  auto const reversed = roc::dlpack_view<int const, 2>(source->tensor.dl_tensor);
  EXPECT_EQ(5, reversed(1, 2).get());
  EXPECT_EQ(source->first() + 2, reversed.data());
  EXPECT_THROW(static_cast<void>(roc::dlpack_host_view<int, 2>(source->tensor.dl_tensor)),
               roc::dlpack_error);
  source->tensor.deleter(&source->tensor);
}

TEST(DlpackHostView, BorrowsHostTensor) {
  std::vector<double> numbers{1, 2, 3, 4};
  std::int64_t shape[2] = {2, 2};
  DLTensor tensor{};
  tensor.data = numbers.data();
  tensor.device = {kDLCPU, 0};
  tensor.ndim = 2;
  tensor.dtype = {kDLFloat, 64, 1};
  tensor.shape = shape;
  auto const view = roc::dlpack_host_view<double, 2>(tensor);
  auto const array = roc::to_device(view);
  EXPECT_EQ(3.0, array(1, 0).get());
  EXPECT_THROW(static_cast<void>(roc::dlpack_view<double, 2>(tensor)), roc::dlpack_error);
}

TEST(ToDlpack, TensorOwnsArray) {
  auto array = roc::device_array<float, 2>({4, 6}, roc::order::f);
  array.fill(3);
  auto* const data = array.data();
  DLManagedTensor* const tensor = roc::to_dlpack(std::move(array));
  EXPECT_THROW(array.data(), roc::lifetime_error);
  DLTensor const& shown = tensor->dl_tensor;
  EXPECT_EQ(data, shown.data);
  EXPECT_EQ(roc::dlpack_device, shown.device.device_type);
  EXPECT_EQ(0, shown.device.device_id);
  EXPECT_EQ(kDLFloat, shown.dtype.code);
  EXPECT_EQ(32, shown.dtype.bits);
  EXPECT_EQ(1, shown.dtype.lanes);
  ASSERT_EQ(2, shown.ndim);
  EXPECT_EQ(6, shown.shape[1]);
  EXPECT_EQ(4, shown.strides[1]);
  EXPECT_EQ(0u, shown.byte_offset);
  // Importing the tensor yields the same memory, which is freed once.
  auto const back = roc::from_dlpack<float, 2>(tensor);
  EXPECT_EQ(data, back.data());
  EXPECT_EQ(3.0f, back(3, 5).get());
}

TEST(ToDlpack, BlocksUntilWorkIsDoneWithoutStream) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::stream const stream;
  auto array = roc::device_array<int>({1000}, roc::order::c, stream);
  array.fill(1, stream);
  DLManagedTensor* const tensor = roc::to_dlpack(std::move(array));
  EXPECT_TRUE(stream.query());
  tensor->deleter(tensor);
}

TEST(ToDlpack, OrdersConsumerAfterWorkWithStream) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::stream const producing(roc::non_blocking);
  roc::stream const consuming(roc::non_blocking);
  std::vector<int> host(1000);
  auto const pins = roc::register_host(host);
  roc::test::gate gate;
  auto array = roc::device_array<int>({1000}, roc::order::c, producing);
  gate.close(producing);
  array.fill(9, producing);
  DLManagedTensor* const tensor = roc::to_dlpack(std::move(array), consuming);
  // A consumer that calls HIP directly.
  ROCARRAY_HIP(hipMemcpyAsync, host.data(), tensor->dl_tensor.data, sizeof(int) * 1000,
               hipMemcpyDeviceToHost, roc::native(consuming));
  EXPECT_FALSE(consuming.query());
  gate.open();
  consuming.synchronize();
  EXPECT_EQ(9, host[999]);
  tensor->deleter(tensor);
}

// Opens a gate after a while, in another thread.
std::thread open_later(roc::test::gate& gate) {
  return std::thread([&gate] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
}

// Expects that memory which `make_tensor(array, consumer)` has exported is not reused before the
// consumer's work that was enqueued until the deleter was called. The library learns of the work of
// a stream that it did not create only when it records an event.
template <class F>
void expect_reuse_after_foreign_consumer(F make_tensor) {
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  auto const consumer = roc::from_native(native);
  auto seen = roc::pinned_array<int>(1000);
  auto array = roc::device_array<int>({1000});
  array.fill(7);
  void* const data = array.data();
  auto* const tensor = make_tensor(std::move(array), consumer);
  roc::device().synchronize();  // the event that was recorded by the export is reached
  roc::test::gate gate;
  gate.close(consumer);
  ROCARRAY_HIP(hipMemcpyAsync, seen.data(), data, sizeof(int) * 1000, hipMemcpyDeviceToHost,
               native);
  tensor->deleter(tensor);
  auto const next = roc::device_array<int>({1000});
  next.fill(0, roc::stream_ref());
  std::thread opener = open_later(gate);
  roc::stream_ref().synchronize();
  opener.join();
  consumer.synchronize();
  EXPECT_EQ(std::vector<int>(1000, 7), std::vector<int>(seen.begin(), seen.end()));
  roc::device().synchronize();
  ROCARRAY_HIP(hipStreamDestroy, native);
}

TEST(ToDlpack, MemoryIsReusedAfterTheWorkOfAForeignConsumer) {
  expect_reuse_after_foreign_consumer([](auto array, roc::stream_ref consumer) {
    return roc::to_dlpack(std::move(array), consumer);
  });
#if ROCARRAY_DLPACK_VERSIONED
  expect_reuse_after_foreign_consumer([](auto array, roc::stream_ref consumer) {
    return roc::to_dlpack_versioned(std::move(array), consumer);
  });
#endif
}

TEST(ToDlpack, MemoryIsFreedAlthoughTheConsumersStreamHasEnded) {
  roc::pool_resource pool(roc::device_resource(0));
  DLManagedTensor* tensor = nullptr;
  {
    roc::stream const consumer;
    tensor = roc::to_dlpack(roc::device_array<int>({1000}, pool), consumer);
  }
  EXPECT_NE(0u, pool.statistics().current_bytes);
  tensor->deleter(tensor);
  EXPECT_EQ(0u, pool.statistics().current_bytes);
}

TEST(ToDlpack, OrdersConsumerAfterThePerThreadStreamOfAnotherThread) {
  roc::stream const consuming(roc::non_blocking);
  auto seen = roc::pinned_array<int>(1000);
  roc::hip_memory_resource direct;  // its memory has not been used before
  roc::device_array<int> array;
  roc::test::gate gate;
  std::thread([&] {
    auto const producing = roc::per_thread_stream();
    array = roc::device_array<int>({1000}, direct, roc::order::c, producing);
    array.fill(0, producing);
    producing.synchronize();
    gate.close(producing);
    array.fill(9, producing);
  }).join();
  DLManagedTensor* const tensor = roc::to_dlpack(std::move(array), consuming);
  ROCARRAY_HIP(hipMemcpyAsync, seen.data(), tensor->dl_tensor.data, sizeof(int) * 1000,
               hipMemcpyDeviceToHost, roc::native(consuming));
  std::thread opener = open_later(gate);
  consuming.synchronize();
  opener.join();
  EXPECT_EQ(std::vector<int>(1000, 9), std::vector<int>(seen.begin(), seen.end()));
  tensor->deleter(tensor);
}

TEST(ToDlpack, AcceptsHostMemoryAndOtherTypes) {
  auto pinned = roc::pinned_array<std::complex<float>>(roc::shape<1>{3});
  DLManagedTensor* tensor = roc::to_dlpack(std::move(pinned));
  EXPECT_EQ(roc::dlpack_pinned, tensor->dl_tensor.device.device_type);
  EXPECT_EQ(kDLComplex, tensor->dl_tensor.dtype.code);
  EXPECT_EQ(64, tensor->dl_tensor.dtype.bits);
  tensor->deleter(tensor);
  tensor = roc::to_dlpack(roc::host_array<bool, 0>(roc::shape<0>{}));
  EXPECT_EQ(kDLCPU, tensor->dl_tensor.device.device_type);
  EXPECT_EQ(6, tensor->dl_tensor.dtype.code);
  EXPECT_EQ(0, tensor->dl_tensor.ndim);
  EXPECT_FALSE((roc::dlpack_host_view<bool, 0>(tensor->dl_tensor).data() == nullptr));
  tensor->deleter(tensor);
}

TEST(ToDlpack, ThrowsForDefaultConstructedArray) {
  roc::device_array<int> empty;
  EXPECT_THROW(static_cast<void>(roc::to_dlpack(std::move(empty))), roc::lifetime_error);
  roc::host_array<int> none;
  EXPECT_THROW(static_cast<void>(roc::to_dlpack(std::move(none))), roc::lifetime_error);
}

TEST(DlpackTensor, BorrowsView) {
  auto const array = roc::device_array<std::uint8_t, 2>({4, 6});
  auto const part = array(roc::slice(roc::none, roc::none, -1), roc::slice(1, 4));
  roc::dlpack_tensor tensor(part);
  EXPECT_EQ(part.data(), (*tensor).data);
  EXPECT_EQ(-6, tensor.get()->strides[0]);
  EXPECT_EQ(kDLUInt, tensor.get()->dtype.code);
  EXPECT_EQ(part.strides(), (roc::dlpack_view<std::uint8_t, 2>(*tensor).strides()));
  static_assert(!std::is_constructible_v<roc::dlpack_tensor<1>, roc::device_view<int const, 1>>);
  std::vector<int> numbers(3);
  roc::dlpack_tensor host(roc::host_view<int>{numbers});
  EXPECT_EQ(kDLCPU, host.get()->device.device_type);
}

TEST(DlpackStream, IsTheNumberUsedByPython) {
  roc::stream const stream;
  EXPECT_EQ(reinterpret_cast<std::intptr_t>(stream.handle()), roc::dlpack_stream(stream));
#if ROCARRAY_PLATFORM_NVIDIA
  EXPECT_EQ(1, roc::dlpack_stream({}));
#else
  EXPECT_EQ(0, roc::dlpack_stream({}));
#endif
}

#if ROCARRAY_DLPACK_VERSIONED
TEST(DlpackVersioned, ReadOnlyTensorNeedsConstElements) {
  auto array = roc::device_array<int>({8});
  array.fill(4);
  DLManagedTensorVersioned* const tensor = roc::to_dlpack_versioned(std::move(array), true);
  EXPECT_NE(0u, tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY);
  EXPECT_THROW(static_cast<void>(roc::dlpack_view<int, 1>(*tensor)), roc::dlpack_error);
  EXPECT_THROW(static_cast<void>(roc::from_dlpack<int, 1>(tensor)), roc::dlpack_error);
  EXPECT_EQ(4, (roc::dlpack_view<int const, 1>(*tensor)(7).get()));
  tensor->deleter(tensor);
}

TEST(DlpackVersioned, RoundTripKeepsSizeAndOtherMajorVersionThrows) {
  roc::stream const stream;
  auto* tensor = roc::to_dlpack_versioned(roc::device_array<int>({8}), stream);
  EXPECT_EQ(DLPACK_MAJOR_VERSION, tensor->version.major);
  tensor->version.major += 1;
  EXPECT_THROW(static_cast<void>(roc::from_dlpack<int, 1>(tensor)), roc::dlpack_error);
  tensor->version.major -= 1;
  EXPECT_EQ(8u, (roc::from_dlpack<int, 1>(tensor).size()));
  tensor = roc::to_dlpack_versioned(roc::host_array<int>(roc::shape<1>{2}));
  EXPECT_EQ(2u, (roc::dlpack_host_view<int, 1>(*tensor).size()));
  tensor->deleter(tensor);
}
#endif

}  // namespace
#else
TEST(Dlpack, TensorsAreImportedAndExported) {
  GTEST_SKIP()
      << "dlpack/dlpack.h is not installed (Debian, Ubuntu: apt-get install libdlpack-dev)";
}
#endif

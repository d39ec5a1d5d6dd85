// SPDX-License-Identifier: MIT
// The semantics and the errors of the C interface.
#include <gtest/gtest.h>

#include <roc/c.h>
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

constexpr roc_element_type int32_type{ROCARRAY_TYPE_INT, 32, 1};

// A tensor that owns its description.
class tensor {
 public:
  tensor(void* data, std::int32_t device_type, std::vector<std::int64_t> shape,
         roc_element_type type = int32_type)
      : shape_(std::move(shape)) {
    value.data = data;
    value.device = {device_type, 0};
    value.ndim = static_cast<std::int32_t>(shape_.size());
    value.dtype = type;
    value.shape = shape_.data();
  }
  tensor(tensor const&) = delete;
  tensor& operator=(tensor const&) = delete;

  tensor& with_strides(std::vector<std::int64_t> strides) {
    strides_ = std::move(strides);
    value.strides = strides_.data();
    return *this;
  }

  roc_tensor const* get() const { return &value; }

  roc_tensor value{};

 private:
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> strides_;
};

// Device memory that is freed at the end of the scope.
class device_memory {
 public:
  explicit device_memory(std::size_t bytes, roc_resource resource = ROCARRAY_DEFAULT_RESOURCE,
                         roc_stream stream = ROCARRAY_DEFAULT_STREAM) {
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_allocate(resource, bytes, stream, &data_))
        << roc_last_error_message();
  }
  ~device_memory() {
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_free(data_, ROCARRAY_DEFAULT_STREAM))
        << roc_last_error_message();
  }
  device_memory(device_memory const&) = delete;
  device_memory& operator=(device_memory const&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

class stream {
 public:
  explicit stream(std::int32_t kind = ROCARRAY_STREAM_BLOCKING) {
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_stream_create(kind, 0, &handle_)) << roc_last_error_message();
  }
  ~stream() { EXPECT_EQ(ROCARRAY_SUCCESS, roc_stream_destroy(handle_)); }
  stream(stream const&) = delete;
  stream& operator=(stream const&) = delete;

  operator roc_stream() const { return handle_; }  // NOLINT: implicit
  // For what the C interface has no function for.
  roc::stream_ref reference() const {
    void* native = nullptr;
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_stream_native(handle_, &native));
    return roc::from_native(static_cast<hipStream_t>(native));
  }

 private:
  roc_stream handle_ = nullptr;
};

bool last_message_has(char const* part) {
  return std::string(roc_last_error_message()).find(part) != std::string::npos;
}

// Compares the status, and shows the message if it differs.
#define EXPECT_STATUS(expected, call) \
  EXPECT_STREQ(roc_status_name(expected), roc_status_name(call)) << roc_last_error_message()
#define EXPECT_OK(call) EXPECT_STATUS(ROCARRAY_SUCCESS, call)

std::vector<int> numbers(std::size_t count) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), 1);
  return result;
}

// Copies

TEST(CCopy, RoundTripWithoutStreamIsCompleteOnReturn) {
  std::size_t const count = roc::test::scaled(300'000);
  auto source = numbers(count);
  std::vector<int> result(count);
  device_memory const memory(count * sizeof(int));
  auto const extent = static_cast<std::int64_t>(count);
  tensor const from(source.data(), ROCARRAY_DEVICE_CPU, {extent});
  tensor const device(memory.data(), roc_device_type(), {extent});
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {extent});
  EXPECT_OK(roc_copy(from.get(), device.get(), nullptr));
  EXPECT_OK(roc_copy(device.get(), to.get(), nullptr));
  EXPECT_EQ(source, result);
}

TEST(CCopy, LayoutsMayDifferAndGapsAreKept) {
  auto source = numbers(24);
  std::vector<int> result(64, -1);
  device_memory const memory(64 * sizeof(int));
  tensor const from(source.data(), ROCARRAY_DEVICE_CPU, {2, 3, 4});
  tensor device(memory.data(), roc_device_type(), {2, 3, 4});
  device.with_strides({1, 2, 8});
  tensor to(result.data(), ROCARRAY_DEVICE_CPU, {2, 3, 4});
  to.with_strides({30, 8, 2});
  EXPECT_OK(roc_copy(from.get(), device.get(), nullptr));
  EXPECT_OK(roc_copy(device.get(), to.get(), nullptr));
  std::vector<int> expected(64, -1);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 4; ++k)
        expected[i * 30 + j * 8 + k * 2] = source[(i * 3 + j) * 4 + k];
    }
  }
  EXPECT_EQ(expected, result);
}

TEST(CCopy, NegativeStridesAndByteOffsetReverse) {
  auto source = numbers(6);
  std::vector<int> result(6);
  tensor from(source.data(), ROCARRAY_DEVICE_CPU, {6});
  from.with_strides({-1}).value.byte_offset = 5 * sizeof(int);
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {6});
  EXPECT_OK(roc_copy(from.get(), to.get(), nullptr));
  EXPECT_EQ((std::vector<int>{6, 5, 4, 3, 2, 1}), result);
}

TEST(CCopy, StrideOfAnAxisWithOneElementIsIgnored) {
  auto source = numbers(3);
  std::vector<int> result(3);
  tensor from(source.data(), ROCARRAY_DEVICE_CPU, {1, 3});
  from.with_strides({INT64_MIN, 1});
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {1, 3});
  EXPECT_OK(roc_copy(from.get(), to.get(), nullptr));
  EXPECT_EQ(source, result);
}

TEST(CCopy, ContiguousHostRangeMatchesAnyRank) {
  auto source = numbers(12);
  std::vector<int> result(12);
  device_memory const memory(12 * sizeof(int));
  tensor const flat(source.data(), ROCARRAY_DEVICE_CPU, {12});
  tensor const matrix(memory.data(), roc_device_type(), {3, 4});
  tensor const back(result.data(), ROCARRAY_DEVICE_CPU, {12});
  EXPECT_OK(roc_copy(flat.get(), matrix.get(), nullptr));
  EXPECT_OK(roc_copy(matrix.get(), back.get(), nullptr));
  EXPECT_EQ(source, result);
  tensor const shorter(source.data(), ROCARRAY_DEVICE_CPU, {11});
  EXPECT_STATUS(ROCARRAY_ERROR_SHAPE, roc_copy(shorter.get(), matrix.get(), nullptr));
  tensor strided(source.data(), ROCARRAY_DEVICE_CPU, {6});
  strided.with_strides({2});
  tensor const small_matrix(memory.data(), roc_device_type(), {2, 3});
  EXPECT_STATUS(ROCARRAY_ERROR_SHAPE, roc_copy(strided.get(), small_matrix.get(), nullptr));
  tensor const flat_device(memory.data(), roc_device_type(), {12});
  tensor const host_matrix(result.data(), ROCARRAY_DEVICE_CPU, {3, 4});
  EXPECT_STATUS(ROCARRAY_ERROR_SHAPE, roc_copy(flat_device.get(), host_matrix.get(), nullptr));
}

TEST(CCopy, RankZeroIsOneElement) {
  int const source = 7;
  int result = 0;
  tensor const from(const_cast<int*>(&source), ROCARRAY_DEVICE_CPU, {});
  tensor to(&result, ROCARRAY_DEVICE_CPU, {});
  to.value.shape = nullptr;
  EXPECT_OK(roc_copy(from.get(), to.get(), nullptr));
  EXPECT_EQ(7, result);
}

TEST(CCopy, WithoutElementsDoesNothing) {
  constexpr std::int64_t large = INT64_MAX;
  tensor from(nullptr, ROCARRAY_DEVICE_CPU, {large, 0, large});
  from.with_strides({large, large, large});
  tensor const to(nullptr, roc_device_type(), {large, 0, large});
  EXPECT_OK(roc_copy(from.get(), to.get(), nullptr));
  EXPECT_OK(roc_zero(to.get()));
  tensor const other(nullptr, ROCARRAY_DEVICE_CPU, {0, large, large});
  EXPECT_STATUS(ROCARRAY_ERROR_SHAPE, roc_copy(from.get(), other.get(), nullptr));
}

TEST(CCopy, ElementsMayHaveLanesThatFillBytes) {
  std::array<unsigned char, 6> source{1, 2, 3, 4, 5, 6};
  std::array<unsigned char, 6> result{};
  for (roc_element_type const type :
       {roc_element_type{ROCARRAY_TYPE_UINT, 8, 3}, {ROCARRAY_TYPE_OPAQUE, 24, 1}, {17, 4, 6}}) {
    result = {};
    tensor const from(source.data(), ROCARRAY_DEVICE_CPU, {2}, type);
    tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {2}, type);
    EXPECT_OK(roc_copy(from.get(), to.get(), nullptr));
    EXPECT_EQ(source, result);
  }
}

TEST(CCopy, RankMayBeTheLargest) {
  auto source = numbers(4);
  std::vector<int> result(4);
  std::vector<std::int64_t> shape(ROCARRAY_MAX_RANK, 1);
  shape[10] = 2;
  shape[60] = 2;
  tensor const from(source.data(), ROCARRAY_DEVICE_CPU, shape);
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, shape);
  EXPECT_OK(roc_copy(from.get(), to.get(), nullptr));
  EXPECT_EQ(source, result);
}

TEST(CCopy, OnStreamReadsPageableSourceBeforeReturn) {
  auto source = numbers(1000);
  auto const expected = source;
  std::vector<int> result(1000);
  device_memory const memory(4000);
  stream const s;
  tensor const from(source.data(), ROCARRAY_DEVICE_CPU, {1000});
  tensor const device(memory.data(), roc_device_type(), {1000});
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {1000});
  EXPECT_OK(roc_copy_async(from.get(), device.get(), s, nullptr));
  std::fill(source.begin(), source.end(), 0);
  EXPECT_OK(roc_copy_async(device.get(), to.get(), s, nullptr));
  EXPECT_OK(roc_stream_synchronize(s));
  EXPECT_EQ(expected, result);
}

TEST(CCopy, BorrowedSourceIsReadInStreamOrder) {
  auto source = numbers(1000);
  std::vector<int> result(1000);
  device_memory const memory(4000);
  stream const s;
  roc::test::gate gate;
  gate.close(s.reference());
  tensor const from(source.data(), ROCARRAY_DEVICE_CPU, {1000});
  tensor const device(memory.data(), roc_device_type(), {1000});
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {1000});
  roc_copy_options options{};
  options.borrow_source = 1;
  EXPECT_OK(roc_copy_async(from.get(), device.get(), s, &options));
  source[0] = 99;  // shows when the source is read; a program must not change it
  gate.open();
  EXPECT_OK(roc_stream_synchronize(s));
  EXPECT_OK(roc_copy(device.get(), to.get(), &options));
  EXPECT_EQ(source, result);
}

TEST(CCopy, PathOfOptionsIsRequired) {
  auto source = numbers(100);
  std::vector<int> result(100, -1);
  device_memory const memory(400);
  tensor const from(source.data(), ROCARRAY_DEVICE_CPU, {100});
  tensor const device(memory.data(), roc_device_type(), {100});
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {100});
  roc_copy_options options{};
  options.path = ROCARRAY_PATH_STAGED;
  EXPECT_OK(roc_copy(from.get(), device.get(), &options));
  options.path = ROCARRAY_PATH_KERNEL;
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_copy(device.get(), to.get(), &options));
  EXPECT_EQ(std::vector<int>(100, -1), result);
  for (roc_copy_options const invalid :
       {roc_copy_options{8, 0, 0}, {-1, 0, 0}, {0, 257, 0}, {0, -1, 0}, {INT32_MIN, 0, 0}}) {
    EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_copy(device.get(), to.get(), &invalid));
    EXPECT_EQ(-1, result[0]);
  }
  options = {ROCARRAY_PATH_FASTEST, 2, 0};
  EXPECT_OK(roc_copy(device.get(), to.get(), &options));
  EXPECT_EQ(source, result);
}

TEST(CCopy, OverlapAndAliasedDestinationAreErrors) {
  auto memory = numbers(20);
  auto const before = memory;
  tensor const first(memory.data(), ROCARRAY_DEVICE_CPU, {10});
  tensor const second(memory.data() + 9, ROCARRAY_DEVICE_CPU, {10});
  EXPECT_STATUS(ROCARRAY_ERROR_OVERLAP, roc_copy(first.get(), second.get(), nullptr));
  tensor aliased(memory.data() + 10, ROCARRAY_DEVICE_CPU, {10});
  aliased.with_strides({0});
  EXPECT_STATUS(ROCARRAY_ERROR_LAYOUT, roc_copy(first.get(), aliased.get(), nullptr));
  EXPECT_EQ(before, memory);
}

// Tensors that cannot be used

struct bad_tensor {
  char const* name;
  roc_status expected;
  char const* text;  // of the message, after the name of the function and the parameter
  void (*change)(roc_tensor& tensor);
};

std::int64_t const negative_extent[] = {4, -1};
std::int64_t const overflowing_shape[] = {INT64_C(1) << 40, INT64_C(1) << 40};
std::int64_t const largest_extents[] = {INT64_MAX, INT64_MAX};
std::int64_t const overflowing_strides[] = {INT64_MAX, 1};
std::int64_t const lowest_strides[] = {INT64_MIN, 1};
std::int64_t const strides_below_zero[] = {-(INT64_C(1) << 50), 1};
std::int64_t const ones[200] = {};

bad_tensor const bad_tensors[] = {
    {"UnknownCode", ROCARRAY_ERROR_INVALID_ARGUMENT,
     "has elements of an unknown type: code 18 with 32 bits; use a type of DLPack 1.1",
     [](roc_tensor& t) { t.dtype.code = 18; }},
    {"LargestCode", ROCARRAY_ERROR_INVALID_ARGUMENT,
     "has elements of an unknown type: code 255 with 32 bits; use a type of DLPack 1.1",
     [](roc_tensor& t) { t.dtype.code = 255; }},
    {"ZeroBits", ROCARRAY_ERROR_INVALID_ARGUMENT,
     "has elements of 0 bits x 1 lanes; use a whole number of bytes",
     [](roc_tensor& t) { t.dtype.bits = 0; }},
    {"ZeroLanes", ROCARRAY_ERROR_INVALID_ARGUMENT,
     "has elements of 32 bits x 0 lanes; use a whole number of bytes",
     [](roc_tensor& t) { t.dtype.lanes = 0; }},
    {"HalfAByte", ROCARRAY_ERROR_INVALID_ARGUMENT,
     "has elements of 4 bits x 1 lanes; use a whole number of bytes",
     [](roc_tensor& t) { t.dtype.bits = 4; }},
    {"LanesWithoutWholeBytes", ROCARRAY_ERROR_INVALID_ARGUMENT,
     "has elements of 4 bits x 3 lanes; use a whole number of bytes",
     [](roc_tensor& t) { t.dtype = {ROCARRAY_TYPE_INT, 4, 3}; }},
    {"DeviceTypeZero", ROCARRAY_ERROR_INVALID_ARGUMENT,
     "is in memory of device type 0; use 1 for host memory, or ",
     [](roc_tensor& t) { t.device.device_type = 0; }},
    {"DeviceTypeOfOpenCl", ROCARRAY_ERROR_INVALID_ARGUMENT,
     "is in memory of device type 4; use 1 for host memory, or ",
     [](roc_tensor& t) { t.device.device_type = 4; }},
    {"DeviceTypeWithoutAName", ROCARRAY_ERROR_INVALID_ARGUMENT,
     "is in memory of device type 2147483647; use 1 for host memory, or ",
     [](roc_tensor& t) { t.device.device_type = INT32_MAX; }},
    {"NegativeDeviceType", ROCARRAY_ERROR_INVALID_ARGUMENT,
     "is in memory of device type -2147483648; use 1 for host memory, or ",
     [](roc_tensor& t) { t.device.device_type = INT32_MIN; }},
    {"NegativeDevice", ROCARRAY_ERROR_NO_DEVICE, "is on device -1, which does not exist; use ",
     [](roc_tensor& t) { t.device = {roc_device_type(), -1}; }},
    {"DeviceThatDoesNotExist", ROCARRAY_ERROR_NO_DEVICE,
     "is on device 1000, which does not exist; use ",
     [](roc_tensor& t) { t.device = {roc_device_type(), 1000}; }},
    {"NegativeRank", ROCARRAY_ERROR_SHAPE, "has rank -1; use a rank from 0 to 64",
     [](roc_tensor& t) { t.ndim = -1; }},
    {"LowestRank", ROCARRAY_ERROR_SHAPE, "has rank -2147483648; use a rank from 0 to 64",
     [](roc_tensor& t) { t.ndim = INT32_MIN; }},
    {"RankAboveTheLargest", ROCARRAY_ERROR_SHAPE, "has rank 65; use a rank from 0 to 64",
     [](roc_tensor& t) {
       t.ndim = ROCARRAY_MAX_RANK + 1;
       t.shape = ones;
     }},
    {"LargestRank", ROCARRAY_ERROR_SHAPE, "has rank 2147483647; use a rank from 0 to 64",
     [](roc_tensor& t) { t.ndim = INT32_MAX; }},
    {"NullShape", ROCARRAY_ERROR_SHAPE, "of rank 2 has no extents; set its shape",
     [](roc_tensor& t) { t.shape = nullptr; }},
    {"NegativeExtent", ROCARRAY_ERROR_SHAPE, "has a negative extent: -1 in axis 1; use 0 or more",
     [](roc_tensor& t) { t.shape = negative_extent; }},
    {"OverflowingExtents", ROCARRAY_ERROR_SHAPE,
     "is larger than the address space: shape (1099511627776, 1099511627776) of elements of 4 "
     "bytes; use ",
     [](roc_tensor& t) { t.shape = overflowing_shape; }},
    {"LargestExtents", ROCARRAY_ERROR_SHAPE,
     "is larger than the address space: shape (9223372036854775807, 9223372036854775807) of "
     "elements of 4 bytes; use ",
     [](roc_tensor& t) { t.shape = largest_extents; }},
    {"OverflowingStride", ROCARRAY_ERROR_LAYOUT,
     "has elements outside the address space: shape (4, 2), strides (9223372036854775807, 1) of "
     "elements of 4 bytes; use ",
     [](roc_tensor& t) { t.strides = overflowing_strides; }},
    {"LowestStride", ROCARRAY_ERROR_LAYOUT,
     "has elements outside the address space: shape (4, 2), strides (-9223372036854775808, 1) of "
     "elements of 4 bytes; use ",
     [](roc_tensor& t) { t.strides = lowest_strides; }},
    {"StrideBelowAddressZero", ROCARRAY_ERROR_LAYOUT,
     "has elements outside the address space: shape (4, 2), strides (-1125899906842624, 1) of "
     "elements of 4 bytes; use ",
     [](roc_tensor& t) { t.strides = strides_below_zero; }},
    {"OverflowingByteOffset", ROCARRAY_ERROR_LAYOUT,
     "has elements outside the address space: byte offset 18446744073709551615; use ",
     [](roc_tensor& t) { t.byte_offset = UINT64_MAX; }},
    {"NullData", ROCARRAY_ERROR_LIFETIME, "is null, but has elements: shape (4, 2); use ",
     [](roc_tensor& t) { t.data = nullptr; }},
};

// Calls a function that refuses a tensor, and compares the beginning of the message.
#define EXPECT_REFUSAL(bad, parameter, function, ...)                              \
  EXPECT_STATUS((bad).expected, function(__VA_ARGS__));                            \
  EXPECT_EQ(0u, std::string(roc_last_error_message())                              \
                    .find(std::string(#function ": " parameter " ") + (bad).text)) \
      << roc_last_error_message()

// Every function that takes a tensor refuses it, and touches nothing.
void check_bad_tensor(bad_tensor const& bad) {
  std::vector<int> source(8, 1);
  std::vector<int> destination(8, 2);
  int const value = 3;
  tensor const good_source(source.data(), ROCARRAY_DEVICE_CPU, {4, 2});
  tensor const good_destination(destination.data(), ROCARRAY_DEVICE_CPU, {4, 2});
  tensor bad_source(source.data(), ROCARRAY_DEVICE_CPU, {4, 2});
  tensor bad_destination(destination.data(), ROCARRAY_DEVICE_CPU, {4, 2});
  bad.change(bad_source.value);
  bad.change(bad_destination.value);
  roc_tensor const* const from = bad_source.get();
  roc_tensor const* const to = bad_destination.get();
  stream const s;
  roc_batch batch = nullptr;
  EXPECT_OK(roc_batch_create(&batch));
  EXPECT_REFUSAL(bad, "from", roc_copy, from, good_destination.get(), nullptr);
  EXPECT_REFUSAL(bad, "to", roc_copy, good_source.get(), to, nullptr);
  EXPECT_REFUSAL(bad, "from", roc_copy_async, from, good_destination.get(), s, nullptr);
  EXPECT_REFUSAL(bad, "to", roc_copy_async, good_source.get(), to, s, nullptr);
  EXPECT_REFUSAL(bad, "from", roc_batch_add, batch, from, good_destination.get());
  EXPECT_REFUSAL(bad, "to", roc_batch_add, batch, good_source.get(), to);
  EXPECT_REFUSAL(bad, "to", roc_fill, to, &value, sizeof value);
  EXPECT_REFUSAL(bad, "to", roc_fill_async, to, &value, sizeof value, s);
  EXPECT_REFUSAL(bad, "to", roc_zero, to);
  EXPECT_REFUSAL(bad, "to", roc_zero_async, to, s);
  EXPECT_OK(roc_batch_submit(batch, nullptr));
  EXPECT_OK(roc_batch_destroy(batch));
  EXPECT_OK(roc_stream_synchronize(s));
  EXPECT_EQ(std::vector<int>(8, 1), source);
  EXPECT_EQ(std::vector<int>(8, 2), destination);
}

TEST(CBadTensor, IsAnErrorAndNothingIsTouched) {
  for (bad_tensor const& bad : bad_tensors) {
    SCOPED_TRACE(bad.name);
    check_bad_tensor(bad);
  }
}

TEST(CCopy, NullTensorsAndDifferentTypesAreErrors) {
  int source = 1;
  int destination = 2;
  tensor const from(&source, ROCARRAY_DEVICE_CPU, {1});
  tensor to(&destination, ROCARRAY_DEVICE_CPU, {1});
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_copy(nullptr, to.get(), nullptr));
  EXPECT_STREQ("roc_copy: from is null; pass a tensor", roc_last_error_message());
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_copy(from.get(), nullptr, nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_zero(nullptr));
  to.value.dtype = {ROCARRAY_TYPE_UINT, 32, 1};
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_copy(from.get(), to.get(), nullptr));
  EXPECT_TRUE(last_message_has("int32, uint32")) << roc_last_error_message();
  to.value.dtype = {ROCARRAY_TYPE_INT, 16, 2};
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_copy(from.get(), to.get(), nullptr));
  EXPECT_TRUE(last_message_has("int32, int16 x 2")) << roc_last_error_message();
  EXPECT_EQ(2, destination);
}

// Memory of the library, which its pool keeps, and of HIP.
TEST(CCopy, FreedMemoryIsAnErrorAndTheHostIsNotTouched) {
  constexpr std::size_t bytes = 400;
  std::vector<int> const source(bytes / sizeof(int), 1);
  std::vector<int> destination(source.size(), 2);
  auto const count = static_cast<std::int64_t>(source.size());
  void* of_library = nullptr;
  EXPECT_OK(roc_allocate(ROCARRAY_DEFAULT_RESOURCE, bytes, ROCARRAY_DEFAULT_STREAM, &of_library));
  EXPECT_OK(roc_free(of_library, ROCARRAY_DEFAULT_STREAM));
  void* of_hip = nullptr;
  ROCARRAY_HIP(hipMalloc, &of_hip, bytes);
  ROCARRAY_HIP(hipFree, of_hip);
  stream const s;
  for (void* const freed : {of_library, of_hip}) {
    tensor const device(freed, roc_device_type(), {count});
    tensor const from(const_cast<int*>(source.data()), ROCARRAY_DEVICE_CPU, {count});
    tensor const to(destination.data(), ROCARRAY_DEVICE_CPU, {count});
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_copy(from.get(), device.get(), nullptr));
    std::ostringstream address;
    address << freed;
    EXPECT_TRUE(last_message_has(address.str().c_str())) << roc_last_error_message();
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_copy(device.get(), to.get(), nullptr));
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_copy_async(device.get(), to.get(), s, nullptr));
    int const value = 3;
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_fill(device.get(), &value, sizeof value));
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_fill_async(device.get(), &value, sizeof value, s));
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_zero(device.get()));
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_zero_async(device.get(), s));
    roc_batch batch = nullptr;
    EXPECT_OK(roc_batch_create(&batch));
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_batch_add(batch, from.get(), device.get()));
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_batch_add(batch, device.get(), to.get()));
    EXPECT_OK(roc_batch_submit(batch, nullptr));
    EXPECT_OK(roc_batch_destroy(batch));
  }
  EXPECT_OK(roc_stream_synchronize(s));
  EXPECT_EQ(std::vector<int>(source.size(), 1), source);
  EXPECT_EQ(std::vector<int>(source.size(), 2), destination);
}

TEST(CCopy, DestinationInPagesThatMustNotBeWrittenIsAnErrorAndNothingIsTouched) {
  auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const mapped =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, mapped);
  auto* const data = static_cast<unsigned char*>(mapped);
  std::fill_n(data, 2 * page, static_cast<unsigned char>(9));
  ASSERT_EQ(0, ::mprotect(data + page, page, PROT_READ));
  struct sigaction action = {};
  ASSERT_EQ(0, ::sigaction(SIGSEGV, nullptr, &action));
  constexpr int madv_populate_write = 23;
  if (action.sa_handler != SIG_DFL || ::madvise(data, page, madv_populate_write) != 0) {
    EXPECT_EQ(0, ::munmap(mapped, 2 * page));
    GTEST_SKIP() << "SIGSEGV has a handler, or the kernel does not tell which pages are writable";
  }
  constexpr roc_element_type byte{ROCARRAY_TYPE_UINT, 8, 1};
  device_memory const memory(64);
  tensor const device(memory.data(), roc_device_type(), {64}, byte);
  unsigned char const value = 5;
  EXPECT_OK(roc_fill(device.get(), &value, 1));
  std::vector<unsigned char> source(64, 6);
  tensor const host(source.data(), ROCARRAY_DEVICE_CPU, {64}, byte);
  stream const s;
  roc_batch batch = nullptr;
  EXPECT_OK(roc_batch_create(&batch));
  auto const expect_refusal = [](char const* function, roc_status status) {
    EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, status) << function;
    EXPECT_TRUE(last_message_has((std::string(function) + ": to, [").c_str()) &&
                last_message_has("is in memory that must not be written; use memory whose pages "
                                 "are writable"))
        << roc_last_error_message();
  };
  // In the page, and from the writable page before it on.
  for (unsigned char* const begin : {data + page, data + page - 32}) {
    tensor const to(begin, ROCARRAY_DEVICE_CPU, {64}, byte);
    for (tensor const* const from : {&device, &host}) {
      expect_refusal("roc_copy", roc_copy(from->get(), to.get(), nullptr));
      expect_refusal("roc_copy_async", roc_copy_async(from->get(), to.get(), s, nullptr));
      expect_refusal("roc_batch_add", roc_batch_add(batch, from->get(), to.get()));
    }
    expect_refusal("roc_fill", roc_fill(to.get(), &value, 1));
    expect_refusal("roc_fill_async", roc_fill_async(to.get(), &value, 1, s));
    expect_refusal("roc_zero", roc_zero(to.get()));
    expect_refusal("roc_zero_async", roc_zero_async(to.get(), s));
  }
  EXPECT_OK(roc_batch_submit(batch, nullptr));
  EXPECT_OK(roc_batch_destroy(batch));
  EXPECT_OK(roc_stream_synchronize(s));
  EXPECT_TRUE(std::all_of(data, data + 2 * page, [](unsigned char i) { return i == 9; }));
  tensor const readable(data + page, ROCARRAY_DEVICE_CPU, {64}, byte);
  EXPECT_OK(roc_copy(readable.get(), device.get(), nullptr));
  EXPECT_OK(roc_copy(device.get(), host.get(), nullptr));
  EXPECT_EQ(std::vector<unsigned char>(64, 9), source);
  EXPECT_EQ(0, ::munmap(mapped, 2 * page));
}

// Fills

TEST(CFill, WritesValuesOfEverySizeAndKeepsGaps) {
  for (std::size_t bytes = 1; bytes <= 16; ++bytes) {
    std::vector<unsigned char> value(bytes);
    std::iota(value.begin(), value.end(), static_cast<unsigned char>(1));
    std::vector<unsigned char> result(bytes * 6, 99);
    auto expected = result;
    roc_element_type const type{ROCARRAY_TYPE_UINT, 8, static_cast<std::uint16_t>(bytes)};
    for (std::size_t i = 0; i < 6; i += 2) {
      std::copy(value.begin(), value.end(),
                expected.begin() + static_cast<std::ptrdiff_t>(i * bytes));
    }
    tensor to(result.data(), ROCARRAY_DEVICE_CPU, {3}, type);
    to.with_strides({2});
    EXPECT_OK(roc_fill(to.get(), value.data(), bytes));
    EXPECT_EQ(expected, result) << bytes;

    device_memory const memory(bytes * 6);
    stream const s;
    tensor const whole(memory.data(), roc_device_type(), {6}, type);
    tensor every_second(memory.data(), roc_device_type(), {3}, type);
    every_second.with_strides({2});
    EXPECT_OK(roc_zero_async(whole.get(), s));
    EXPECT_OK(roc_fill_async(every_second.get(), value.data(), bytes, s));
    std::vector<unsigned char> const before(bytes, 0);
    for (std::size_t i = 1; i < 6; i += 2) {
      std::copy(before.begin(), before.end(),
                expected.begin() + static_cast<std::ptrdiff_t>(i * bytes));
    }
    tensor const back(result.data(), ROCARRAY_DEVICE_CPU, {6}, type);
    EXPECT_OK(roc_copy(whole.get(), back.get(), nullptr));
    EXPECT_EQ(expected, result) << bytes;
  }
}

TEST(CFill, ValueMustHaveTheSizeOfAnElement) {
  std::vector<int> memory(4, 5);
  long long const value[3] = {};
  tensor const to(memory.data(), ROCARRAY_DEVICE_CPU, {4});
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_fill(to.get(), value, 8));
  EXPECT_TRUE(last_message_has("8 bytes")) << roc_last_error_message();
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_fill(to.get(), value, 0));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_fill(to.get(), nullptr, 4));
  tensor const large(memory.data(), ROCARRAY_DEVICE_CPU, {1}, {ROCARRAY_TYPE_UINT, 8, 17});
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_fill(large.get(), value, 17));
  EXPECT_EQ(std::vector<int>(4, 5), memory);
}

// Batches

TEST(CBatch, CopiesInTheOrderOfAddAndCanBeSubmittedAgain) {
  constexpr std::int64_t pieces = 200;
  auto source = numbers(pieces * 4);
  std::vector<int> result(pieces * 4);
  device_memory const memory(source.size() * sizeof(int));
  roc_batch upload = nullptr;
  roc_batch download = nullptr;
  EXPECT_OK(roc_batch_create(&upload));
  EXPECT_OK(roc_batch_create(&download));
  for (std::int64_t i = 0; i < pieces; ++i) {
    tensor const from(source.data() + i * 4, ROCARRAY_DEVICE_CPU, {4});
    tensor device(memory.data(), roc_device_type(), {4});
    device.value.byte_offset = static_cast<std::uint64_t>(i) * 16;
    tensor const to(result.data() + i * 4, ROCARRAY_DEVICE_CPU, {2, 2});
    tensor matrix(memory.data(), roc_device_type(), {2, 2});
    matrix.value.byte_offset = device.value.byte_offset;
    EXPECT_OK(roc_batch_add(upload, from.get(), device.get()));
    EXPECT_OK(roc_batch_add(download, matrix.get(), to.get()));
  }
  EXPECT_OK(roc_batch_submit(upload, nullptr));
  EXPECT_OK(roc_batch_submit(download, nullptr));
  EXPECT_EQ(source, result);
  stream const s;
  for (int& x : source) x = -x;
  roc_copy_options options{};
  options.borrow_source = 1;
  EXPECT_OK(roc_batch_submit_async(upload, s, &options));
  EXPECT_OK(roc_batch_submit_async(download, s, nullptr));
  EXPECT_OK(roc_batch_destroy(upload));
  EXPECT_OK(roc_batch_destroy(download));
  EXPECT_OK(roc_stream_synchronize(s));
  EXPECT_EQ(source, result);
}

TEST(CBatch, DestroyedBatchAndInvalidOptionsAreErrors) {
  roc_batch batch = nullptr;
  roc_copy_options const invalid{9, 0, 0};
  EXPECT_OK(roc_batch_create(&batch));
  EXPECT_OK(roc_batch_submit(batch, nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_batch_submit(batch, &invalid));
  EXPECT_OK(roc_batch_destroy(batch));
  int x = 0;
  tensor const t(&x, ROCARRAY_DEVICE_CPU, {1});
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_batch_add(batch, t.get(), t.get()));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_batch_submit(batch, nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME,
                roc_batch_submit_async(batch, ROCARRAY_DEFAULT_STREAM, nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_batch_destroy(batch));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_batch_submit(nullptr, nullptr));
  EXPECT_OK(roc_batch_destroy(nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_batch_create(nullptr));
}

// Streams and events

TEST(CStream, QueryIsFalseWhileWorkIsPending) {
  roc::test::gate gate;
  stream const s;
  gate.close(s.reference());
  device_memory const memory(400);
  tensor const to(memory.data(), roc_device_type(), {100});
  EXPECT_OK(roc_zero_async(to.get(), s));
  std::int32_t is_idle = -1;
  EXPECT_OK(roc_stream_query(s, &is_idle));
  EXPECT_EQ(0, is_idle);
  gate.open();
  EXPECT_OK(roc_stream_synchronize(s));
  EXPECT_OK(roc_stream_query(s, &is_idle));
  EXPECT_EQ(1, is_idle);
}

TEST(CStream, KindsAreCreated) {
  std::int32_t device = -1;
  EXPECT_OK(roc_get_device(&device));
  for (std::int32_t const kind : {ROCARRAY_STREAM_BLOCKING, ROCARRAY_STREAM_NON_BLOCKING}) {
    stream const s(kind);
    auto const expected = kind == ROCARRAY_STREAM_BLOCKING ? roc::detail::stream_kind::blocking
                                                           : roc::detail::stream_kind::non_blocking;
    EXPECT_EQ(expected, s.reference().kind());
    std::int32_t of_stream = -1;
    EXPECT_OK(roc_stream_device(s, &of_stream));
    EXPECT_EQ(device, of_stream);
  }
  roc_stream s = nullptr;
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_stream_create(2, 0, &s));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_stream_create(-1, 0, &s));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_stream_create(0, 0, nullptr));
  EXPECT_EQ(nullptr, s);
  EXPECT_OK(roc_stream_create(0, INT32_MIN, &s));
  EXPECT_OK(roc_stream_destroy(s));
}

TEST(CStream, DestroyedStreamIsRecognizedByEveryFunction) {
  roc_stream s = nullptr;
  EXPECT_OK(roc_stream_create(ROCARRAY_STREAM_BLOCKING, 0, &s));
  EXPECT_OK(roc_stream_destroy(s));
  stream const next;  // may have the native stream of the destroyed one
  roc_event event = nullptr;
  EXPECT_OK(roc_event_create(&event));
  int x = 1;
  int y = 2;
  tensor const from(&x, ROCARRAY_DEVICE_CPU, {1});
  tensor const to(&y, ROCARRAY_DEVICE_CPU, {1});
  void* pointer = nullptr;
  std::int32_t number = 0;
  constexpr roc_status expected = ROCARRAY_ERROR_LIFETIME;
  EXPECT_STATUS(expected, roc_stream_synchronize(s));
  EXPECT_TRUE(last_message_has("the stream handle")) << roc_last_error_message();
  EXPECT_STATUS(expected, roc_stream_query(s, &number));
  EXPECT_STATUS(expected, roc_stream_device(s, &number));
  EXPECT_STATUS(expected, roc_stream_native(s, &pointer));
  EXPECT_STATUS(expected, roc_stream_wait(s, event));
  EXPECT_STATUS(expected, roc_event_record(event, s));
  EXPECT_STATUS(expected, roc_copy_async(from.get(), to.get(), s, nullptr));
  EXPECT_STATUS(expected, roc_fill_async(to.get(), &x, sizeof x, s));
  EXPECT_STATUS(expected, roc_zero_async(to.get(), s));
  EXPECT_STATUS(expected, roc_allocate(nullptr, 8, s, &pointer));
  EXPECT_STATUS(expected, roc_free(nullptr, s));
  EXPECT_STATUS(expected, roc_stream_destroy(s));
  // A handle of another kind is not a stream.
  EXPECT_STATUS(expected, roc_stream_synchronize(reinterpret_cast<roc_stream>(event)));
  EXPECT_EQ(2, y);
  EXPECT_EQ(nullptr, pointer);
  EXPECT_OK(roc_event_destroy(event));
}

TEST(CStream, NativeDefaultAndPerThreadStreamsAreUsable) {
  roc::stream const owner;
  roc_stream borrowed = nullptr;
  roc_stream of_thread = nullptr;
  EXPECT_OK(roc_stream_from_native(roc::native(owner), &borrowed));
  EXPECT_OK(roc_stream_per_thread(&of_thread));
  std::vector<int> result(10);
  device_memory const memory(40);
  tensor const device(memory.data(), roc_device_type(), {10});
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {10});
  int value = 0;
  for (roc_stream const s : {borrowed, of_thread, ROCARRAY_DEFAULT_STREAM}) {
    ++value;
    EXPECT_OK(roc_fill_async(device.get(), &value, sizeof value, s));
    EXPECT_OK(roc_copy_async(device.get(), to.get(), s, nullptr));
    EXPECT_OK(roc_stream_synchronize(s));
    EXPECT_EQ(std::vector<int>(10, value), result);
  }
  void* native = nullptr;
  EXPECT_OK(roc_stream_native(borrowed, &native));
  EXPECT_EQ(roc::native(owner), native);
  EXPECT_OK(roc_stream_native(ROCARRAY_DEFAULT_STREAM, &native));
  EXPECT_EQ(nullptr, native);
  EXPECT_OK(roc_stream_destroy(borrowed));
  EXPECT_OK(roc_stream_destroy(of_thread));
  EXPECT_OK(roc_stream_destroy(ROCARRAY_DEFAULT_STREAM));
  owner.synchronize();  // only the handle was destroyed
}

TEST(CEvent, OrdersStreams) {
  roc::test::gate gate;
  stream const first(ROCARRAY_STREAM_NON_BLOCKING);
  stream const second(ROCARRAY_STREAM_NON_BLOCKING);
  roc_event event = nullptr;
  EXPECT_OK(roc_event_create(&event));
  std::int32_t is_done = -1;
  EXPECT_OK(roc_event_query(event, &is_done));
  EXPECT_EQ(1, is_done);
  device_memory const memory(40);
  tensor const device(memory.data(), roc_device_type(), {10});
  std::vector<int> result(10);
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {10});
  int const value = 6;
  gate.close(first.reference());
  EXPECT_OK(roc_fill_async(device.get(), &value, sizeof value, first));
  EXPECT_OK(roc_event_record(event, first));
  EXPECT_OK(roc_stream_wait(second, event));
  EXPECT_OK(roc_event_query(event, &is_done));
  EXPECT_EQ(0, is_done);
  EXPECT_OK(roc_copy_async(device.get(), to.get(), second, nullptr));
  gate.open();
  EXPECT_OK(roc_event_synchronize(event));
  EXPECT_OK(roc_stream_synchronize(second));
  EXPECT_EQ(std::vector<int>(10, 6), result);
  EXPECT_OK(roc_event_destroy(event));
  for (roc_event const destroyed : {event, roc_event{}}) {
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_event_query(destroyed, &is_done));
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_event_synchronize(destroyed));
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_event_record(destroyed, first));
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_stream_wait(first, destroyed));
  }
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_event_destroy(event));
  EXPECT_OK(roc_event_destroy(nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_event_create(nullptr));
}

// HIP's own refusal would invalidate the capture.
TEST(CEvent, RecordedInACaptureOfTheProgramIsRefusedAndTheCaptureGoesOn) {
  roc::stream const blocking;
  for (hipStream_t const captured : {roc::native(blocking), hipStreamPerThread}) {
    roc_stream s = nullptr;
    if (captured == hipStreamPerThread) {
      EXPECT_OK(roc_stream_per_thread(&s));
    } else {
      EXPECT_OK(roc_stream_from_native(captured, &s));
    }
    roc_event event = nullptr;
    EXPECT_OK(roc_event_create(&event));
    ASSERT_EQ(hipSuccess, hipStreamBeginCapture(captured, hipStreamCaptureModeRelaxed));
    EXPECT_OK(roc_event_record(event, s));
    std::int32_t is_done = -1;
    EXPECT_STATUS(ROCARRAY_ERROR_HIP, roc_event_query(event, &is_done));
    EXPECT_TRUE(last_message_has("recorded in a capture")) << roc_last_error_message();
    EXPECT_STATUS(ROCARRAY_ERROR_HIP, roc_event_synchronize(event));
    hipGraph_t graph = nullptr;
    EXPECT_EQ(hipSuccess, hipStreamEndCapture(captured, &graph));
    EXPECT_EQ(hipSuccess, hipGraphDestroy(graph));
    // The next record counts.
    EXPECT_OK(roc_event_record(event, s));
    EXPECT_OK(roc_event_synchronize(event));
    EXPECT_OK(roc_event_destroy(event));
    EXPECT_OK(roc_stream_destroy(s));
  }
}

TEST(CTimedEvent, MeasuresTheWorkBetweenTwoRecords) {
  stream const s;
  roc_event begin = nullptr;
  roc_event end = nullptr;
  EXPECT_OK(roc_event_create_timed(&begin));
  EXPECT_OK(roc_event_create_timed(&end));
  device_memory const memory(40);
  tensor const device(memory.data(), roc_device_type(), {10});
  EXPECT_OK(roc_event_record(begin, s));
  s.reference().launch_host_function(
      [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  EXPECT_OK(roc_zero_async(device.get(), s));
  EXPECT_OK(roc_event_record(end, s));
  EXPECT_OK(roc_stream_wait(ROCARRAY_DEFAULT_STREAM, end));
  EXPECT_OK(roc_event_synchronize(end));
  std::int32_t is_done = 0;
  EXPECT_OK(roc_event_query(end, &is_done));
  EXPECT_EQ(1, is_done);
  double milliseconds = -1;
  EXPECT_OK(roc_event_elapsed_time(begin, end, &milliseconds));
  EXPECT_GE(milliseconds, 19.0);
  EXPECT_LT(milliseconds, 60'000.0);
  EXPECT_OK(roc_event_destroy(begin));
  EXPECT_OK(roc_event_destroy(end));
}

TEST(CTimedEvent, WithoutARecordOrTimeIsAnError) {
  stream const s;
  roc_event begin = nullptr;
  roc_event end = nullptr;
  roc_event untimed = nullptr;
  EXPECT_OK(roc_event_create_timed(&begin));
  EXPECT_OK(roc_event_create_timed(&end));
  EXPECT_OK(roc_event_create(&untimed));
  double milliseconds = -1;
  EXPECT_STATUS(ROCARRAY_ERROR_HIP, roc_event_elapsed_time(begin, end, &milliseconds));
  for (roc_event const event : {begin, end, untimed}) EXPECT_OK(roc_event_record(event, s));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT,
                roc_event_elapsed_time(begin, untimed, &milliseconds));
  EXPECT_TRUE(
      last_message_has("end does not measure time; create the event with "
                       "roc_event_create_timed"))
      << roc_last_error_message();
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT,
                roc_event_elapsed_time(untimed, end, &milliseconds));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_event_elapsed_time(begin, end, nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_event_create_timed(nullptr));
  EXPECT_OK(roc_event_destroy(begin));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_event_elapsed_time(begin, end, &milliseconds));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_event_elapsed_time(end, begin, &milliseconds));
  EXPECT_EQ(-1, milliseconds);
  EXPECT_OK(roc_event_destroy(end));
  EXPECT_OK(roc_event_destroy(untimed));
}

// Device memory

// Fills and reads memory of a resource, whose handle is destroyed before the memory is freed.
void check_resource(roc_resource resource) {
  stream const s;
  void* data = nullptr;
  ASSERT_EQ(ROCARRAY_SUCCESS, roc_allocate(resource, 400, s, &data)) << roc_last_error_message();
  EXPECT_OK(roc_resource_destroy(resource));
  EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(data) % 256);
  tensor const device(data, roc_device_type(), {100});
  std::vector<int> result(100);
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {100});
  int const value = 9;
  EXPECT_OK(roc_fill_async(device.get(), &value, sizeof value, s));
  EXPECT_OK(roc_copy_async(device.get(), to.get(), s, nullptr));
  EXPECT_OK(roc_record_stream(data, ROCARRAY_DEFAULT_STREAM));
  EXPECT_OK(roc_free(data, s));
  EXPECT_OK(roc_stream_synchronize(s));
  EXPECT_EQ(std::vector<int>(100, 9), result);
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_free(data, s));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_record_stream(data, s));
  if (resource == ROCARRAY_DEFAULT_RESOURCE) return;
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_allocate(resource, 400, s, &data));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_resource_destroy(resource));
}

TEST(CMemory, EveryResourceAllocates) {
  check_resource(ROCARRAY_DEFAULT_RESOURCE);
  roc_resource resource = nullptr;
  EXPECT_OK(roc_resource_create_hip(0, &resource));
  check_resource(resource);
  EXPECT_OK(roc_resource_create_pool(ROCARRAY_DEFAULT_RESOURCE, SIZE_MAX, &resource));
  check_resource(resource);
  roc_resource hip = nullptr;
  EXPECT_OK(roc_resource_create_hip(-1, &hip));
  EXPECT_OK(roc_resource_create_pool(hip, SIZE_MAX, &resource));
  EXPECT_OK(roc_resource_destroy(hip));
  check_resource(resource);
  roc_status const status = roc_resource_create_hip_async(0, &resource);
  if (status == ROCARRAY_SUCCESS) {
    check_resource(resource);
  } else {
    EXPECT_STATUS(ROCARRAY_ERROR_NOT_SUPPORTED, status);
  }
}

TEST(CMemory, InvalidRequestsAreErrors) {
  void* data = nullptr;
  EXPECT_OK(roc_allocate(nullptr, 0, nullptr, &data));
  EXPECT_EQ(nullptr, data);
  EXPECT_OK(roc_free(nullptr, nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_allocate(nullptr, 8, nullptr, nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_OUT_OF_MEMORY, roc_allocate(nullptr, SIZE_MAX, nullptr, &data));
  EXPECT_STATUS(ROCARRAY_ERROR_OUT_OF_MEMORY,
                roc_allocate(nullptr, std::size_t{1} << 50, nullptr, &data));
  EXPECT_EQ(nullptr, data);
  roc_resource resource = nullptr;
  EXPECT_STATUS(ROCARRAY_ERROR_NO_DEVICE, roc_resource_create_hip(1000, &resource));
  EXPECT_STATUS(ROCARRAY_ERROR_NO_DEVICE, roc_resource_create_hip_async(1000, &resource));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME,
                roc_resource_create_pool(reinterpret_cast<roc_resource>(&data), 8, &resource));
  EXPECT_EQ(nullptr, resource);
  // An address inside an allocation, one of the host, and one of another owner are none of
  // roc_allocate.
  device_memory const memory(64);
  roc::device_array<int> const array({4});
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_free(static_cast<char*>(memory.data()) + 1, nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_free(&data, nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_free(const_cast<int*>(array.data()), nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_free_host(memory.data()));
}

TEST(CMemory, PoolHasALimit) {
  roc_resource pool = nullptr;
  EXPECT_OK(roc_resource_create_pool(ROCARRAY_DEFAULT_RESOURCE, 1 << 20, &pool));
  void* data = nullptr;
  EXPECT_STATUS(ROCARRAY_ERROR_OUT_OF_MEMORY, roc_allocate(pool, 2 << 20, nullptr, &data));
  EXPECT_OK(roc_resource_destroy(pool));
}

TEST(CMemory, IsReusedOnlyAfterWorkOfTheStreamOfFree) {
  roc_resource pool = nullptr;
  EXPECT_OK(roc_resource_create_pool(ROCARRAY_DEFAULT_RESOURCE, SIZE_MAX, &pool));
  roc::test::gate gate;
  stream const user(ROCARRAY_STREAM_NON_BLOCKING);
  void* first = nullptr;
  EXPECT_OK(roc_allocate(pool, 400, nullptr, &first));
  gate.close(user.reference());
  // The program's own work, of which the library does not know.
  ROCARRAY_HIP(hipMemsetAsync, first, 7, std::size_t{400}, roc::native(user.reference()));
  EXPECT_OK(roc_free(first, user));
  void* second = nullptr;
  EXPECT_OK(roc_allocate(pool, 400, nullptr, &second));
  if (roc::test::run_mode() == roc::test::mode::threaded) {
    EXPECT_NE(first, second);
  }
  gate.open();
  EXPECT_OK(roc_stream_synchronize(user));
  EXPECT_OK(roc_free(second, nullptr));
  EXPECT_OK(roc_resource_destroy(pool));
}

// Host memory

TEST(CHostMemory, EveryKindIsCopied) {
  for (std::int32_t const kind :
       {ROCARRAY_MEMORY_PINNED, ROCARRAY_MEMORY_MAPPED, ROCARRAY_MEMORY_MANAGED}) {
    void* data = nullptr;
    roc_status const status = roc_allocate_host(kind, 0, 400, &data);
    if (kind == ROCARRAY_MEMORY_MANAGED && status == ROCARRAY_ERROR_NOT_SUPPORTED) continue;
    ASSERT_EQ(ROCARRAY_SUCCESS, status) << roc_last_error_message();
    device_memory const memory(400);
    stream const s;
    tensor const host(data, ROCARRAY_DEVICE_CPU, {100});
    tensor const device(memory.data(), roc_device_type(), {100});
    std::vector<int> result(100);
    tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {100});
    int const value = 8;
    EXPECT_OK(roc_fill(host.get(), &value, sizeof value));
    EXPECT_OK(roc_copy_async(host.get(), device.get(), s, nullptr));
    EXPECT_OK(roc_free_host(data));  // waits for the copy
    EXPECT_OK(roc_copy_async(device.get(), to.get(), s, nullptr));
    EXPECT_OK(roc_stream_synchronize(s));
    EXPECT_EQ(std::vector<int>(100, 8), result);
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_free_host(data));
  }
}

TEST(CHostMemory, MappedMemoryHasADeviceAddress) {
  void* data = nullptr;
  EXPECT_OK(roc_allocate_host(ROCARRAY_MEMORY_MAPPED, ROCARRAY_MEMORY_PORTABLE, 400, &data));
  void* address = nullptr;
  EXPECT_OK(roc_device_address(data, 400, &address));
  ASSERT_NE(nullptr, address);
  tensor const device(address, roc_device_type(), {100});
  int const value = 8;
  EXPECT_OK(roc_fill(device.get(), &value, sizeof value));
  EXPECT_EQ(8, static_cast<int*>(data)[99]);
  EXPECT_OK(roc_free_host(data));
  int pageable = 0;
  void* unchanged = &pageable;
  EXPECT_STATUS(ROCARRAY_ERROR_REGISTRATION, roc_device_address(&pageable, 4, &unchanged));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_device_address(nullptr, 4, &unchanged));
  EXPECT_STATUS(ROCARRAY_ERROR_SHAPE, roc_device_address(&pageable, SIZE_MAX, &unchanged));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_device_address(&pageable, 4, nullptr));
  EXPECT_EQ(&pageable, unchanged);
}

TEST(CHostMemory, InvalidRequestsAreErrors) {
  void* data = nullptr;
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_allocate_host(0, 0, 8, &data));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_allocate_host(4, 0, 8, &data));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT,
                roc_allocate_host(ROCARRAY_MEMORY_PINNED, 32, 8, &data));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT,
                roc_allocate_host(ROCARRAY_MEMORY_MANAGED, ROCARRAY_MEMORY_PORTABLE, 8, &data));
  EXPECT_STATUS(
      ROCARRAY_ERROR_INVALID_ARGUMENT,
      roc_allocate_host(ROCARRAY_MEMORY_PINNED,
                        ROCARRAY_MEMORY_COHERENT | ROCARRAY_MEMORY_NON_COHERENT, 8, &data));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT,
                roc_allocate_host(ROCARRAY_MEMORY_PINNED, 0, 8, nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_OUT_OF_MEMORY,
                roc_allocate_host(ROCARRAY_MEMORY_PINNED, 0, SIZE_MAX, &data));
  EXPECT_EQ(nullptr, data);
  EXPECT_OK(roc_allocate_host(ROCARRAY_MEMORY_PINNED, 0, 0, &data));
  EXPECT_EQ(nullptr, data);
  EXPECT_OK(roc_free_host(nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_free_host(&data));
}

// Registration

TEST(CRegistration, IsAllOrNoneAndCounts) {
  std::vector<int> first(5000);
  std::vector<int> second(5000);
  roc_host_range const ranges[] = {{first.data(), 20000}, {second.data(), 20000}, {nullptr, 0}};
  EXPECT_OK(roc_register_host(ranges, 3, ROCARRAY_REGISTER_PORTABLE));
  EXPECT_OK(roc_register_host(ranges, 1, ROCARRAY_REGISTER_PORTABLE));
  roc_host_range const part[] = {{second.data(), 4}};
  EXPECT_STATUS(ROCARRAY_ERROR_REGISTRATION, roc_deregister(part, 1));
  roc_host_range const unknown[] = {ranges[0], {second.data() + 1, 19996}};
  EXPECT_STATUS(ROCARRAY_ERROR_REGISTRATION, roc_deregister(unknown, 2));
  EXPECT_STATUS(ROCARRAY_ERROR_REGISTRATION, roc_register_host(unknown, 2, 0));
  EXPECT_OK(roc_deregister(ranges, 1));
  EXPECT_OK(roc_deregister(ranges, 2));
  EXPECT_STATUS(ROCARRAY_ERROR_REGISTRATION, roc_deregister(ranges, 1));
}

TEST(CRegistration, ReadOnlyDestinationIsAnErrorAndIsNotTouched) {
  std::vector<int> memory(5000, 3);
  roc_host_range const range{memory.data(), 20000};
  roc_status const status = roc_register_host(&range, 1, ROCARRAY_REGISTER_READ_ONLY);
  if (status == ROCARRAY_ERROR_NOT_SUPPORTED || status == ROCARRAY_ERROR_HIP) {
    GTEST_SKIP() << roc_last_error_message();
  }
  EXPECT_OK(status);
  device_memory const device(20000);
  tensor const from(device.data(), roc_device_type(), {5000});
  tensor const to(memory.data(), ROCARRAY_DEVICE_CPU, {5000});
  EXPECT_OK(roc_zero(from.get()));
  EXPECT_STATUS(ROCARRAY_ERROR_REGISTRATION, roc_copy(from.get(), to.get(), nullptr));
  EXPECT_OK(roc_copy(to.get(), from.get(), nullptr));
  EXPECT_OK(roc_deregister(&range, 1));
  EXPECT_EQ(std::vector<int>(5000, 3), memory);
}

// The device address is the host address, or is no longer mapped.
TEST(CRegistration, DeviceAddressAfterDeregistrationIsAnErrorAndNothingIsTouched) {
  constexpr std::int64_t count = 5000;
  std::vector<int> memory(count, 3);
  std::vector<int> other(count, 4);
  roc_host_range const range{memory.data(), count * sizeof(int)};
  EXPECT_OK(roc_register_host(&range, 1, ROCARRAY_REGISTER_MAPPED));
  void* address = nullptr;
  EXPECT_OK(roc_device_address(memory.data(), range.bytes, &address));
  tensor const mapped(address, roc_device_type(), {count});
  tensor const host(other.data(), ROCARRAY_DEVICE_CPU, {count});
  device_memory const on_device(range.bytes);
  tensor const device(on_device.data(), roc_device_type(), {count});
  EXPECT_OK(roc_copy(mapped.get(), device.get(), nullptr));
  EXPECT_OK(roc_deregister(&range, 1));
  stream const s;
  roc_batch batch = nullptr;
  EXPECT_OK(roc_batch_create(&batch));
  auto const expect_refusal = [](roc_status status) {
    std::string const message = roc_last_error_message();
    bool const is_expected =
        status == ROCARRAY_ERROR_INVALID_ARGUMENT
            ? message.find(
                  "is described as memory of device 0, but it is pageable host memory; "
                  "set the tensor's device") != std::string::npos
            : status == ROCARRAY_ERROR_LIFETIME &&
                  message.find(
                      "is not allocated: neither HIP nor the CPU can access it; use "
                      "memory that has not been freed") != std::string::npos;
    EXPECT_TRUE(is_expected) << roc_status_name(status) << ": " << message;
  };
  int const value = 7;
  for (tensor const* const good : {&host, &device}) {
    expect_refusal(roc_copy(mapped.get(), good->get(), nullptr));
    expect_refusal(roc_copy(good->get(), mapped.get(), nullptr));
    expect_refusal(roc_copy_async(mapped.get(), good->get(), s, nullptr));
    expect_refusal(roc_copy_async(good->get(), mapped.get(), s, nullptr));
    expect_refusal(roc_batch_add(batch, mapped.get(), good->get()));
    expect_refusal(roc_batch_add(batch, good->get(), mapped.get()));
  }
  expect_refusal(roc_fill(mapped.get(), &value, sizeof value));
  expect_refusal(roc_fill_async(mapped.get(), &value, sizeof value, s));
  expect_refusal(roc_zero(mapped.get()));
  expect_refusal(roc_zero_async(mapped.get(), s));
  EXPECT_OK(roc_batch_submit(batch, nullptr));
  EXPECT_OK(roc_batch_destroy(batch));
  EXPECT_OK(roc_stream_synchronize(s));
  EXPECT_EQ(std::vector<int>(count, 3), memory);
  EXPECT_EQ(std::vector<int>(count, 4), other);
  void* unchanged = address;
  EXPECT_STATUS(ROCARRAY_ERROR_REGISTRATION,
                roc_device_address(memory.data(), range.bytes, &unchanged));
  EXPECT_EQ(address, unchanged);
}

TEST(CRegistration, InvalidRequestsAreErrors) {
  int x = 0;
  roc_host_range const null{nullptr, 4};
  roc_host_range const large{&x, SIZE_MAX};
  roc_host_range const wrapping{&x, std::size_t{PTRDIFF_MAX} + 1};
  for (auto const call : {+[](roc_host_range const* ranges, std::size_t count) {
                            return roc_register_host(ranges, count, 0);
                          },
                          +[](roc_host_range const* ranges, std::size_t count) {
                            return roc_deregister(ranges, count);
                          }}) {
    EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, call(nullptr, 1));
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, call(&null, 1));
    EXPECT_STATUS(ROCARRAY_ERROR_SHAPE, call(&large, 1));
    EXPECT_STATUS(ROCARRAY_ERROR_SHAPE, call(&wrapping, 1));
    EXPECT_OK(call(nullptr, 0));
  }
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_register_host(nullptr, 0, 16));
}

// Devices, options, errors, threads

TEST(CDevice, IsCountedSetAndSynchronized) {
  std::int32_t count = -1;
  std::int32_t current = -1;
  EXPECT_OK(roc_device_count(&count));
  EXPECT_EQ(roc::device::count(), count);
  EXPECT_OK(roc_set_device(count - 1));
  EXPECT_OK(roc_get_device(&current));
  EXPECT_EQ(count - 1, current);
  EXPECT_OK(roc_synchronize_device(count - 1));
  EXPECT_OK(roc_set_device(0));
  for (std::int32_t const invalid : {-1, count, INT32_MAX, INT32_MIN}) {
    EXPECT_STATUS(ROCARRAY_ERROR_NO_DEVICE, roc_set_device(invalid));
    EXPECT_STATUS(ROCARRAY_ERROR_NO_DEVICE, roc_synchronize_device(invalid));
  }
  EXPECT_OK(roc_get_device(&current));
  EXPECT_EQ(0, current);
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_device_count(nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_get_device(nullptr));
}

TEST(CSeveralDevices, StreamOfAnotherDeviceIsInvalid) {
  if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  std::vector<int> result(10, 5);
  tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {10});
  device_memory const memory(40);
  tensor const device(memory.data(), roc_device_type(), {10});
  EXPECT_OK(roc_set_device(1));
  {
    stream const other;
    std::int32_t ordinal = -1;
    EXPECT_OK(roc_stream_device(other, &ordinal));
    EXPECT_EQ(1, ordinal);
    EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT,
                  roc_copy_async(device.get(), to.get(), other, nullptr));
    EXPECT_TRUE(last_message_has("the stream is on device 1, but the array is on device 0"))
        << roc_last_error_message();
    EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_zero_async(device.get(), other));
    EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_free(memory.data(), other));
    EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_record_stream(memory.data(), other));
    roc_resource first = nullptr;
    void* data = nullptr;
    EXPECT_OK(roc_resource_create_hip(0, &first));
    EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_allocate(first, 8, other, &data));
    EXPECT_OK(roc_resource_destroy(first));

    // A copy between devices, and memory that is freed while another device is current.
    device_memory const on_other(40, ROCARRAY_DEFAULT_RESOURCE, other);
    tensor second(on_other.data(), roc_device_type(), {10});
    second.value.device.device_id = 1;
    int const value = 7;
    EXPECT_OK(roc_fill_async(second.get(), &value, sizeof value, other));
    EXPECT_OK(roc_copy(second.get(), device.get(), nullptr));
    EXPECT_EQ(std::vector<int>(10, 5), result);
    EXPECT_OK(roc_copy(device.get(), to.get(), nullptr));
    EXPECT_EQ(std::vector<int>(10, 7), result);
    EXPECT_OK(roc_set_device(0));
  }
}

TEST(COption, IsSetAndReadAsText) {
  auto const previous = roc::get_options();
  char text[64] = "unchanged";
  std::size_t length = 0;
  EXPECT_OK(roc_set_option("pinned_cache", "3M"));
  EXPECT_EQ(std::size_t{3} << 20, roc::get_options().pinned_cache);
  EXPECT_OK(roc_get_option("pinned_cache", nullptr, 0, &length));
  EXPECT_EQ(7u, length);
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_get_option("pinned_cache", text, 7, &length));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_get_option("pinned_cache", text, 0, nullptr));
  EXPECT_STREQ("unchanged", text);
  EXPECT_OK(roc_get_option("pinned_cache", text, 8, nullptr));
  EXPECT_STREQ("3145728", text);
  EXPECT_OK(roc_set_option("path", "packed"));
  EXPECT_OK(roc_get_option("path", text, sizeof text, &length));
  EXPECT_STREQ("packed", text);
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_set_option("path", "fast"));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_set_option("no_option", "1"));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_get_option("no_option", text, 64, &length));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_set_option(nullptr, "1"));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_set_option("path", nullptr));
  EXPECT_STATUS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_get_option("path", nullptr, 8, nullptr));
  EXPECT_EQ(roc::copy_path::packed, roc::get_options().path);
  {
    // The process's options do not take over those of a scope.
    roc::scoped_options const scope({.copy_threads = 200});
    EXPECT_OK(roc_set_option("path", "none"));
  }
  EXPECT_EQ(previous.copy_threads, roc::get_options().copy_threads);
  EXPECT_EQ(roc::copy_path::none, roc::get_options().path);
  roc::set_options(previous);
}

TEST(CError, IsOfTheThreadAndStaysAfterSuccess) {
  EXPECT_STATUS(ROCARRAY_ERROR_NO_DEVICE, roc_set_device(-5));
  std::string const message = roc_last_error_message();
  EXPECT_EQ(0u, message.find("roc_set_device: ")) << message;
  std::thread([] {
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_last_error());
    EXPECT_STREQ("", roc_last_error_message());
    EXPECT_STATUS(ROCARRAY_ERROR_LIFETIME, roc_batch_submit(nullptr, nullptr));
  }).join();
  EXPECT_OK(roc_set_device(0));
  EXPECT_EQ(ROCARRAY_ERROR_NO_DEVICE, roc_last_error());
  EXPECT_EQ(message, roc_last_error_message());
  EXPECT_STREQ("unknown status", roc_status_name(12));
  EXPECT_STREQ("unknown status", roc_status_name(-1));
}

TEST(CError, OfHipHasItsCode) {
  roc_event event = nullptr;
  ASSERT_TRUE(roc::platform::fail_call("hipEventCreateWithFlags", 1, hipErrorLaunchFailure));
  EXPECT_STATUS(ROCARRAY_ERROR_HIP, roc_event_create(&event));
  EXPECT_EQ(static_cast<std::int32_t>(hipErrorLaunchFailure), roc_last_hip_error());
  EXPECT_TRUE(last_message_has("hipEventCreateWithFlags")) << roc_last_error_message();
  EXPECT_EQ(nullptr, event);
}

TEST(CError, DeregistrationThatCannotWaitIsAnErrorOfHip) {
  std::vector<float> destination(1000);
  roc_host_range const range{destination.data(), destination.size() * sizeof(float)};
  roc::device_array<float> const array({1000});
  array.zero();
  stream const s;
  EXPECT_OK(roc_register_host(&range, 1, ROCARRAY_REGISTER_DEFAULT));
  array.copy_to_host(destination, s.reference());
  for (char const* const wait :
       {"hipEventSynchronize", "hipStreamSynchronize", "hipDeviceSynchronize"}) {
    ASSERT_TRUE(roc::platform::fail_call(wait, 1, hipErrorLaunchFailure,
                                         roc::platform::failing_uses::all_later));
  }
  EXPECT_STATUS(ROCARRAY_ERROR_HIP, roc_deregister(&range, 1));
  EXPECT_TRUE(last_message_has("cannot wait for the copies")) << roc_last_error_message();
  roc::platform::clear_failures();
  EXPECT_OK(roc_deregister(&range, 1));
}

TEST(CError, ExceptionOfAHostFunctionIsUnknown) {
  stream const s;
  s.reference().launch_host_function([] { throw std::runtime_error("from a host function"); });
  EXPECT_STATUS(ROCARRAY_ERROR_UNKNOWN, roc_stream_synchronize(s));
  EXPECT_STREQ("from a host function", roc_last_error_message());
  s.reference().launch_host_function([] { throw 5; });
  EXPECT_STATUS(ROCARRAY_ERROR_UNKNOWN, roc_stream_synchronize(s));
  EXPECT_OK(roc_stream_synchronize(s));
}

TEST(CThreads, UseHandlesOfTheirOwnConcurrently) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (int round = 0; round < 20; ++round) {
        stream const s;
        roc_batch batch = nullptr;
        EXPECT_OK(roc_batch_create(&batch));
        device_memory const memory(400, ROCARRAY_DEFAULT_RESOURCE, s);
        std::vector<int> result(100);
        tensor const device(memory.data(), roc_device_type(), {100});
        tensor const to(result.data(), ROCARRAY_DEVICE_CPU, {100});
        int const value = thread * 100 + round;
        EXPECT_OK(roc_fill_async(device.get(), &value, sizeof value, s));
        EXPECT_OK(roc_batch_add(batch, device.get(), to.get()));
        EXPECT_OK(roc_batch_submit_async(batch, s, nullptr));
        EXPECT_OK(roc_batch_destroy(batch));
        EXPECT_OK(roc_stream_synchronize(s));
        EXPECT_EQ(std::vector<int>(100, value), result);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

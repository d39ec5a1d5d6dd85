// SPDX-License-Identifier: MIT
// Managed arrays: advice, prefetching, migration, attachment, and the errors on devices that do not
// support them. CMake runs it with full, basic and no managed memory on the host platform.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/for_each_kernels.hpp"
#include "platform/call.hpp"
#include "support/call_counter.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

bool has(hipDeviceAttribute_t attribute) {
  int value = 0;
  return ROCARRAY_HIP_CODE(hipDeviceGetAttribute, &value, attribute, 0) == hipSuccess && value != 0;
}

template <class F>
std::string message_of(std::errc code, F f) {
  try {
    f();
  } catch (roc::error const& error) {
    EXPECT_EQ(code, error.code()) << error.what();
    return error.what();
  }
  return "no error";
}

class ManagedArray : public testing::Test {
 protected:
  static bool has_managed_memory() { return has(hipDeviceAttributeManagedMemory); }
  static bool has_concurrent_access() { return has(hipDeviceAttributeConcurrentManagedAccess); }
};

TEST_F(ManagedArray, AllocationNamesTheMissingAttribute) {
  if (has_managed_memory()) GTEST_SKIP() << "this device has managed memory";
  auto const message =
      message_of(std::errc::not_supported, [] { static_cast<void>(roc::managed_array<int>(10)); });
  EXPECT_NE(std::string::npos, message.find("hipDeviceAttributeManagedMemory")) << message;
}

TEST_F(ManagedArray, AFailedQueryOfAnAttributeIsNotAMissingAttribute) {
  if (!has_managed_memory()) GTEST_SKIP() << "no managed memory";
  ASSERT_TRUE(roc::platform::fail_call("hipDeviceGetAttribute", 1, hipErrorUnknown));
  try {
    static_cast<void>(roc::managed_array<int>(10));
    ADD_FAILURE() << "no error";
  } catch (roc::error const& error) {
    EXPECT_EQ(std::error_code(hipErrorUnknown, roc::hip_category()), error.code()) << error.what();
    EXPECT_STREQ("hipDeviceGetAttribute", error.call());
  }
  roc::platform::clear_failures();
  EXPECT_NO_THROW(static_cast<void>(roc::managed_array<int>(10)));
}

TEST_F(ManagedArray, IsAccessibleFromHostAndDevice) {
  if (!has_managed_memory()) GTEST_SKIP() << "no managed memory";
  auto array = roc::managed_array<int>(roc::shape<2>{30, 40});
  EXPECT_EQ(roc::host_memory::managed, array.kind());
  EXPECT_EQ(roc::host_flags::default_flags, array.flags());
  roc::stream const stream;
  auto const view = array.device_view();
  EXPECT_EQ(array.data(), view.data());
  roc::test::number(stream, view);
  stream.synchronize();
  EXPECT_EQ(2939, array(29, 39));
  view.fill(5);
  EXPECT_EQ(5, array(29, 39));
}

TEST_F(ManagedArray, IsCopiedAsHostAndAsDeviceMemory) {
  if (!has_managed_memory()) GTEST_SKIP() << "no managed memory";
  auto array = roc::managed_array<int>(std::size_t{1000});
  std::iota(array.begin(), array.end(), 0);
  roc::device_array<int> const device({1000});
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(array, device));
  device.copy_to_device(array);
  array.fill(0);
  roc::stream const stream;
  device.copy_to_host(array, stream);
  stream.synchronize();
  EXPECT_EQ(999, array(-1));
  // Kernels copy any layout, without the CPU.
  auto const backwards = array(roc::slice(roc::none, roc::none, -1));
  EXPECT_EQ(roc::copy_path::kernel, roc::planned_path(device, backwards));
  device.copy_to_host(backwards, stream);
  stream.synchronize();
  EXPECT_EQ(999, array(0));
  device.copy_to_host(array);
  auto const view = array.device_view();
  view(roc::slice(0, 500)).copy_to_device(view(roc::slice(500, 1000)));
  EXPECT_EQ(999, array(499));
  std::vector<int> back(500);
  view(roc::slice(0, 1000, 2)).copy_to_host(back);
  EXPECT_EQ(998, back[249]);
}

TEST_F(ManagedArray, AcceptsAdvicePrefetchAndMigrate) {
  if (!has_concurrent_access()) GTEST_SKIP() << "no concurrent managed access";
  auto array = roc::managed_array<int>(std::size_t{100'000});
  array.fill(3);
  roc::device const device;
  roc::advise(array, roc::advice::preferred_location, device);
  roc::advise(array, roc::advice::accessed_by, roc::memory_location::host());
  roc::advise(array, roc::advice::read_mostly, device);
  roc::advise(array, roc::advice::not_read_mostly, device);
  roc::advise(array, roc::advice::not_accessed_by, roc::memory_location::host());
  roc::advise(array, roc::advice::no_preferred_location, device);
  roc::stream const stream;
  roc::test::call_counter const prefetches("hipMemPrefetchAsync");
  roc::prefetch(array, device, stream);
  roc::prefetch(array(roc::slice(5, 5000)), roc::memory_location::host(), stream);
  stream.synchronize();
  roc::migrate(array, device);
  roc::migrate(array, roc::memory_location::host());
  EXPECT_EQ(4, prefetches.count());
  EXPECT_EQ(3, array(-1));
}

TEST_F(ManagedArray, MappingMovesTheMemoryToTheHostAndBack) {
  if (!has_concurrent_access()) GTEST_SKIP() << "no concurrent managed access";
  auto array = roc::managed_array<int>(std::size_t{1000});
  roc::stream const stream;
  for (bool const on_stream : {false, true}) {
    roc::test::call_counter const prefetches("hipMemPrefetchAsync");
    auto mapped = on_stream ? roc::map(array, roc::access::write, stream)
                            : roc::map(array, roc::access::write);
    EXPECT_EQ(1, prefetches.count());
    mapped(0) = 3;
    mapped.unmap();
    EXPECT_EQ(2, prefetches.count());
  }
}

TEST_F(ManagedArray, AdviceAndPrefetchNameTheMissingAttribute) {
  if (!has_managed_memory() || has_concurrent_access())
    GTEST_SKIP() << "no managed memory, or concurrent access to it";
  auto array = roc::managed_array<int>(std::size_t{100});
  roc::stream const stream;
  auto const code = std::errc::not_supported;
  for (auto const& message :
       {message_of(code, [&] { roc::advise(array, roc::advice::read_mostly, roc::device()); }),
        message_of(code, [&] { roc::prefetch(array, roc::device(), stream); }),
        message_of(code, [&] { roc::prefetch(array, roc::memory_location::host(), stream); }),
        message_of(code, [&] { roc::migrate(array, roc::device()); })}) {
    EXPECT_NE(std::string::npos, message.find("ConcurrentManagedAccess")) << message;
  }
}

TEST_F(ManagedArray, MigrateIsOrderedAfterEarlierWork) {
  if (!has_concurrent_access()) GTEST_SKIP() << "no concurrent managed access";
  auto array = roc::managed_array<int>(std::size_t{1000});
  array.fill(1);
  roc::stream const stream;
  array.device_view().fill(2, stream);
  roc::migrate(array, roc::memory_location::host());
  EXPECT_TRUE(stream.query());
  EXPECT_EQ(2, array(-1));
}

#if !ROCARRAY_PLATFORM_AMD  // whose hipMemPrefetchAsync blocks until the work before it is done

TEST_F(ManagedArray, PrefetchDoesNotBlock) {
  if (!has_concurrent_access()) GTEST_SKIP() << "no concurrent managed access";
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  auto array = roc::managed_array<int>(std::size_t{1000});
  roc::stream const stream;
  roc::test::gate gate;
  gate.close(stream);
  roc::test::call_counter const prefetches("hipMemPrefetchAsync");
  roc::prefetch(array, roc::device(), stream);  // does not block
  EXPECT_EQ(1, prefetches.count());
  EXPECT_FALSE(stream.query());
  gate.open();
  stream.synchronize();
  EXPECT_TRUE(stream.query());
}

#endif

TEST_F(ManagedArray, DestructorBlocksUntilPrefetchHasFinished) {
  if (!has_concurrent_access()) GTEST_SKIP() << "no concurrent managed access";
  roc::stream const stream;
  roc::test::call_counter const prefetches("hipMemPrefetchAsync");
  {
    auto array = roc::managed_array<int>(std::size_t{1000});
    roc::prefetch(array, roc::device(), stream);
  }
  EXPECT_EQ(1, prefetches.count());
  EXPECT_TRUE(stream.query());
}

TEST_F(ManagedArray, AttachAcceptsWholeArraysOnly) {
  if (!has_managed_memory()) GTEST_SKIP() << "no managed memory";
  auto array = roc::managed_array<int>(std::size_t{1000});
  roc::stream const stream;
  roc::attach(array, stream);
  stream.synchronize();
  array.fill(4);
  roc::attach(array, stream, roc::attachment::global);
  stream.synchronize();
  array.device_view().fill(5);
  EXPECT_EQ(5, array(0));
  auto const code = std::errc::invalid_argument;
  auto const part = array(roc::slice(10, 20));
  auto const message = message_of(code, [&] { roc::attach(part, stream); });
  EXPECT_NE(std::string::npos, message.find("whole")) << message;
  message_of(code, [&] { roc::attach(array, roc::stream_ref()); });
}

TEST_F(ManagedArray, OperationsThrowForOtherMemory) {
  roc::host_array<int> pageable({100});
  auto pinned = roc::pinned_array<int>(100);
  roc::stream const stream;
  roc::device const device;
  auto const code = std::errc::invalid_argument;
  for (auto const& message :
       {message_of(code, [&] { roc::advise(pageable, roc::advice::read_mostly, device); }),
        message_of(code, [&] { roc::prefetch(pinned, device, stream); }),
        message_of(code, [&] { roc::migrate(pageable, device); }),
        message_of(code, [&] { roc::attach(pageable, stream); })}) {
    EXPECT_NE(std::string::npos, message.find("managed_array")) << message;
  }
}

TEST_F(ManagedArray, CannotBeRegistered) {
  if (!has_managed_memory()) GTEST_SKIP() << "no managed memory";
  auto array = roc::managed_array<int>(std::size_t{100});
  EXPECT_THROW(static_cast<void>(roc::register_host(array)), roc::registration_error);
  EXPECT_THROW(static_cast<void>(roc::adopt_registered(array)), roc::registration_error);
}

TEST_F(ManagedArray, MayBeEmptyAndThrowsIfTooLarge) {
  if (!has_managed_memory()) GTEST_SKIP() << "no managed memory";
  auto empty = roc::managed_array<int>(std::size_t{0});
  roc::stream const stream;
  EXPECT_EQ(nullptr, empty.data());
  roc::prefetch(empty, roc::device(), stream);
  roc::advise(empty, roc::advice::read_mostly, roc::device());
  roc::migrate(empty, roc::device());
  roc::attach(empty, stream);
  EXPECT_EQ(nullptr, empty.device_view().data());
  // More than any address space: for less, a driver may reserve addresses without memory.
  EXPECT_THROW(static_cast<void>(roc::managed_array<char>(std::size_t{1} << 60)),
               roc::out_of_memory);
}

TEST_F(ManagedArray, ErrorsNameTheFailedCall) {
  if (!has_concurrent_access()) GTEST_SKIP() << "no concurrent managed access";
  ASSERT_TRUE(roc::platform::fail_call("hipMallocManaged", 1, hipErrorOutOfMemory));
  EXPECT_THROW(static_cast<void>(roc::managed_array<int>(100)), roc::out_of_memory);
  auto array = roc::managed_array<int>(std::size_t{100});
  roc::stream const stream;
  auto const expect = [&](char const* call, auto f) {
    ASSERT_TRUE(roc::platform::fail_call(call, 1, hipErrorUnknown));
    try {
      f();
      ADD_FAILURE() << call;
    } catch (roc::error const& error) {
      EXPECT_STREQ(call, error.call());
    }
  };
  expect("hipMemPrefetchAsync", [&] { roc::prefetch(array, roc::device(), stream); });
  expect("hipMemAdvise", [&] { roc::advise(array, roc::advice::read_mostly, roc::device()); });
  expect("hipStreamAttachMemAsync", [&] { roc::attach(array, stream); });
}

}  // namespace

// SPDX-License-Identifier: MIT
// roc::map: copies made by mapping and unmapping, errors, streams, managed memory.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

using roc::access::read;
using roc::access::read_write;
using roc::access::write;

int copies = 0;
void count_copies(roc::platform::call_record const& record) {
  if (std::string_view(record.name).starts_with("hipMemcpy")) ++copies;
}

class Map : public testing::Test {
 protected:
  void SetUp() override { copies = 0; }
  void TearDown() override {
    roc::platform::set_call_hook(nullptr);
    roc::platform::clear_failures();
  }

  static roc::device_array<int, 2> counted(roc::order o = roc::order::c) {
    roc::host_array<int, 2> numbers({3, 4});
    std::iota(numbers.begin(), numbers.end(), 0);
    roc::device_array<int, 2> array({3, 4}, o);
    array.copy_to_device(numbers);
    return array;
  }
};

TEST_F(Map, ReadCopiesToTheHostOnly) {
  auto const array = counted();
  roc::platform::set_call_hook(count_copies);
  {
    auto const m = roc::map(array, read);
    static_assert(std::is_same_v<roc::host_view<int const, 2>, decltype(m.view())>);
    EXPECT_EQ(7, m(1, 3));
    EXPECT_EQ(7, m(1, roc::all)(3));
    EXPECT_EQ((roc::shape<2>{3, 4}), m.view().shape());
  }
  EXPECT_EQ(1, copies);
}

TEST_F(Map, ReadWriteCopiesBackAtScopeEnd) {
  auto const array = counted();
  {
    auto const m = roc::map(array, read_write);
    m(1, 3) += 100;
    EXPECT_EQ(7, array(1, 3).get());  // not copied back yet
  }
  EXPECT_EQ(107, array(1, 3).get());
  EXPECT_EQ(11, array(2, 3).get());
}

TEST_F(Map, WriteCopiesToTheDeviceOnly) {
  auto const array = counted();
  roc::platform::set_call_hook(count_copies);
  {
    auto const m = roc::map(array, write);
    EXPECT_EQ(0, copies);
    m.view().fill(9);
  }
  EXPECT_EQ(1, copies);
  EXPECT_EQ(9, array(2, 3).get());
}

TEST_F(Map, KeepsLayoutsAndRegions) {
  auto const f = counted(roc::order::f);
  EXPECT_TRUE(roc::map(f, read).view().is_f_contiguous());
  auto const array = counted();
  auto const region = array(roc::slice(roc::none, roc::none, -1), roc::slice(0, 4, 2));
  {
    auto const m = roc::map(region, read_write);
    EXPECT_EQ(10, m(0, 1));
    m(0, 1) = -1;
  }
  EXPECT_EQ(-1, array(2, 2).get());
  EXPECT_EQ(11, array(2, 3).get());
}

TEST_F(Map, ThrowsLifetimeErrorAfterUnmap) {
  auto const array = counted();
  auto m = roc::map(array, read_write);
  m(0, 0) = 50;
  m.unmap();
  EXPECT_EQ(50, array(0, 0).get());
  EXPECT_THROW(m.unmap(), roc::lifetime_error);
  EXPECT_THROW(static_cast<void>(m.view()), roc::lifetime_error);
  EXPECT_THROW(static_cast<void>(m(0, 0)), roc::lifetime_error);
  EXPECT_THROW(static_cast<void>(m.data()), roc::lifetime_error);
}

TEST_F(Map, MovedFromMappingThrowsLifetimeError) {
  auto const array = counted();
  auto first = roc::map(array, read_write);
  auto const second = std::move(first);
  EXPECT_THROW(first.unmap(), roc::lifetime_error);
  second(0, 0) = 5;
}

TEST_F(Map, CopiesBackIfAnExceptionIsThrown) {
  auto const array = counted();
  try {
    auto const m = roc::map(array, read_write);
    m(0, 0) = 70;
    throw std::runtime_error("test");
  } catch (std::runtime_error const&) {
  }
  EXPECT_EQ(70, array(0, 0).get());
}

TEST_F(Map, UnmapThrowsAndDestructorLogs) {
  auto const array = counted();
  static std::string logged;
  auto const previous_hook = roc::set_log_hook([](char const* text) noexcept { logged = text; });
  {
    auto m = roc::map(array, read_write);
    m(0, 0) = 80;
    ASSERT_TRUE(roc::platform::fail_call("hipMemcpyAsync", 1, hipErrorUnknown));
    EXPECT_THROW(m.unmap(), roc::error);
    EXPECT_EQ(80, m(0, 0));  // still mapped
    ASSERT_TRUE(roc::platform::fail_call("hipMemcpyAsync", 1, hipErrorUnknown));
  }
  roc::set_log_hook(previous_hook);
  EXPECT_NE(std::string::npos, logged.find("hipMemcpyAsync")) << logged;
  EXPECT_EQ(0, array(0, 0).get());
}

TEST_F(Map, IsOrderedAfterAllEarlierWork) {
  auto const array = counted();
  roc::stream const stream;
  array.fill(6, stream);
  EXPECT_EQ(6, roc::map(array, read)(2, 3));
}

TEST_F(Map, UnmapOnAStreamDoesNotBlock) {
  auto const array = counted();
  roc::stream const stream;
  array.fill(6, stream);
  auto m = roc::map(array, read_write, stream);
  EXPECT_EQ(6, m(2, 3));
  m(2, 3) = 60;
  {
    roc::test::gate gate;
    gate.close(stream);
    m.unmap();
    bool const done = stream.query();
    EXPECT_EQ(!roc::test::gate::holds(), done);
  }
  array(roc::slice(0, 1), roc::all).fill(1, stream);
  stream.synchronize();
  EXPECT_EQ(60, array(2, 3).get());
  EXPECT_EQ(1, array(0, 3).get());
}

TEST_F(Map, EmptyArrayIsNotCopied) {
  roc::device_array<int, 2> const none({0, 4});
  roc::platform::set_call_hook(count_copies);
  auto m = roc::map(none, read_write);
  EXPECT_EQ(nullptr, m.data());
  m.unmap();
  EXPECT_THROW(m.unmap(), roc::lifetime_error);
  EXPECT_EQ(0, copies);
}

TEST_F(Map, AcceptsViewsOfConstElements) {
  auto const array = counted();
  roc::device_view<int const, 2> const constant = array.view();
  EXPECT_EQ(7, roc::map(constant, read)(1, 3));
}

TEST_F(Map, HostArrayIsMappedAfterPendingCopies) {
  auto const array = counted();
  roc::stream const stream;
  roc::host_array<int, 2> into({3, 4});
  array.copy_to_host(into, stream);
  auto const m = roc::map(into, read_write);
  EXPECT_EQ(into.data(), m.data());
  EXPECT_EQ(11, m(2, 3));
}

TEST_F(Map, ManagedMemoryIsNotCopied) {
  if (roc::test::on_cpu() && std::getenv("ROCARRAY_HOST_MANAGED") != nullptr &&
      std::string_view(std::getenv("ROCARRAY_HOST_MANAGED")) == "off") {
    GTEST_SKIP() << "no managed memory";
  }
  try {
    static_cast<void>(roc::managed_array<int>(1));
  } catch (roc::error const& error) {
    GTEST_SKIP() << error.what();
  }
  auto array = roc::managed_array<int>(roc::shape<2>{3, 4});
  auto const view = array.device_view();
  roc::stream const stream;
  view.fill(3, stream);
  {
    auto const m = roc::map(array, read_write, stream);
    EXPECT_EQ(array.data(), m.data());
    EXPECT_EQ(3, m(2, 3));
    m(2, 3) = 30;
  }
  view(roc::slice(0, 1), roc::all).fill(4, stream);
  auto m = roc::map(array, read);
  EXPECT_EQ(4, m(0, 3));
  EXPECT_EQ(30, m(2, 3));
  m.unmap();
  EXPECT_THROW(m.unmap(), roc::lifetime_error);
}

// If host and device cannot access managed memory at the same time, all streams must be idle.
TEST_F(Map, WaitsForTheDeviceIfManagedMemoryHasNoConcurrentAccess) {
  int concurrent = 1;
  static_cast<void>(ROCARRAY_HIP_CODE(hipDeviceGetAttribute, &concurrent,
                                      hipDeviceAttributeConcurrentManagedAccess, 0));
  int managed = 0;
  static_cast<void>(
      ROCARRAY_HIP_CODE(hipDeviceGetAttribute, &managed, hipDeviceAttributeManagedMemory, 0));
  if (concurrent != 0 || managed == 0) GTEST_SKIP() << "concurrent access, or no managed memory";
  auto array = roc::managed_array<int>(std::size_t{10});
  roc::device_array<int> const other({10});
  roc::stream const stream;
  roc::stream const other_stream;
  other.fill(1, other_stream);
  auto const m = roc::map(array, write, stream);
  EXPECT_TRUE(other_stream.query());
}

}  // namespace

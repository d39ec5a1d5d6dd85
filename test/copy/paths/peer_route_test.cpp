// SPDX-License-Identifier: MIT
// The calls of HIP with which copies between two devices are done, for every kind of memory. On a
// machine without two connected devices, the tests are skipped.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "platform/call.hpp"
#include "support/call_counter.hpp"
#include "support/options.hpp"

namespace {

using calls = std::vector<std::string>;

constexpr std::size_t rows = 24;
constexpr std::size_t columns = 2048;

class PeerRoute : public testing::Test {
 protected:
  void SetUp() override {
    if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
    if (!roc::device(0).can_access(roc::device(1)) || !roc::device(1).can_access(roc::device(0))) {
      GTEST_SKIP() << "the devices are not connected";
    }
    roc::device(0).make_current();
  }
};

template <std::size_t N>
roc::device_array<int, N> array_on(int ordinal, roc::shape<N> const& shape) {
  roc::device_guard const guard{roc::device(ordinal)};
  return roc::device_array<int, N>(shape);
}

// Returns the calls of roc::test::calls_of without queries of events, which depend on the time.
template <class F>
calls calls_of(F f) {
  calls result = roc::test::calls_of(f);
  std::erase(result, "hipEventQuery");
  return result;
}

bool contains(calls const& all, std::string_view name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

// Returns true if the calls are those of a copy by a kernel, which is not in the list of calls.
bool is_by_kernel(calls const& all) {
  return !contains(all, "hipMemcpyAsync") && !contains(all, "hipMemcpy2DAsync");
}

TEST_F(PeerRoute, ContiguousCopyOnStreamIsOneCopyCall) {
  auto const here = array_on<1>(0, {1024});
  auto const there = array_on<1>(1, {1024});
  roc::stream const stream;
  calls const expected = {"hipGetDevice", "hipMemcpyAsync"};
  EXPECT_EQ(expected, calls_of([&] { roc::copy(here, there, stream); }));
  EXPECT_EQ(expected, calls_of([&] { roc::copy(there, here, stream); }));
  stream.synchronize();
}

TEST_F(PeerRoute, StridedCopyOnStreamIsOneLaunch) {
  auto const here = array_on<2>(0, {rows, columns});
  auto const there = array_on<2>(1, {columns, rows});
  auto const column = array_on<1>(1, {rows});
  roc::stream const stream;
  calls const expected = {"hipGetDevice"};
  EXPECT_EQ(expected, calls_of([&] { roc::copy(here, there.transpose(), stream); }));
  EXPECT_EQ(expected, calls_of([&] { roc::copy(there.transpose(), here, stream); }));
  EXPECT_EQ(expected, calls_of([&] { roc::copy(here(roc::all, 3), column, stream); }));
  stream.synchronize();
}

TEST_F(PeerRoute, LongRowsAreOneCallOfTheCopyEngines) {
  auto const here = array_on<3>(0, {4, rows, columns});
  auto const there = array_on<3>(1, {4, rows, columns});
  auto const half = roc::slice(0, columns / 2);
  auto const part = [&](auto const& array) { return array(0, roc::all, half); };
  roc::stream const stream;
  calls const rows_expected = {"hipGetDevice", "hipMemcpy2DAsync"};
  EXPECT_EQ(rows_expected, calls_of([&] { roc::copy(part(here), part(there), stream); }));
  calls const planes_expected = {"hipGetDevice", "hipMemcpy3DAsync"};
  EXPECT_EQ(planes_expected, calls_of([&] {
              roc::copy(here(roc::all, roc::slice(1, 9), half),
                        there(roc::all, roc::slice(2, 10), half), stream);
            }));
  stream.synchronize();
  // Each path copies the same.
  std::vector<int> numbers(rows * columns);
  std::iota(numbers.begin(), numbers.end(), 0);
  roc::copy(roc::host_view<int const, 2>(numbers.data(), {rows, columns}),
            here(0, roc::all, roc::all));
  for (roc::copy_path const path : {roc::copy_path::kernel, roc::copy_path::dma_2d}) {
    there.fill(-1);
    roc::copy(part(here), part(there), {.path = path});
    EXPECT_EQ(static_cast<int>(5 * columns + 7), there(0, 5, 7).get());
    EXPECT_EQ(-1, there(0, 5, static_cast<int>(columns / 2)).get());
  }
}

TEST_F(PeerRoute, CopyWithoutStreamCreatesNothing) {
  auto const here = array_on<2>(0, {rows, columns});
  auto const there = array_on<2>(1, {columns, rows});
  auto const contiguous_there = array_on<2>(1, {rows, columns});
  for (bool const uses_streams : {false, true}) {
#if defined(__SANITIZE_THREAD__)
    if (uses_streams) break;  // stream_uses does not reuse the events of the fills
#endif
    roc::stream const busy(roc::non_blocking);
    for (bool const is_strided : {false, true}) {
      calls const made = calls_of([&] {
        // Otherwise the copies know that nothing has been enqueued between them.
        if (uses_streams) here.fill(1, busy);
        is_strided ? roc::copy(here, there.transpose()) : roc::copy(here, contiguous_there);
      });
      for (char const* const name : {"hipEventCreateWithFlags", "hipStreamCreateWithFlags",
                                     "hipMalloc", "hipEventDestroy", "hipDeviceEnablePeerAccess"}) {
        EXPECT_FALSE(contains(made, name)) << name;
      }
      EXPECT_EQ(!is_strided, contains(made, "hipMemcpyAsync"));
      if (!uses_streams) {
        EXPECT_FALSE(contains(made, "hipEventRecord"));
      }
    }
  }
}

TEST_F(PeerRoute, AccessIsEnabledOnceForAPair) {
  auto const here = array_on<1>(0, {1024});
  auto const there = array_on<1>(1, {1024});
  roc::test::call_counter const enabled("hipDeviceEnablePeerAccess");
  for (int i = 0; i < 3; ++i) {
    roc::copy(here, there);
    roc::copy(there, here);
    roc::copy(there(roc::slice(0, 1024, 2)), here(roc::slice(0, 512)));
  }
  EXPECT_EQ(2, enabled.count());
}

TEST_F(PeerRoute, AccessThatTheProgramHasEnabledIsUsed) {
  ROCARRAY_HIP(hipDeviceEnablePeerAccess, 1, 0u);
  auto const here = array_on<2>(0, {rows, columns});
  auto const there = array_on<2>(1, {columns, rows});
  roc::stream const stream;
  EXPECT_TRUE(is_by_kernel(calls_of([&] { roc::copy(here, there.transpose(), stream); })));
  stream.synchronize();
}

TEST_F(PeerRoute, OptionTurnsAccessOff) {
  auto const here = array_on<2>(0, {rows, columns});
  auto const there = array_on<2>(1, {columns, rows});
  here.fill(6);
  roc::scoped_options const scope({.peer_access = false});
  calls const made = calls_of([&] { roc::copy(here, there.transpose()); });
  EXPECT_TRUE(contains(made, "hipMemcpyAsync"));
  EXPECT_FALSE(contains(made, "hipDeviceEnablePeerAccess"));
  EXPECT_EQ(6, there(-1, -1).get());
}

TEST_F(PeerRoute, DemandedPathNeedsAccess) {
  auto const here = array_on<2>(0, {rows, columns});
  auto const there = array_on<2>(1, {rows, columns});
  auto const half = roc::slice(0, columns / 2);
  roc::scoped_options const scope({.peer_access = false});
  try {
    roc::copy(here(roc::all, half), there(roc::all, half), {.path = roc::copy_path::dma_2d});
    ADD_FAILURE() << "no error";
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::invalid_argument, error.code());
    EXPECT_NE(std::string::npos,
              std::string(error.what())
                  .find("dma_2d needs peer access between the devices 0 and 1, which "
                        "options::peer_access forbids"))
        << error.what();
  }
}

// Arrays on device 1 from a resource are read and written by a kernel of device 0.
void check_resource(roc::memory_resource& resource) {
  roc::device_array<int, 2> const there({columns, rows}, resource);
  ASSERT_EQ(1, there.device_ordinal());
  auto const here = array_on<2>(0, {rows, columns});
  roc::stream const stream;
  there.fill(3);
  EXPECT_TRUE(is_by_kernel(calls_of([&] { roc::copy(there.transpose(), here, stream); })));
  stream.synchronize();
  EXPECT_EQ(3, here(5, 7).get());
  here.fill(4);
  EXPECT_TRUE(is_by_kernel(calls_of([&] { roc::copy(here, there.transpose(), stream); })));
  stream.synchronize();
  EXPECT_EQ(4, there(7, 5).get());
}

TEST_F(PeerRoute, MemoryOfHipMallocIsAccessible) {
  roc::hip_memory_resource resource(1);
  check_resource(resource);
}

TEST_F(PeerRoute, MemoryOfPoolIsAccessible) {
  roc::hip_memory_resource upstream(1);
  roc::pool_resource resource(upstream);
  check_resource(resource);
  roc::statistics_resource_adaptor adaptor(resource);
  check_resource(adaptor);
}

TEST_F(PeerRoute, MemoryOfDriverPoolIsAccessible) {
  roc::hip_async_memory_resource resource(1);
  check_resource(resource);
  roc::pool_resource pool(resource);
  check_resource(pool);
}

TEST_F(PeerRoute, MemoryOfDriverPoolThatIsCreatedAfterTheAccessIsAccessible) {
  roc::device(0).enable_access(roc::device(1));
  roc::hip_async_memory_resource resource(1);
  check_resource(resource);
}

TEST_F(PeerRoute, ManagedMemoryIsAccessible) {
  if (!roc::device(1).has_concurrent_managed_access()) GTEST_SKIP() << "no managed memory";
  roc::hip_managed_memory_resource resource(1);
  check_resource(resource);
}

// Memory that other code has allocated, by a function of HIP for device 1.
template <class Allocate>
calls calls_with_foreign_memory(Allocate allocate) {
  int* data = nullptr;
  {
    roc::device_guard const guard{roc::device(1)};
    data = allocate(rows * columns * sizeof(int));
  }
  auto const here = array_on<2>(0, {rows, columns});
  roc::device_view<int, 2> const there(data, {columns, rows}, roc::strides<2>{rows, 1}, 1);
  there.fill(3);
  roc::stream const stream;
  calls result = calls_of([&] { roc::copy(there.transpose(), here, stream); });
  stream.synchronize();
  EXPECT_EQ(3, here(5, 7).get());
  return result;
}

TEST_F(PeerRoute, MemoryThatTheDriverReportsAsAccessibleIsAccessed) {
  void* data = nullptr;
  calls const made = calls_with_foreign_memory([&](std::size_t bytes) {
    ROCARRAY_HIP(hipMalloc, &data, bytes);
    return static_cast<int*>(data);
  });
#if ROCARRAY_PLATFORM_AMD
  EXPECT_FALSE(is_by_kernel(made));  // the runtime does not report it
#else
  EXPECT_TRUE(is_by_kernel(made));
#endif
  ROCARRAY_HIP(hipFree, data);
}

TEST_F(PeerRoute, MemoryOfAPoolThatIsNotSharedIsNotAccessed) {
  void* data = nullptr;
  calls const made = calls_with_foreign_memory([&](std::size_t bytes) {
    ROCARRAY_HIP(hipMallocAsync, &data, bytes, nullptr);
    ROCARRAY_HIP(hipDeviceSynchronize);
    return static_cast<int*>(data);
  });
  EXPECT_FALSE(is_by_kernel(made));
  roc::device_guard const guard{roc::device(1)};
  ROCARRAY_HIP(hipFreeAsync, data, nullptr);
  ROCARRAY_HIP(hipDeviceSynchronize);
}

TEST_F(PeerRoute, FailedCallIsReportedAndTriedAgain) {
  auto const here = array_on<2>(0, {rows, columns});
  auto const there = array_on<2>(1, {columns, rows});
  here.fill(2);
  for (char const* const name : {"hipDeviceCanAccessPeer", "hipDeviceEnablePeerAccess"}) {
    ASSERT_TRUE(roc::platform::fail_call(name, 1, hipErrorLaunchFailure));
    try {
      roc::copy(here, there.transpose());
      ADD_FAILURE() << name;
    } catch (roc::error const& error) {
      EXPECT_STREQ(name, error.call());
    }
  }
  roc::copy(here, there.transpose());
  EXPECT_EQ(2, there(7, 5).get());
}

// As on machines with more devices than one can have peers.
TEST_F(PeerRoute, RefusedAccessIsNoError) {
  auto const here = array_on<2>(0, {rows, columns});
  auto const there = array_on<2>(1, {columns, rows});
  here.fill(2);
  constexpr auto too_many_peers = static_cast<hipError_t>(711);
  ASSERT_TRUE(roc::platform::fail_call("hipDeviceEnablePeerAccess", 1, too_many_peers));
  roc::scoped_options const scope({.log = roc::log_level::error});
  calls const made = calls_of([&] { roc::copy(here, there.transpose()); });
  EXPECT_TRUE(contains(made, "hipMemcpyAsync"));
  EXPECT_FALSE(contains(made, "hipDeviceEnablePeerAccess"));
  EXPECT_EQ(2, there(7, 5).get());
}

}  // namespace

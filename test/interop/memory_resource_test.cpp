// SPDX-License-Identifier: MIT
// Adapters between memory resources and those of RMM, cuda::mr and std::pmr: streams, errors,
// alignment, ownership. resource_contract_test and host_resource_test run the contract over them.
#include <roc/interop/cuda_mr.hpp>
#include <roc/interop/foreign_resource.hpp>
#include <roc/interop/pmr.hpp>
#include <roc/interop/rmm.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "interop/foreign_resources.hpp"
#include "interop/stream_order.hpp"
#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

using rmm_adapter = roc::rmm_resource<foreign::device_memory_resource, foreign::stream_view,
                                      foreign::out_of_memory>;
using cuda_adapter = roc::cuda_mr_resource<foreign::device_accessible>;
using host_adapter = roc::cuda_mr_resource<foreign::device_accessible, foreign::host_accessible>;

template <class R, class P>
concept has_property =
    requires(R const& resource, P property) { get_property(resource, property); };

static_assert(has_property<cuda_adapter, foreign::device_accessible>);
static_assert(!has_property<cuda_adapter, foreign::host_accessible>);
static_assert(has_property<host_adapter, foreign::host_accessible>);
static_assert(std::is_constructible_v<roc::foreign_resource<foreign::resource>, foreign::resource,
                                      roc::host_memory>);
static_assert(!std::is_constructible_v<roc::foreign_resource<std::pmr::memory_resource&>,
                                       std::pmr::memory_resource&, roc::host_memory>,
              "memory of std::pmr is always pageable");

// Records the message of the log hook.
class log_capture {
 public:
  log_capture() : previous_(roc::set_log_hook(&log_capture::write)) { text().clear(); }
  ~log_capture() { roc::set_log_hook(previous_); }
  log_capture(log_capture const&) = delete;
  log_capture& operator=(log_capture const&) = delete;
  static std::string& text() {
    static std::string instance;
    return instance;
  }

 private:
  static void write(char const* message) noexcept { text() += std::string(message) + "\n"; }
  roc::log_hook previous_;
};

TEST(ForeignResource, PassesStreamsAndMakesItsDeviceCurrent) {
  foreign::call_log log;
  roc::foreign_resource resource(foreign::resource{&log});
  roc::stream const stream;
  {
    roc::device_array<int> const on_stream({100}, resource, roc::order::c, stream);
    roc::device_array<int> const on_default({200}, resource);
  }
  ASSERT_EQ(4u, log.calls.size());
  EXPECT_EQ(roc::native(stream), log.calls[0].stream);
  EXPECT_EQ(400u, log.calls[0].bytes);
  EXPECT_EQ(nullptr, log.calls[1].stream);
  EXPECT_EQ(nullptr, log.calls[2].stream);
  EXPECT_EQ(800u, log.calls[2].bytes);
  EXPECT_EQ(roc::native(stream), log.calls[3].stream);
  EXPECT_EQ(0, log.blocks);
}

TEST(ForeignResource, PassesOnlyTheStreamOfTheArrayThoughOthersUsedIt) {
  foreign::call_log log;
  roc::foreign_resource resource(foreign::async_resource{&log});
  roc::stream const first;
  roc::stream const second;
  std::vector<char> const expected(100'000, 2);
  for (int i = 0; i < 3; ++i) {
    roc::test::gate gate;
    {
      roc::device_array<char> const old({100'000}, resource, roc::order::c, first);
      gate.close(second);
      old.fill(1, second);
    }
    EXPECT_EQ(roc::native(first), log.calls.back().stream);
    roc::device_array<char> const next({100'000}, resource, roc::order::c, first);
    next.fill(2, first);
    gate.open();
    roc::device().synchronize();
    std::vector<char> actual(100'000);
    next.copy_to_host(actual);
    EXPECT_EQ(expected, actual);
  }
}

TEST(ForeignResource, BorrowsLvaluesAndOwnsRvalues) {
  foreign::async_memory_resource rmm;
  foreign::device_memory_resource& base = rmm;
  roc::foreign_resource borrowed(base);
  EXPECT_EQ(&base, &borrowed.upstream());
  static_assert(
      std::is_same_v<decltype(borrowed), roc::foreign_resource<foreign::device_memory_resource&>>);
  roc::foreign_resource owned(foreign::async_resource{nullptr});
  static_assert(std::is_same_v<decltype(owned), roc::foreign_resource<foreign::async_resource>>);
  roc::foreign_resource same(foreign::async_resource{nullptr});
  foreign::call_log log;
  roc::foreign_resource other(foreign::async_resource{&log});
  EXPECT_TRUE(owned == same);
  EXPECT_FALSE(owned == other);
  EXPECT_FALSE(owned == borrowed);
}

#if !ROCARRAY_PLATFORM_NVIDIA  // a program for amd also runs on the fake HIP runtime
TEST(ForeignResource, TurnsBadAllocIntoOutOfMemory) {
  if (!roc::test::on_cpu()) GTEST_SKIP() << "a device may have unified memory";
  roc::foreign_resource resource(foreign::async_memory_resource{});
  try {
    static_cast<void>(resource.allocate(std::size_t{1} << 40));
    FAIL();
  } catch (roc::out_of_memory const& error) {
    std::string const text = error.what();
    EXPECT_NE(std::string::npos, text.find("1 TiB: foreign: ")) << text;
    EXPECT_EQ(std::errc::not_enough_memory, error.code());
  }
}
#endif

// Returns what it is told to.
struct faulty_resource {
  char* result = nullptr;
  bool throws = false;
  int* deallocations;

  void* allocate_sync(std::size_t, std::size_t) {
    if (throws) throw std::runtime_error("broken");
    return result;
  }
  void deallocate_sync(void*, std::size_t, std::size_t) {
    ++*deallocations;
    if (throws) throw std::runtime_error("broken");
  }
};

TEST(ForeignResource, RefusesNullAndMisalignedMemory) {
  int deallocations = 0;
  alignas(256) static char memory[512];
  roc::foreign_resource null(faulty_resource{nullptr, false, &deallocations});
  EXPECT_THROW(static_cast<void>(null.allocate(10)), roc::out_of_memory);
  roc::foreign_resource misaligned(faulty_resource{memory + 16, false, &deallocations});
  EXPECT_THROW(static_cast<void>(misaligned.allocate(10)), roc::error);
  EXPECT_EQ(1, deallocations) << "the misaligned memory is given back";
}

TEST(ForeignResource, PassesOtherExceptionsAndLogsThoseOfDeallocations) {
  int deallocations = 0;
  alignas(256) static char memory[512];
  roc::foreign_resource resource(faulty_resource{memory, true, &deallocations});
  EXPECT_THROW(static_cast<void>(resource.allocate(10)), std::runtime_error);
  log_capture const log;
  resource.deallocate(memory, 10);
  EXPECT_NE(std::string::npos, log_capture::text().find("broken")) << log_capture::text();
}

TEST(ForeignResource, WithoutStreamsWaitsBeforeItDeallocates) {
  roc::foreign_resource resource(foreign::synchronous_resource{});
  roc::stream const stream;
  { roc::device_array<char>({1000}, resource, roc::order::c, stream).fill(1, stream); }
  EXPECT_TRUE(stream.query());
}

TEST(ForeignResource, ReportsMemoryThatItLeaksBecauseAWaitFails) {
  roc::foreign_resource resource(foreign::synchronous_resource{});
  roc::stream const stream;
  void* data = nullptr;
  log_capture const log;
  {
    roc::device_array<char> const array({1000}, resource, roc::order::c, stream);
    array.fill(1, stream);
    data = array.data();
    ASSERT_TRUE(roc::platform::fail_call("hipStreamSynchronize", 1, hipErrorUnknown,
                                         roc::platform::failing_uses::all_later));
  }
  roc::platform::clear_failures();
  EXPECT_NE(std::string::npos, log_capture::text().find("is leaked: hipStreamSynchronize failed"))
      << log_capture::text();
  stream.synchronize();
  foreign::pool_deallocate(data, nullptr);
}

TEST(ForeignResource, DeallocatesOnTheDefaultStreamIfTheStreamWasDestroyed) {
  foreign::call_log log;
  roc::foreign_resource resource(foreign::resource{&log});
  auto stream = std::make_unique<roc::stream>();
  void* const data = resource.allocate(1000, *stream);
  roc::stream_ref const destroyed = *stream;
  stream.reset();
  resource.deallocate(data, 1000, destroyed);
  EXPECT_EQ(nullptr, log.calls.back().stream);
  EXPECT_EQ(0, log.blocks);
}

TEST(ForeignResource, StatisticsComeFromAnAdaptor) {
  roc::foreign_resource resource(foreign::async_memory_resource{});
  roc::statistics_resource_adaptor counted(resource);
  roc::device_array<char> const array({1000}, counted);
  EXPECT_EQ(1000u, counted.statistics().current_bytes);
  EXPECT_EQ(1u, counted.statistics().current_blocks);
}

// Resources of the library for other libraries

TEST(RmmResource, KeepsTheOrderOfStreams) {
  roc::hip_memory_resource hip;
  roc::pool_resource pool(hip);
  rmm_adapter adapter(pool);
  foreign::expect_stream_order(adapter);
  EXPECT_EQ(0u, pool.statistics().current_bytes);
}

TEST(CudaMrResource, KeepsTheOrderOfStreams) {
  roc::hip_memory_resource hip;
  roc::pool_resource pool(hip);
  foreign::stream_last_view<cuda_adapter> adapter{cuda_adapter(pool)};
  foreign::expect_stream_order(adapter);
  EXPECT_EQ(0u, pool.statistics().current_bytes);
}

TEST(CudaMrResource, MemoryWithoutAStreamIsIdle) {
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned);
  host_adapter adapter(pool);
  constexpr std::size_t bytes = 100'000;
  roc::stream const stream;
  void* const old = adapter.allocate(roc::native(stream), bytes);
  stream.launch_host_function([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  ROCARRAY_HIP(hipMemsetAsync, old, 1, bytes, roc::native(stream));
  adapter.deallocate(roc::native(stream), old, bytes);
  auto* const data = static_cast<char*>(adapter.allocate_sync(bytes));
  std::fill_n(data, bytes, 'x');
  stream.synchronize();
  EXPECT_EQ(std::string(bytes, 'x'), std::string(data, bytes));
  adapter.deallocate_sync(data, bytes);
  EXPECT_EQ(0u, pool.statistics().current_bytes);
}

TEST(RmmResource, ThrowsTheBadAllocOfRmm) {
  roc::limiting_resource_adaptor limited(roc::device_resource(0), 1000);
  rmm_adapter adapter(limited);
  try {
    static_cast<void>(adapter.allocate(2000));
    FAIL();
  } catch (foreign::out_of_memory const& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("exceeds the limit"));
  }
  cuda_adapter concept_adapter(limited);
  EXPECT_THROW(static_cast<void>(concept_adapter.allocate(std::size_t{2000})), std::bad_alloc);
  EXPECT_EQ(nullptr, adapter.allocate(0));
  adapter.deallocate(nullptr, 0);
}

TEST(RmmResource, IsEqualForTheSameResource) {
  roc::hip_memory_resource hip;
  roc::pool_resource pool(hip);
  rmm_adapter const a(pool);
  rmm_adapter const b(pool);
  rmm_adapter const c(hip);
  EXPECT_TRUE(a.is_equal(b));
  EXPECT_FALSE(a.is_equal(c));
  EXPECT_TRUE(cuda_adapter(pool) == cuda_adapter(pool));
  EXPECT_FALSE(cuda_adapter(pool) == cuda_adapter(hip));
}

TEST(CudaMrResource, HonoursAlignmentUpTo256) {
  cuda_adapter adapter(roc::device_resource(0));
  for (std::size_t const alignment : {1u, 16u, 256u}) {
    void* const data = adapter.allocate(std::size_t{10}, alignment);
    EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(data) % alignment);
    adapter.deallocate(data, 10, alignment);
  }
  for (std::size_t const alignment : {0u, 3u, 512u}) {
    EXPECT_THROW(static_cast<void>(adapter.allocate(std::size_t{10}, alignment)), roc::error);
    EXPECT_THROW(static_cast<void>(adapter.allocate(hipStream_t{}, 10, alignment)), roc::error);
  }
}

TEST(CudaMrResource, RefusesPropertiesThatTheMemoryDoesNotHave) {
  EXPECT_THROW(host_adapter(roc::device_resource(0)), roc::error);
  roc::foreign_resource pageable(*std::pmr::new_delete_resource());
  EXPECT_THROW(cuda_adapter{pageable}, roc::error);
  EXPECT_THROW(rmm_adapter{pageable}, roc::error);
}

// std::pmr

TEST(PmrResource, ContainersAreInPinnedMemory) {
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned);
  roc::pmr_resource resource(pool);
  {
    std::pmr::vector<float> v(1000, 3.0f, &resource);
    EXPECT_EQ(1u, pool.statistics().current_blocks);
    auto const device = roc::to_device(v);
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(v, device));
    std::fill(v.begin(), v.end(), 0.0f);
    device.copy_to_host(v);
    EXPECT_EQ(3.0f, v[999]);
    v.resize(100'000, 4.0f);
    EXPECT_EQ(3.0f, v[0]);
  }
  EXPECT_EQ(0u, pool.statistics().current_blocks);
}

TEST(PmrResource, UsesTheResourceOfPinnedArraysByDefault) {
  roc::pmr_resource resource;
  EXPECT_EQ(&roc::pinned_resource(), &resource.upstream());
  auto const before = roc::pinned_resource().statistics().current_blocks;
  std::pmr::string const text(10'000, 'x', &resource);
  EXPECT_EQ(before + 1, roc::pinned_resource().statistics().current_blocks);
}

TEST(PmrResource, DeallocationWaitsForPendingCopies) {
  roc::pmr_resource resource;
  roc::device_array<char> const device({100'000});
  roc::stream const stream;
  {
    std::pmr::vector<char> const v(100'000, 'x', &resource);
    stream.launch_host_function([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
    device.copy_to_device(v, stream);
  }
  std::pmr::vector<char> const reused(100'000, 'y', &resource);
  std::vector<char> actual(100'000);
  device.copy_to_host(actual, stream);
  stream.synchronize();
  EXPECT_EQ(std::vector<char>(100'000, 'x'), actual);
}

TEST(PmrResource, HonoursAnyAlignment) {
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned);
  roc::pmr_resource resource(pool);
  for (std::size_t alignment = 1; alignment <= 65536; alignment *= 4) {
    void* const data = resource.allocate(1000, alignment);
    EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(data) % alignment) << alignment;
    std::fill_n(static_cast<char*>(data), 1000, 'x');
    resource.deallocate(data, 1000, alignment);
  }
  EXPECT_NE(nullptr, resource.allocate(0));
  EXPECT_TRUE(resource.is_equal(resource));
  EXPECT_FALSE(resource.is_equal(roc::pmr_resource(pool)));
}

TEST(PmrResource, ThrowsBadAllocAndReportsWrongDeallocations) {
  roc::limiting_resource_adaptor limited(roc::pinned_resource(), 1000);
  roc::pmr_resource resource(limited);
  EXPECT_THROW(static_cast<void>(resource.allocate(2000)), std::bad_alloc);
  std::size_t const volatile huge = SIZE_MAX;  // the compiler warns of a constant
  EXPECT_THROW(static_cast<void>(resource.allocate(huge, 4096)), std::bad_alloc);
  log_capture const log;
  char foreign_memory = 0;
  resource.deallocate(&foreign_memory, 1);
  EXPECT_NE(std::string::npos, log_capture::text().find("was not allocated by this pmr_resource"));
}

TEST(PmrResource, DestructorDeallocatesWhatIsLeft) {
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned);
  {
    roc::pmr_resource resource(pool);
    static_cast<void>(resource.allocate(1000));
    EXPECT_EQ(1u, pool.statistics().current_blocks);
  }
  EXPECT_EQ(0u, pool.statistics().current_blocks);
}

}  // namespace

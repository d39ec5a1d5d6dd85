// SPDX-License-Identifier: MIT
// The contract of resources of memory for device arrays: one suite for all resources, combinations
// of them, and adapters to and from resources of other libraries.
#include <roc/interop/cuda_mr.hpp>
#include <roc/interop/foreign_resource.hpp>
#include <roc/interop/rmm.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "interop/foreign_resources.hpp"
#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/trim.hpp"

namespace {

// Resources in which each is the upstream of the next one. The last one is tested.
struct stack {
  std::vector<std::unique_ptr<roc::memory_resource>> resources;

  template <class R, class... A>
  stack& add(A&&... arguments) {
    resources.push_back(std::make_unique<R>(std::forward<A>(arguments)...));
    return *this;
  }
  roc::memory_resource& top() const { return *resources.back(); }
  ~stack() {
    while (!resources.empty()) resources.pop_back();
  }
  stack() = default;
  stack(stack&&) = default;
};

struct test_case {
  char const* name;
  std::function<stack()> make;
  bool blocks = false;  // an allocation or a deallocation may block until the device is idle

  friend void PrintTo(test_case const& printed, std::ostream* output) { *output << printed.name; }
};

void silence(char const*) noexcept {}

stack hip() {
  stack s;
  s.add<roc::hip_memory_resource>();
  return s;
}
stack pool() {
  stack s = hip();
  s.add<roc::pool_resource>(s.top());
  return s;
}
stack hip_async() {
  stack s;
  s.add<roc::hip_async_memory_resource>();
  return s;
}
stack managed() {
  stack s;
  s.add<roc::hip_managed_memory_resource>();
  return s;
}
// A resource over one of another library.
template <class R>
stack foreign_upstream(R upstream) {
  stack s;
  s.add<roc::foreign_resource<R>>(std::move(upstream));
  return s;
}
// `A` makes the top of the stack a resource of another library; the result uses that.
template <class A>
stack round_trip(stack s) {
  s.add<roc::foreign_resource<A>>(A(s.top()));
  return s;
}
using rmm_adapter = roc::rmm_resource<foreign::device_memory_resource, foreign::stream_view,
                                      foreign::out_of_memory>;
using cuda_adapter = roc::cuda_mr_resource<foreign::device_accessible>;

// Hides the forms of a resource that have a stream first.
struct async_only : cuda_adapter {
  using cuda_adapter::cuda_adapter;
  void* allocate(std::size_t bytes, std::size_t alignment) {
    return cuda_adapter::allocate(bytes, alignment);
  }
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) {
    cuda_adapter::deallocate(data, bytes, alignment);
  }
};
// Hides all forms with streams.
struct sync_only {
  explicit sync_only(roc::memory_resource& resource) : adapter(resource) {}
  void* allocate_sync(std::size_t bytes, std::size_t alignment) {
    return adapter.allocate_sync(bytes, alignment);
  }
  void deallocate_sync(void* data, std::size_t bytes, std::size_t alignment) {
    adapter.deallocate_sync(data, bytes, alignment);
  }
  cuda_adapter adapter;
};

template <class R, class... A>
stack over(stack s, A... arguments) {
  s.add<R>(s.top(), arguments...);
  return s;
}

test_case const test_cases[] = {
    {"Hip", hip, true},
    {"Pool", pool},
    {"HipAsync", hip_async},
    {"Statistics", [] { return over<roc::statistics_resource_adaptor>(pool()); }},
    {"Limiting",
     [] { return over<roc::limiting_resource_adaptor>(pool(), std::size_t{128} << 20); }},
    {"Logging", [] { return over<roc::logging_resource_adaptor>(pool(), &silence); }},
    {"Failing", [] { return over<roc::failing_resource_adaptor>(pool()); }},
    {"Zeroing", [] { return over<roc::zeroing_resource_adaptor>(pool()); }},
    {"ZeroingHip", [] { return over<roc::zeroing_resource_adaptor>(hip()); }, true},
    {"ZeroingHipAsync", [] { return over<roc::zeroing_resource_adaptor>(hip_async()); }},
    {"PoolOverPool", [] { return over<roc::pool_resource>(pool()); }},
    {"PoolOverStatistics",
     [] { return over<roc::pool_resource>(over<roc::statistics_resource_adaptor>(hip())); }},
    {"AllAdaptors",
     [] {
       return over<roc::logging_resource_adaptor>(
           over<roc::zeroing_resource_adaptor>(
               over<roc::failing_resource_adaptor>(over<roc::limiting_resource_adaptor>(
                   over<roc::statistics_resource_adaptor>(pool()), std::size_t{128} << 20))),
           &silence);
     }},
    {"HipManaged", managed, true},
    {"PoolOverManaged", [] { return over<roc::pool_resource>(managed()); }},
    {"RmmHipAsync", [] { return foreign_upstream(foreign::async_memory_resource()); }},
    {"CudaMr30HipAsync", [] { return foreign_upstream(foreign::async_resource{nullptr}); }},
    {"CudaMr31HipAsync", [] { return foreign_upstream(foreign::resource{nullptr}); }},
    {"SyncHip", [] { return foreign_upstream(foreign::synchronous_resource()); }, true},
    {"PoolOverCudaMr",
     [] { return over<roc::pool_resource>(foreign_upstream(foreign::resource{nullptr})); }},
    {"PoolOverSyncHip",
     [] { return over<roc::pool_resource>(foreign_upstream(foreign::synchronous_resource())); },
     true},
    {"RmmOverPool", [] { return round_trip<rmm_adapter>(pool()); }},
    {"RmmOverHip", [] { return round_trip<rmm_adapter>(hip()); }, true},
    {"CudaMr31OverPool", [] { return round_trip<cuda_adapter>(pool()); }},
    {"CudaMr30OverPool", [] { return round_trip<async_only>(pool()); }},
    {"SyncOverPool", [] { return round_trip<sync_only>(pool()); }, true},
    {"StatisticsOverRmmOverPool",
     [] { return over<roc::statistics_resource_adaptor>(round_trip<rmm_adapter>(pool())); }},
};

class ResourceContract : public testing::TestWithParam<test_case> {
 protected:
  stack resources = GetParam().make();
  roc::memory_resource& resource = resources.top();

  roc::device_array<unsigned char> array(std::size_t bytes, roc::stream_ref stream = {}) {
    return roc::device_array<unsigned char>({bytes}, resource, roc::order::c, stream);
  }
};

INSTANTIATE_TEST_SUITE_P(Resources, ResourceContract, testing::ValuesIn(test_cases),
                         [](auto const& tested) { return std::string(tested.param.name); });

TEST_P(ResourceContract, AllocateReturnsAlignedWritableMemory) {
  for (std::size_t const bytes :
       {1ul, 255ul, 256ul, 257ul, 5000ul, 70'000ul, 1ul << 20, (1ul << 20) + 1, 5'000'000ul}) {
    void* const data = resource.allocate(bytes);
    ASSERT_NE(nullptr, data);
    EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(data) % roc::memory_resource::alignment);
    roc::device_view<unsigned char> const view(static_cast<unsigned char*>(data), {bytes});
    view.fill(7);
    EXPECT_EQ(7, view(static_cast<std::ptrdiff_t>(bytes) - 1).get());
    resource.deallocate(data, bytes);
  }
}

TEST_P(ResourceContract, AllocateReturnsNullForZeroBytes) {
  EXPECT_EQ(nullptr, resource.allocate(0));
  resource.deallocate(nullptr, 0);
  EXPECT_EQ(nullptr, array(0).data());
}

#if !ROCARRAY_PLATFORM_NVIDIA  // a program for amd also runs on the fake HIP runtime
TEST_P(ResourceContract, AllocateThrowsOutOfMemoryForHugeSizes) {
  if (!roc::test::on_cpu()) GTEST_SKIP() << "a device may have unified memory";
  for (std::size_t const bytes : {std::size_t{1} << 40, std::size_t{1} << 62, SIZE_MAX}) {
    EXPECT_THROW(static_cast<void>(resource.allocate(bytes)), roc::out_of_memory) << bytes;
  }
  void* const data = resource.allocate(100);  // the resource still works
  resource.deallocate(data, 100);
}
#endif

TEST_P(ResourceContract, LiveBlocksDoNotOverlap) {
  struct block {
    roc::device_array<unsigned char> data;
    unsigned char value;
  };
  std::vector<block> live;
  auto random = roc::test::random_generator("LiveBlocksDoNotOverlap");
  roc::stream const streams[2];
  for (int i = 0; i < 300; ++i) {
    if (!live.empty() && random() % 2 == 0) {
      std::size_t const index = random() % live.size();
      block const freed = std::move(live[index]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(index));
      auto const last = static_cast<std::ptrdiff_t>(freed.data.size()) - 1;
      ASSERT_EQ(freed.value, freed.data(0).get());
      ASSERT_EQ(freed.value, freed.data(last).get());
    }
    std::size_t const bytes = 1 + random() % (std::size_t{1} << (8 + random() % 13));
    auto const value = static_cast<unsigned char>(random());
    roc::stream_ref const stream = streams[random() % 2];
    live.push_back({array(bytes, stream), value});
    live.back().data.fill(value, random() % 2 == 0 ? stream : roc::stream_ref());
  }
}

TEST_P(ResourceContract, StatisticsCountBytesOfLiveBlocks) {
  auto const before = resource.statistics();
  void* const data = resource.allocate(10'000);
  auto const with = resource.statistics();
  resource.deallocate(data, 10'000);
  auto const after = resource.statistics();
  EXPECT_EQ(before.current_bytes, after.current_bytes);
  EXPECT_EQ(before.current_blocks, after.current_blocks);
  if (with.allocations == 0) return;  // the resource has no statistics
  EXPECT_GE(with.current_bytes, before.current_bytes + 10'000);
  EXPECT_EQ(before.current_blocks + 1, with.current_blocks);
  EXPECT_EQ(before.allocations + 1, with.allocations);
  EXPECT_GE(after.peak_bytes, with.current_bytes);
}

// The fill of the freed block has not finished: it must not overwrite a block that is allocated
// next on another stream.
TEST_P(ResourceContract, MemoryIsReusedOnlyAfterWorkBeforeDeallocation) {
  constexpr std::size_t bytes = 100'000;
  roc::test::gate gate;
  roc::stream const first;
  roc::stream const second;
  auto old = array(bytes, first);
  gate.close(first);
  // Many fills: in mode deferred, a query of the stream runs one of them.
  for (int i = 0; i < 20; ++i) old.fill(1, first);
  // A deallocation that blocks until the device is idle needs an open gate.
  if (GetParam().blocks) gate.open();
  old = {};
  std::vector<roc::device_array<unsigned char>> next;
  // More than the first slab of the pool, so that it looks for memory of the other stream.
  for (int i = 0; i < 24; ++i) {
    next.push_back(array(bytes, second));
    next.back().fill(2, second);
  }
  second.synchronize();
  gate.open();
  first.synchronize();
  for (auto const& next_array : next) {
    std::vector<unsigned char> const expected(bytes, 2);
    std::vector<unsigned char> actual(bytes);
    next_array.copy_to_host(actual);
    EXPECT_EQ(expected, actual);
  }
}

// The stream of the array is idle; another one, whose use the library has recorded, still writes.
TEST_P(ResourceContract, MemoryIsReusedOnlyAfterUsesOnOtherStreams) {
  constexpr std::size_t bytes = 100'000;
  roc::test::gate gate;
  roc::stream const allocation_stream;
  roc::stream const other_stream;
  auto old = array(bytes, allocation_stream);
  gate.close(other_stream);
  old.fill(1, other_stream);  // recorded by the library
  // A deallocation that may block needs an open gate.
  if (GetParam().blocks) gate.open();
  old = {};
  std::vector<roc::device_array<unsigned char>> next;
  for (int i = 0; i < 4; ++i) next.push_back(array(bytes, allocation_stream));
  gate.open();
  // In mode deferred, a missing wait would let the old fill run after these.
  for (auto const& a : next) a.fill(2, allocation_stream);
  allocation_stream.synchronize();
  other_stream.synchronize();
  for (auto const& a : next) {
    EXPECT_EQ(2, a(0).get());
    EXPECT_EQ(2, a(-1).get());
  }
}

TEST_P(ResourceContract, IsSafeToUseFromSeveralThreads) {
  constexpr int threads = 4;
  std::vector<std::thread> running;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      roc::stream const stream;
      for (int i = 0; i < 60; ++i) {
        std::size_t const bytes = 1000 + static_cast<std::size_t>(i % 7) * 3000;
        auto const a = array(bytes, stream);
        auto const b = array(bytes, stream);
        a.fill(static_cast<unsigned char>(t), stream);
        b.fill(static_cast<unsigned char>(t + 100), stream);
        stream.synchronize();
        if (a(-1).get() != t || b(0).get() != t + 100) ++wrong;
      }
    });
  }
  for (auto& thread : running) thread.join();
  EXPECT_EQ(0, wrong);
}

TEST_P(ResourceContract, DeallocateWorksOnAnotherThread) {
  void* const data = resource.allocate(3000);
  std::thread([&] { resource.deallocate(data, 3000); }).join();
  void* const again = resource.allocate(3000);
  EXPECT_NE(nullptr, again);
  resource.deallocate(again, 3000);
}

TEST_P(ResourceContract, EqualsItselfAndNamesItsDevice) {
  EXPECT_TRUE(resource == resource);
  EXPECT_EQ(0, resource.device_ordinal());
}

// Lets each call of HIP fail: the error names the call, and the resource works afterwards.
TEST_P(ResourceContract, WorksAfterAnyFailedCall) {
  auto const log = roc::set_log_hook(silence);
  // Pinned memory needs no staging memory, whose allocation would be affected by the failures too.
  auto seen = roc::pinned_array<unsigned char>(2);
  auto const work = [&] {
    roc::stream const stream;
    auto const a = array(3'000'000, stream);
    auto const b = array(2000);
    a.fill(1);
    b.fill(2, stream);
    stream.synchronize();
    a(roc::slice(0, 1)).copy_to_host(seen(roc::slice(0, 1)));
    b(roc::slice(0, 1)).copy_to_host(seen(roc::slice(1, 2)));
    if (seen(0) != 1 || seen(1) != 2) throw std::logic_error("wrong bytes");
  };
  for (unsigned nth = 1; nth <= 3; ++nth) {
    for (char const* name :
         {"hipMalloc", "hipFree", "hipMallocFromPoolAsync", "hipFreeAsync",
          "hipEventCreateWithFlags", "hipEventRecord", "hipEventQuery", "hipStreamWaitEvent",
          "hipGetDevice", "hipStreamCreateWithFlags", "hipStreamDestroy", "hipMemsetAsync"}) {
      ASSERT_TRUE(roc::platform::fail_call(name, nth, hipErrorLaunchFailure));
      try {
        work();
      } catch (roc::error const& error) {
        EXPECT_STREQ(name, error.call());
      }
      roc::platform::clear_failures();
      roc::device().synchronize();
      EXPECT_NO_THROW(work()) << name;
      resource.trim();
    }
  }
  roc::set_log_hook(log);
}

// Lets each call of HIP fail, and compares the free memory of the device.
TEST_P(ResourceContract, DoesNotLeakIfACallFails) {
  auto const log = roc::set_log_hook(silence);
  roc::stream const allocation_stream;
  roc::stream const other_stream;
  auto const work = [&] {
    auto const a = array(3'000'000, allocation_stream);
    auto const b = array(2000, allocation_stream);
    a.fill(1, other_stream);
    b.fill(2, other_stream);
  };
  // Returns the free memory of the device after all work and a trim. Trims again until it is at
  // least `expected`. On a real device, other processes may change it.
  auto const free_memory = [&](std::size_t expected) {
    if (!roc::test::on_cpu()) return expected;
    roc::device().synchronize();
    std::size_t free = 0;
    roc::test::trim_until(resource, [&] {
      roc::device().synchronize();  // an upstream may free in stream order
      free = roc::device().memory().free;
      return free >= expected;
    });
    EXPECT_EQ(0u, resource.statistics().current_bytes);
    return free;
  };
  work();
  std::size_t const before = free_memory(0);
  for (unsigned nth = 1; nth <= 4; ++nth) {
    for (char const* name :
         {"hipMalloc", "hipFree", "hipMallocFromPoolAsync", "hipFreeAsync",
          "hipEventCreateWithFlags", "hipEventRecord", "hipEventQuery", "hipStreamWaitEvent",
          "hipStreamQuery", "hipGetDevice", "hipMemsetAsync", "hipEventDestroy"}) {
      ASSERT_TRUE(roc::platform::fail_call(name, nth, hipErrorLaunchFailure));
      try {
        work();
      } catch (roc::error const& error) {
        EXPECT_STREQ(name, error.call());
      }
      roc::platform::clear_failures();
      ASSERT_LE(before, free_memory(before)) << name << " " << nth;
    }
  }
  roc::set_log_hook(log);
}

}  // namespace

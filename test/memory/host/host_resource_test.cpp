// SPDX-License-Identifier: MIT
// The contract of resources of host memory: one suite for all resources, combinations of them, and
// adapters to and from resources of other libraries. Also the resource of pinned arrays.
#include <roc/interop/cuda_mr.hpp>
#include <roc/interop/foreign_resource.hpp>
#include <roc/interop/pmr.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <memory_resource>
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

using roc::host_memory;

// Resources in which each is the upstream of the next one. The last one is tested.
struct stack {
  std::vector<std::shared_ptr<void>> objects;
  roc::memory_resource* top = nullptr;

  template <class R, class... A>
  R& keep(A&&... arguments) {
    auto object = std::make_shared<R>(std::forward<A>(arguments)...);
    R& result = *object;
    objects.push_back(std::move(object));
    return result;
  }
  template <class R, class... A>
  stack& add(A&&... arguments) {
    top = &keep<R>(std::forward<A>(arguments)...);
    return *this;
  }
  template <class R, class... A>
  stack& over(A&&... arguments) {
    return add<R>(*top, std::forward<A>(arguments)...);
  }
  ~stack() {
    while (!objects.empty()) objects.pop_back();
  }
  stack() = default;
  stack(stack&&) = default;
};

// Tells if a resource counts its arrays.
enum class statistics { none, counted };

struct test_case {
  char const* name;
  host_memory kind;
  statistics counts;
  std::function<void(stack&)> make;

  friend void PrintTo(test_case const& printed, std::ostream* output) { *output << printed.name; }
};

void silence(char const*) noexcept {}

stack& pinned_pool(stack& s) {
  return s.add<roc::hip_pinned_memory_resource>().over<roc::pool_resource>();
}
stack& mapped(stack& s) { return s.add<roc::hip_pinned_memory_resource>(roc::host_flags::mapped); }
// Throws std::bad_alloc for huge sizes, for which operator new of a sanitizer ends the process.
class limited_new_resource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes > std::size_t{1} << 40) throw std::bad_alloc();
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(data, bytes, alignment);
  }
  bool do_is_equal(std::pmr::memory_resource const& other) const noexcept override {
    return this == &other;
  }
};

stack& pmr_upstream(stack& s) {
  static limited_new_resource upstream;
  return s.add<roc::foreign_resource<std::pmr::memory_resource&>>(upstream);
}

using cuda_adapter = roc::cuda_mr_resource<foreign::device_accessible, foreign::host_accessible>;

test_case const test_cases[] = {
    {"HipPinned", host_memory::pinned, statistics::none,
     [](stack& s) { s.add<roc::hip_pinned_memory_resource>(); }},
    {"HipMapped", host_memory::mapped, statistics::none, [](stack& s) { mapped(s); }},
    {"HipManaged", host_memory::managed, statistics::none,
     [](stack& s) { s.add<roc::hip_managed_memory_resource>(); }},
    {"Cache", host_memory::pinned, statistics::counted,
     [](stack& s) { s.top = &roc::pinned_resource(); }},
    {"LimitingCache", host_memory::pinned, statistics::counted,
     [](stack& s) {
       s.top = &roc::pinned_resource();
       s.over<roc::limiting_resource_adaptor>(std::size_t{128} << 20);
     }},
    {"PinnedPool", host_memory::pinned, statistics::counted, [](stack& s) { pinned_pool(s); }},
    {"MappedPool", host_memory::mapped, statistics::counted,
     [](stack& s) { mapped(s).over<roc::pool_resource>(); }},
    {"ManagedPool", host_memory::managed, statistics::counted,
     [](stack& s) { s.add<roc::hip_managed_memory_resource>().over<roc::pool_resource>(); }},
    {"PoolOverPool", host_memory::pinned, statistics::counted,
     [](stack& s) { pinned_pool(s).over<roc::pool_resource>(); }},
    {"AllAdaptors", host_memory::pinned, statistics::counted,
     [](stack& s) {
       pinned_pool(s)
           .over<roc::statistics_resource_adaptor>()
           .over<roc::limiting_resource_adaptor>(std::size_t{128} << 20)
           .over<roc::failing_resource_adaptor>()
           .over<roc::zeroing_resource_adaptor>()
           .over<roc::logging_resource_adaptor>(&silence);
     }},
    {"ZeroingHipPinned", host_memory::pinned, statistics::none,
     [](stack& s) {
       s.add<roc::hip_pinned_memory_resource>().over<roc::zeroing_resource_adaptor>();
     }},
    {"ZeroingCache", host_memory::pinned, statistics::counted,
     [](stack& s) {
       s.top = &roc::pinned_resource();
       s.over<roc::zeroing_resource_adaptor>();
     }},
    {"Pmr", host_memory::pageable, statistics::none, [](stack& s) { pmr_upstream(s); }},
    {"ZeroingPmr", host_memory::pageable, statistics::none,
     [](stack& s) { pmr_upstream(s).over<roc::zeroing_resource_adaptor>(); }},
    {"ZeroingPoolOverPmr", host_memory::pageable, statistics::counted,
     [](stack& s) {
       pmr_upstream(s).over<roc::pool_resource>().over<roc::zeroing_resource_adaptor>();
     }},
    {"PoolOverPmr", host_memory::pageable, statistics::counted,
     [](stack& s) { pmr_upstream(s).over<roc::pool_resource>(); }},
    {"CudaMrOverPinnedPool", host_memory::pinned, statistics::none,
     [](stack& s) {
       cuda_adapter adapter(*pinned_pool(s).top);
       s.add<roc::foreign_resource<cuda_adapter>>(std::move(adapter), host_memory::pinned);
     }},
};

class HostResourceContract : public testing::TestWithParam<test_case> {
 protected:
  void SetUp() override {
    if (GetParam().kind == host_memory::managed && !roc::device().has_managed_memory()) {
      GTEST_SKIP() << "the device has no managed memory";
    }
    GetParam().make(resources_);
  }
  roc::memory_resource& resource() { return *resources_.top; }
  roc::host_array<unsigned char> array(std::size_t bytes) {
    return {roc::shape<1>{bytes}, resource()};
  }

 private:
  stack resources_;
};

// Resources with statistics.
class HostResourceStatistics : public HostResourceContract {};
// Resources of memory that the device accesses in the order of streams.
class HostResourceOfDeviceMemory : public HostResourceContract {};

template <class Predicate>
std::vector<test_case> cases_if(Predicate is_tested) {
  std::vector<test_case> result;
  std::copy_if(std::begin(test_cases), std::end(test_cases), std::back_inserter(result), is_tested);
  return result;
}

std::string name_of(testing::TestParamInfo<test_case> const& tested) { return tested.param.name; }

INSTANTIATE_TEST_SUITE_P(Resources, HostResourceContract, testing::ValuesIn(test_cases), name_of);
INSTANTIATE_TEST_SUITE_P(Resources, HostResourceStatistics,
                         testing::ValuesIn(cases_if([](test_case const& tested) {
                           return tested.counts == statistics::counted;
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Resources, HostResourceOfDeviceMemory,
                         testing::ValuesIn(cases_if([](test_case const& tested) {
                           return tested.kind != host_memory::pageable;
                         })),
                         name_of);

TEST_P(HostResourceContract, NamesItsKindAndEqualsItself) {
  EXPECT_EQ(GetParam().kind, resource().host_kind());
  EXPECT_TRUE(resource() == resource());
  EXPECT_EQ(GetParam().kind, array(10).kind());
}

TEST_P(HostResourceContract, ArraysAreAlignedAndCanBeCopied) {
  for (std::size_t const bytes : {1ul, 257ul, 70'000ul, (1ul << 20) + 1, 5'000'000ul}) {
    auto a = array(bytes);
    EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(a.data()) % roc::memory_resource::alignment);
    std::fill_n(a.data(), a.size(), static_cast<unsigned char>(7));
    auto const on_device = roc::to_device(a);
    std::fill_n(a.data(), a.size(), static_cast<unsigned char>(0));
    on_device.copy_to_host(a);
    EXPECT_EQ(static_cast<std::ptrdiff_t>(bytes), std::count(a.data(), a.data() + bytes, 7));
  }
}

TEST_P(HostResourceContract, ArraysWithoutElementsHaveNoMemory) {
  EXPECT_EQ(nullptr, array(0).data());
  EXPECT_EQ(nullptr, resource().allocate(0));
}

TEST_P(HostResourceContract, PinnedMemoryIsCopiedByDma) {
  auto const a = array(1 << 20);
  roc::device_array<unsigned char> const device({1 << 20});
  bool const is_pinned = GetParam().kind != host_memory::pageable;
  EXPECT_EQ(is_pinned ? roc::copy_path::dma : roc::copy_path::staged, roc::planned_path(a, device));
}

#if !ROCARRAY_PLATFORM_NVIDIA  // a program for amd also runs on the fake HIP runtime
TEST_P(HostResourceContract, ThrowsOutOfMemoryForHugeSizes) {
  if (!roc::test::on_cpu()) GTEST_SKIP() << "managed and pageable memory may be overcommitted";
  for (std::size_t const bytes : {std::size_t{1} << 50, std::size_t{1} << 62, SIZE_MAX}) {
    EXPECT_THROW(static_cast<void>(resource().allocate(bytes)), roc::out_of_memory) << bytes;
  }
  EXPECT_NO_THROW(static_cast<void>(array(100)));
}
#endif

TEST_P(HostResourceContract, LiveArraysDoNotOverlap) {
  std::vector<roc::host_array<unsigned char>> live;
  auto random = roc::test::random_generator("LiveArraysDoNotOverlap");
  for (int i = 0; i < 200; ++i) {
    if (!live.empty() && random() % 2 == 0) {
      auto const index = static_cast<std::ptrdiff_t>(random() % live.size());
      auto const freed = std::move(live[static_cast<std::size_t>(index)]);
      live.erase(live.begin() + index);
      ASSERT_EQ(freed(0), freed(-1));
    }
    live.push_back(array(1 + random() % (std::size_t{1} << (8 + random() % 13))));
    std::fill_n(live.back().data(), live.back().size(), static_cast<unsigned char>(random()));
  }
}

TEST_P(HostResourceStatistics, CountLiveArrays) {
  auto const before = resource().statistics();
  {
    auto const a = array(10'000);
    auto const with = resource().statistics();
    EXPECT_GE(with.current_bytes, before.current_bytes + 10'000);
    EXPECT_EQ(before.current_blocks + 1, with.current_blocks);
    EXPECT_EQ(before.allocations + 1, with.allocations);
    EXPECT_GE(with.peak_bytes, with.current_bytes);
  }
  EXPECT_EQ(before.current_bytes, resource().statistics().current_bytes);
  roc::test::trim_until(resource(), [&] { return resource().statistics().free_bytes == 0; });
  EXPECT_EQ(0u, resource().statistics().free_bytes);
}

TEST_P(HostResourceContract, MemoryIsReusedOnlyAfterPendingCopies) {
  constexpr std::size_t bytes = 300'000;
  roc::stream const stream;
  roc::device_array<unsigned char> const device({bytes});
  for (int i = 0; i < 3; ++i) {
    {
      auto a = array(bytes);
      std::fill_n(a.data(), a.size(), static_cast<unsigned char>(1));
      device.copy_to_device(a, stream);
    }
    auto next = array(bytes);
    std::fill_n(next.data(), next.size(), static_cast<unsigned char>(2));
    std::vector<unsigned char> actual(bytes);
    device.copy_to_host(actual);
    EXPECT_EQ(std::vector<unsigned char>(bytes, 1), actual);
  }
}

// Blocks work that is enqueued on `stream` later for a while.
void delay(roc::stream_ref stream) {
  stream.launch_host_function([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
}

using bytes_view = roc::memory_view<unsigned char, 1>;

// Ways to copy host memory that is given by its address to the device.
struct copy_by_address {
  char const* name;
  void (*copy)(unsigned char* from, roc::device_array<unsigned char> const& to, roc::stream_ref);
};
copy_by_address const copies_by_address[] = {
    {"copy",
     [](unsigned char* from, roc::device_array<unsigned char> const& to, roc::stream_ref stream) {
       roc::copy(bytes_view(from, roc::shape<1>{to.size()}), to, stream);
     }},
    {"at(host)",
     [](unsigned char* from, roc::device_array<unsigned char> const& to, roc::stream_ref stream) {
       bytes_view const view(from, roc::shape<1>{to.size()});
       roc::copy(view.at(roc::memory_location::host()), to, stream);
     }},
    {"memcpy", [](unsigned char* from, roc::device_array<unsigned char> const& to,
                  roc::stream_ref stream) { roc::memcpy(to.data(), from, to.size(), stream); }},
};

TEST_P(HostResourceContract, CopiesFindMemoryByItsAddress) {
  constexpr std::size_t bytes = 100'000;
  roc::device_array<unsigned char> const device({bytes});
  for (auto const& by_address : copies_by_address) {
    auto a = array(bytes);
    std::fill_n(a.data(), bytes, static_cast<unsigned char>(3));
    ASSERT_NO_THROW(by_address.copy(a.data(), device, {})) << by_address.name;
    roc::device().synchronize();
    std::fill_n(a.data(), bytes, static_cast<unsigned char>(0));
    roc::memcpy(a.data(), device.data(), bytes);
    EXPECT_EQ(static_cast<std::ptrdiff_t>(bytes), std::count(a.data(), a.data() + bytes, 3))
        << by_address.name;
  }
}

TEST_P(HostResourceContract, DestructorWaitsForCopiesThatFoundMemoryByItsAddress) {
  constexpr std::size_t bytes = 300'000;
  roc::stream const stream(roc::non_blocking);
  roc::device_array<unsigned char> const device({bytes});
  roc::device().synchronize();
  for (auto const& by_address : copies_by_address) {
    for (int i = 0; i < 3; ++i) {
      {
        auto a = array(bytes);
        std::fill_n(a.data(), bytes, static_cast<unsigned char>(1));
        delay(stream);
        by_address.copy(a.data(), device, stream);
      }
      auto next = array(bytes);
      std::fill_n(next.data(), bytes, static_cast<unsigned char>(2));
      stream.synchronize();
      std::vector<unsigned char> actual(bytes);
      device.copy_to_host(actual);
      EXPECT_EQ(std::vector<unsigned char>(bytes, 1), actual) << by_address.name;
    }
  }
}

// What a resource does with the memory of a destroyed array must not change the next array.
TEST_P(HostResourceContract, DestroyedArraysLeaveTheNextOneUnchanged) {
  constexpr std::size_t bytes = 4'000'000;
  for (int i = 0; i < 3; ++i) {
    {
      auto const a = array(bytes);
      delay({});
    }
    auto next = array(bytes);
    std::fill_n(next.data(), bytes, static_cast<unsigned char>(2));
    roc::device().synchronize();
    EXPECT_EQ(static_cast<std::ptrdiff_t>(bytes), std::count(next.data(), next.data() + bytes, 2));
  }
}

// The host accesses an array at once. Memory that was deallocated in the order of a stream, whose
// work still writes it, must not be handed out before that.
TEST_P(HostResourceOfDeviceMemory, ArraysWaitForWorkBeforeADeallocationOnAStream) {
  constexpr std::size_t bytes = 100'000;
  for (bool const is_default : {true, false}) {
    roc::stream const own;
    roc::stream_ref const stream =
        is_default ? roc::stream_ref() : static_cast<roc::stream_ref>(own);
    void* const data = resource().allocate(bytes, stream);
    delay(stream);
    ROCARRAY_HIP(hipMemsetAsync, data, 1, bytes, roc::native(stream));
    resource().deallocate(data, bytes, stream);
    std::vector<roc::host_array<unsigned char>> next;
    for (int i = 0; i < 4; ++i) {
      next.push_back(array(bytes));
      std::fill_n(next.back().data(), next.back().size(), static_cast<unsigned char>(2));
    }
    roc::device().synchronize();
    for (auto const& a : next) {
      EXPECT_EQ(static_cast<std::ptrdiff_t>(bytes), std::count(a.data(), a.data() + bytes, 2));
    }
  }
}

TEST_P(HostResourceContract, IsSafeToUseFromSeveralThreads) {
  std::vector<std::thread> running;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    running.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        auto a = array(1000 + static_cast<std::size_t>(i % 7) * 3000);
        std::fill_n(a.data(), a.size(), static_cast<unsigned char>(t));
        if (a(0) != t || a(-1) != t) ++wrong;
      }
    });
  }
  for (auto& thread : running) thread.join();
  EXPECT_EQ(0, wrong);
}

TEST_P(HostResourceContract, DeviceArraysAreRefusedUnlessItIsManaged) {
  auto const make = [&] { return roc::device_array<int>(roc::shape<1>{10}, resource()); };
  if (GetParam().kind == host_memory::managed) {
    make().fill(1);
    return;
  }
  EXPECT_THROW(make(), roc::error);
  EXPECT_THROW(roc::set_device_resource(0, &resource()), roc::error);
}

// Lets each call of HIP fail: the resource works afterwards, and has no block in use.
TEST_P(HostResourceContract, WorksAfterAnyFailedCall) {
  auto const log = roc::set_log_hook(silence);
  roc::device_array<unsigned char> const device({5000});
  roc::stream const stream;
  auto const work = [&] {
    auto a = array(5000);
    auto b = array(3'000'000);
    std::fill_n(a.data(), a.size(), static_cast<unsigned char>(1));
    device.copy_to_device(a, stream);
  };
  work();
  std::size_t const before = resource().statistics().current_bytes;
  for (unsigned nth = 1; nth <= 3; ++nth) {
    for (char const* name :
         {"hipHostMalloc", "hipHostFree", "hipMallocManaged", "hipFree", "hipStreamSynchronize",
          "hipEventCreateWithFlags", "hipEventRecord", "hipEventQuery", "hipEventSynchronize",
          "hipGetDevice", "hipMemsetAsync"}) {
      ASSERT_TRUE(roc::platform::fail_call(name, nth, hipErrorLaunchFailure));
      try {
        work();
      } catch (roc::error const&) {
      }
      roc::platform::clear_failures();
      roc::device().synchronize();
      EXPECT_NO_THROW(work()) << name;
      roc::test::trim_until(resource(),
                            [&] { return resource().statistics().current_bytes == before; });
      EXPECT_EQ(before, resource().statistics().current_bytes) << name << " " << nth;
    }
  }
  roc::set_log_hook(log);
}

// Resources of pinned memory

TEST(HostArray, ResourceOfDeviceMemoryIsRefused) {
  EXPECT_THROW(roc::host_array<int>(roc::shape<1>{10}, roc::device_resource(0)), roc::error);
  EXPECT_THROW(roc::pmr_resource(roc::device_resource(0)), roc::error);
}

TEST(PinnedArrayFromResource, DemandsItsKind) {
  roc::hip_pinned_memory_resource pinned;
  roc::hip_pinned_memory_resource with_view(roc::host_flags::mapped);
  EXPECT_EQ(host_memory::pinned,
            roc::pinned_array<int>(roc::shape<2>{2, 3}, pinned, roc::order::f).kind());
  EXPECT_EQ(host_memory::mapped, roc::pinned_array<int>(roc::shape<1>{3}, with_view).kind());
  EXPECT_THROW(static_cast<void>(roc::mapped_array<int>(roc::shape<1>{3}, pinned)),
               roc::registration_error);
  auto array = roc::mapped_array<int>(roc::shape<1>{300}, with_view);
  array.device_view().fill(5);
  EXPECT_EQ(5, array(299));
}

TEST(PinnedArrayFromResource, PoolKeepsItsLimit) {
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned, {.limit = std::size_t{4} << 20});
  auto const first = roc::pinned_array<char>(roc::shape<1>{3 << 20}, pool);
  EXPECT_THROW(static_cast<void>(roc::pinned_array<char>(roc::shape<1>{3 << 20}, pool)),
               roc::out_of_memory);
}

TEST(PinnedArrayFromResource, PoolReusesMemoryWithoutACallOfHip) {
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned);
  for (std::size_t const bytes : {1000, 3'000'000}) {
    void const* const first = roc::pinned_array<char>(roc::shape<1>{bytes}, pool).data();
    static std::atomic<int> calls;
    calls = 0;
    auto const hook = roc::platform::set_call_hook([](roc::platform::call_record const& record) {
      if (std::string(record.name).starts_with("hipHost")) ++calls;
    });
    auto const again = roc::pinned_array<char>(roc::shape<1>{bytes}, pool);
    roc::platform::set_call_hook(hook);
    EXPECT_EQ(first, again.data());
    EXPECT_EQ(0, calls);
  }
}

// The work is recorded for the block of the pool, not for the array.
TEST(PinnedArrayFromResource, DestructorWaitsForWorkOnTheBlockOfAPool) {
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned);
  struct without_streams {
    void* allocate_sync(std::size_t bytes, std::size_t alignment) {
      return adapter.allocate_sync(bytes, alignment);
    }
    void deallocate_sync(void* data, std::size_t bytes, std::size_t alignment) {
      adapter.deallocate_sync(data, bytes, alignment);
    }
    cuda_adapter adapter;
  };
  roc::foreign_resource over_pool(without_streams{cuda_adapter(pool)}, host_memory::pinned);
  constexpr std::size_t bytes = 1'000'000;
  for (roc::memory_resource* resource : {static_cast<roc::memory_resource*>(&pool),
                                         static_cast<roc::memory_resource*>(&over_pool)}) {
    roc::stream const stream(roc::non_blocking);
    {
      auto a = roc::pinned_array<unsigned char>(roc::shape<1>{bytes}, *resource);
      delay(stream);
      roc::device_view<unsigned char>(a.data(), {bytes}).fill(1, stream);
    }
    auto next = roc::pinned_array<unsigned char>(roc::shape<1>{bytes}, *resource);
    std::fill_n(next.data(), bytes, static_cast<unsigned char>(2));
    stream.synchronize();
    EXPECT_EQ(static_cast<std::ptrdiff_t>(bytes), std::count(next.data(), next.data() + bytes, 2));
  }
}

// Device arrays in a pool of managed memory are tracked as others are.
TEST(DeviceArray, InAPoolOfManagedMemoryIsCopiedByItsAddress) {
  if (!roc::device().has_managed_memory()) GTEST_SKIP() << "the device has no managed memory";
  roc::hip_managed_memory_resource managed;
  roc::pool_resource pool(managed);
  constexpr std::size_t bytes = 100'000;
  roc::stream const stream(roc::non_blocking);
  roc::stream const other(roc::non_blocking);
  std::vector<unsigned char> const source(bytes, 1);
  {
    roc::device_array<unsigned char> const a({bytes}, pool, roc::order::c, other);
    delay(stream);
    roc::memcpy(a.data(), source.data(), bytes, stream);
  }
  roc::device_array<unsigned char> const next({bytes}, pool, roc::order::c, other);
  next.fill(2, other);
  other.synchronize();
  stream.synchronize();
  std::vector<unsigned char> actual(bytes);
  roc::memcpy(actual.data(), next.data(), bytes);
  EXPECT_EQ(std::vector<unsigned char>(bytes, 2), actual);
}

// Checks what is deallocated, and that no calls overlap.
class checking_upstream final : public std::pmr::memory_resource {
 public:
  std::atomic<int> blocks = 0;
  std::atomic<int> cleared = 0;  // deallocated blocks of zeros
  std::atomic<int> overlaps = 0;

 private:
  void enter() {
    if (inside_.exchange(true)) ++overlaps;
    std::this_thread::yield();
  }
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    enter();
    ++blocks;
    void* const data = std::pmr::new_delete_resource()->allocate(bytes, alignment);
    inside_ = false;
    return data;
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    enter();
    --blocks;
    auto const* const begin = static_cast<unsigned char const*>(data);
    if (std::count(begin, begin + bytes, 0) == static_cast<std::ptrdiff_t>(bytes)) ++cleared;
    std::pmr::new_delete_resource()->deallocate(data, bytes, alignment);
    inside_ = false;
  }
  bool do_is_equal(std::pmr::memory_resource const& other) const noexcept override {
    return this == &other;
  }

  std::atomic<bool> inside_ = false;
};

TEST(ZeroingResourceAdaptor, ClearsPageableMemory) {
  checking_upstream upstream;
  roc::foreign_resource pageable(upstream);
  roc::zeroing_resource_adaptor zeroing(pageable);
  {
    auto array = roc::host_array<char>(roc::shape<1>{10'000}, zeroing);
    std::fill_n(array.data(), array.size(), 'x');
  }
  EXPECT_EQ(0, upstream.blocks);
  EXPECT_EQ(1, upstream.cleared);
  void* const data = zeroing.allocate(1000);  // deallocated with prior work
  std::fill_n(static_cast<char*>(data), 1000, 'x');
  zeroing.deallocate(data, 1000);
  EXPECT_EQ(0, upstream.blocks);
  EXPECT_EQ(2, upstream.cleared);
}

TEST(ForeignResource, SerializesTheCallsOfAPmrResource) {
  checking_upstream upstream;
  roc::foreign_resource pageable(upstream);
  std::vector<std::thread> running;
  for (int t = 0; t < 4; ++t) {
    running.emplace_back([&] {
      for (int i = 0; i < 200; ++i) pageable.deallocate(pageable.allocate(10'000), 10'000);
    });
  }
  for (auto& thread : running) thread.join();
  EXPECT_EQ(0, upstream.overlaps);
  EXPECT_EQ(0, upstream.blocks);
}

TEST(HostArrayDestructor, ReportsThatItsResourceWasDestroyed) {
  static std::string logged;
  logged.clear();
  auto const log = roc::set_log_hook([](char const* text) noexcept { logged += text; });
  {
    auto pinned = std::make_unique<roc::hip_pinned_memory_resource>();
    auto const array = roc::pinned_array<char>(roc::shape<1>{100}, *pinned);
    pinned.reset();
  }
  roc::set_log_hook(log);
  EXPECT_NE(std::string::npos, logged.find("outlived its memory resource")) << logged;
}

TEST(HostArray, MemoryOfALivePmrContainerIsRefused) {
  roc::hip_pinned_memory_resource pinned;
  roc::pmr_resource adapter(pinned);
  roc::foreign_resource upstream(adapter);
  EXPECT_THROW(roc::host_array<char>(roc::shape<1>{100}, upstream), roc::error);
  roc::pool_resource pool(upstream);
  EXPECT_THROW(roc::host_array<char>(roc::shape<1>{100}, pool), roc::error);
  EXPECT_EQ(0u, pool.statistics().current_blocks);
}

// The resource of pinned arrays

TEST(PinnedResource, IsTheCacheByDefault) {
  auto const before = roc::pinned_resource().statistics();
  auto const array = roc::pinned_array<char>(10'000);
  auto const with = roc::pinned_resource().statistics();
  EXPECT_EQ(before.current_blocks + 1, with.current_blocks);
  EXPECT_GE(with.current_bytes, before.current_bytes + 10'000);
}

TEST(PinnedResource, CacheReportsAWrongDeallocation) {
  static std::string logged;
  logged.clear();
  auto const log = roc::set_log_hook([](char const* text) noexcept { logged += text; });
  void* const data = roc::pinned_resource().allocate(100);
  roc::pinned_resource().deallocate(data, 100);
  roc::pinned_resource().deallocate(data, 100);
  roc::set_log_hook(log);
  EXPECT_NE(std::string::npos, logged.find("was not allocated by this resource")) << logged;
}

TEST(SetPinnedResource, ServesPinnedArraysAndMap) {
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned);
  roc::memory_resource* const previous = roc::set_pinned_resource(&pool);
  EXPECT_EQ(&pool, &roc::pinned_resource());
  {
    auto const array = roc::pinned_array<char>(100);
    EXPECT_EQ(1u, pool.statistics().current_blocks);
    roc::device_array<char> const device({100});
    device.zero();
    auto const mapping = roc::map(device, roc::access::read);
    EXPECT_EQ(2u, pool.statistics().current_blocks);
    auto const combined = roc::pinned_array<char>(100, roc::host_flags::write_combined);
    EXPECT_EQ(2u, pool.statistics().current_blocks) << "other flags are served by the cache";
  }
  EXPECT_EQ(0u, pool.statistics().current_blocks);
  EXPECT_EQ(&pool, roc::set_pinned_resource(previous));
  EXPECT_EQ(previous, &roc::pinned_resource());
}

// The staging memory of the mapping is given back while its copy is blocked by the gate.
TEST(SetPinnedResource, PoolDoesNotReuseMemoryOfPendingCopies) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned);
  roc::memory_resource* const previous = roc::set_pinned_resource(&pool);
  {
    roc::device_array<char> const device({100'000});
    roc::stream const stream(roc::non_blocking);
    auto mapping = roc::map(device, roc::access::write, stream);
    auto const* const staging = mapping.data();
    std::fill_n(mapping.view().data(), 100'000, 'x');
    roc::test::gate gate;
    gate.close(stream);
    mapping.unmap();
    auto other = roc::pinned_array<char>(100'000);
    EXPECT_NE(staging, other.data());
    std::fill_n(other.data(), other.size(), 'y');
    gate.open();
    stream.synchronize();
    std::vector<char> back(100'000);
    device.copy_to_host(back);
    EXPECT_EQ(std::vector<char>(100'000, 'x'), back);
  }
  roc::set_pinned_resource(previous);
}

TEST(SetPinnedResource, IsForgottenWhenItIsDestroyed) {
  roc::memory_resource& cache = roc::pinned_resource();
  {
    roc::hip_pinned_memory_resource pinned;
    roc::set_pinned_resource(&pinned);
    EXPECT_EQ(&pinned, &roc::pinned_resource());
  }
  EXPECT_EQ(&cache, &roc::pinned_resource());
}

TEST(SetPinnedResource, ThrowsForMemoryThatIsNotPinned) {
  EXPECT_THROW(roc::set_pinned_resource(&roc::device_resource(0)), roc::error);
  roc::foreign_resource pageable(*std::pmr::new_delete_resource());
  EXPECT_THROW(roc::set_pinned_resource(&pageable), roc::error);
  roc::hip_pinned_memory_resource with_view(roc::host_flags::mapped);
  EXPECT_THROW(roc::set_pinned_resource(&with_view), roc::error);
}

TEST(HipPinnedMemoryResource, ThrowsForContradictoryFlagsAndUnknownDevices) {
  EXPECT_THROW(
      roc::hip_pinned_memory_resource(roc::host_flags::coherent | roc::host_flags::non_coherent),
      roc::error);
  EXPECT_THROW(roc::hip_pinned_memory_resource(roc::host_flags::portable, 1000), roc::error);
}

}  // namespace

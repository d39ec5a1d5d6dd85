// SPDX-License-Identifier: MIT
// What every memory resource promises: one suite, over all of them and over stacks of them.
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

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

// Resources, each with what it stands on, the last the one that is tested.
struct stack {
  std::vector<std::unique_ptr<roc::memory_resource>> parts;

  template <class R, class... A>
  stack& add(A&&... arguments) {
    parts.push_back(std::make_unique<R>(std::forward<A>(arguments)...));
    return *this;
  }
  roc::memory_resource& top() const { return *parts.back(); }
  ~stack() {
    while (!parts.empty()) parts.pop_back();
  }
  stack() = default;
  stack(stack&&) = default;
};

struct kind {
  char const* name;
  std::function<stack()> make;

  friend void PrintTo(kind const& printed, std::ostream* to) { *to << printed.name; }
};

void silence(char const*) noexcept {}

stack direct() {
  stack s;
  s.add<roc::hip_memory_resource>();
  return s;
}
stack pool() {
  stack s = direct();
  s.add<roc::pool_resource>(s.top());
  return s;
}
stack driver_pool() {
  stack s;
  s.add<roc::hip_async_memory_resource>();
  return s;
}
template <class R, class... A>
stack over(stack s, A... arguments) {
  s.add<R>(s.top(), arguments...);
  return s;
}

kind const kinds[] = {
    {"Direct", direct},
    {"Pool", pool},
    {"DriverPool", driver_pool},
    {"Statistics", [] { return over<roc::statistics_resource_adaptor>(pool()); }},
    {"Limit", [] { return over<roc::limiting_resource_adaptor>(pool(), std::size_t{128} << 20); }},
    {"Logging", [] { return over<roc::logging_resource_adaptor>(pool(), &silence); }},
    {"Failing", [] { return over<roc::failing_resource_adaptor>(pool()); }},
    {"Zeroing", [] { return over<roc::zeroing_resource_adaptor>(pool()); }},
    {"ZeroingDirect", [] { return over<roc::zeroing_resource_adaptor>(direct()); }},
    {"ZeroingDriverPool", [] { return over<roc::zeroing_resource_adaptor>(driver_pool()); }},
    {"PoolOverPool", [] { return over<roc::pool_resource>(pool()); }},
    {"PoolOverStatistics",
     [] { return over<roc::pool_resource>(over<roc::statistics_resource_adaptor>(direct())); }},
    {"Everything",
     [] {
       return over<roc::logging_resource_adaptor>(
           over<roc::zeroing_resource_adaptor>(over<roc::failing_resource_adaptor>(over<roc::limiting_resource_adaptor>(
               over<roc::statistics_resource_adaptor>(pool()), std::size_t{128} << 20))),
           &silence);
     }},
};

class ResourceContract : public testing::TestWithParam<kind> {
 protected:
  stack made = GetParam().make();
  roc::memory_resource& resource = made.top();

  roc::device_array<unsigned char> array(std::size_t bytes, roc::stream_ref stream = {}) {
    return roc::device_array<unsigned char>({bytes}, resource, roc::order::c, stream);
  }
};

INSTANTIATE_TEST_SUITE_P(Resources, ResourceContract, testing::ValuesIn(kinds),
                         [](auto const& tested) { return std::string(tested.param.name); });

TEST_P(ResourceContract, MemoryIsAlignedAndWritable) {
  for (std::size_t const bytes : {1ul, 255ul, 256ul, 257ul, 5000ul, 70'000ul, 1ul << 20,
                                  (1ul << 20) + 1, 5'000'000ul}) {
    void* const data = resource.allocate(bytes);
    ASSERT_NE(nullptr, data);
    EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(data) % roc::memory_resource::alignment);
    roc::device_view<unsigned char> const view(static_cast<unsigned char*>(data), {bytes});
    view.fill(7);
    EXPECT_EQ(7, view(static_cast<std::ptrdiff_t>(bytes) - 1).get());
    resource.deallocate(data, bytes);
  }
}

TEST_P(ResourceContract, ZeroBytesAreNull) {
  EXPECT_EQ(nullptr, resource.allocate(0));
  resource.deallocate(nullptr, 0);
  EXPECT_EQ(nullptr, array(0).data());
}

TEST_P(ResourceContract, WhatNoDeviceHoldsIsOutOfMemory) {
  if (!roc::test::on_cpu()) GTEST_SKIP() << "a device may have unified memory";
  for (std::size_t const bytes : {std::size_t{1} << 40, std::size_t{1} << 62, SIZE_MAX}) {
    EXPECT_THROW(static_cast<void>(resource.allocate(bytes)), roc::out_of_memory) << bytes;
  }
  void* const data = resource.allocate(100);  // and nothing is broken
  resource.deallocate(data, 100);
}

TEST_P(ResourceContract, LiveBlocksAreApart) {
  struct block {
    roc::device_array<unsigned char> data;
    unsigned char value;
  };
  std::vector<block> live;
  auto random = roc::test::random_generator("LiveBlocksAreApart");
  roc::stream const streams[2];
  for (int i = 0; i < 300; ++i) {
    if (!live.empty() && random() % 2 == 0) {
      std::size_t const which = random() % live.size();
      block const gone = std::move(live[which]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
      auto const last = static_cast<std::ptrdiff_t>(gone.data.size()) - 1;
      ASSERT_EQ(gone.value, gone.data(0).get());
      ASSERT_EQ(gone.value, gone.data(last).get());
    }
    std::size_t const bytes = 1 + random() % (std::size_t{1} << (8 + random() % 13));
    auto const value = static_cast<unsigned char>(random());
    roc::stream_ref const on = streams[random() % 2];
    live.push_back({array(bytes, on), value});
    live.back().data.fill(value, random() % 2 == 0 ? on : roc::stream_ref());
  }
}

TEST_P(ResourceContract, BytesAreCountedWhereTheyAreCountedAtAll) {
  auto const before = resource.statistics();
  void* const data = resource.allocate(10'000);
  auto const with = resource.statistics();
  resource.deallocate(data, 10'000);
  auto const after = resource.statistics();
  EXPECT_EQ(before.current_bytes, after.current_bytes);
  EXPECT_EQ(before.current_blocks, after.current_blocks);
  if (with.allocations == 0) return;  // counts nothing
  EXPECT_GE(with.current_bytes, before.current_bytes + 10'000);
  EXPECT_EQ(before.current_blocks + 1, with.current_blocks);
  EXPECT_EQ(before.allocations + 1, with.allocations);
  EXPECT_GE(after.peak_bytes, with.current_bytes);
}

// The fill of the block that is given back is not done: whoever gets its memory next on another
// stream must not see that fill come later.
TEST_P(ResourceContract, ReuseIsNeverEarly) {
  constexpr std::size_t bytes = 100'000;
  roc::test::gate gate;
  roc::stream const first;
  roc::stream const second;
  gate.close(first);
  auto old = array(bytes, first);
  // Many: in mode deferred asking whether the stream is idle runs one.
  for (int i = 0; i < 20; ++i) old.fill(1, first);
  // A free that waits for the device needs the gate open.
  bool const waits = std::string(GetParam().name).find("Direct") != std::string::npos;
  if (waits) gate.open();
  old = {};
  std::vector<roc::device_array<unsigned char>> next;
  // More than the pool takes at once: it looks for memory on the other stream.
  for (int i = 0; i < 24; ++i) {
    next.push_back(array(bytes, second));
    next.back().fill(2, second);
  }
  second.synchronize();
  gate.open();
  first.synchronize();
  for (auto const& each : next) {
    std::vector<unsigned char> const seen(bytes, 2);
    std::vector<unsigned char> got(bytes);
    each.copy_to_host(got);
    EXPECT_EQ(seen, got);
  }
}

// The array's own stream is idle; another one, which the library was told of, still writes.
TEST_P(ResourceContract, UseOnAnotherStreamIsWaitedFor) {
  constexpr std::size_t bytes = 100'000;
  roc::test::gate gate;
  roc::stream const own;
  roc::stream const other;
  gate.close(other);
  auto old = array(bytes, own);
  old.fill(1, other);  // noted by itself
  if (std::string(GetParam().name).find("D") != std::string::npos) gate.open();
  old = {};
  std::vector<roc::device_array<unsigned char>> next;
  for (int i = 0; i < 4; ++i) next.push_back(array(bytes, own));
  gate.open();
  // Without the wait the old fill would still come in mode deferred, after these.
  for (auto const& each : next) each.fill(2, own);
  own.synchronize();
  other.synchronize();
  for (auto const& each : next) {
    EXPECT_EQ(2, each(0).get());
    EXPECT_EQ(2, each(-1).get());
  }
}

TEST_P(ResourceContract, ThreadsMayShareIt) {
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
  for (auto& each : running) each.join();
  EXPECT_EQ(0, wrong);
}

TEST_P(ResourceContract, GivenBackOnAnotherThread) {
  void* const data = resource.allocate(3000);
  std::thread([&] { resource.deallocate(data, 3000); }).join();
  void* const again = resource.allocate(3000);
  EXPECT_NE(nullptr, again);
  resource.deallocate(again, 3000);
}

TEST_P(ResourceContract, EqualToItselfAndOfItsDevice) {
  EXPECT_TRUE(resource == resource);
  EXPECT_EQ(0, resource.device_ordinal());
}

// Every call of HIP that it makes fails once: the error names it, and all is well afterwards.
TEST_P(ResourceContract, AnyCallMayFail) {
  auto const log = roc::set_log_hook(silence);
  // Pinned: copies of it need no staging memory, which failures use up.
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
         {"hipMalloc", "hipFree", "hipMallocAsync", "hipFreeAsync", "hipEventCreateWithFlags",
          "hipEventRecord", "hipEventQuery", "hipStreamWaitEvent", "hipGetDevice",
          "hipStreamCreateWithFlags", "hipStreamDestroy", "hipMemsetAsync"}) {
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

// Nor does a call that fails lose memory.
TEST_P(ResourceContract, NothingLeaksWhereACallFails) {
  auto const log = roc::set_log_hook(silence);
  roc::stream const own;
  roc::stream const other;
  auto const work = [&] {
    auto const a = array(3'000'000, own);
    auto const b = array(2000, own);
    a.fill(1, other);
    b.fill(2, other);
  };
  auto const free_memory = [&] {
    for (int i = 0; i < 2; ++i) {
      roc::device().synchronize();
      resource.trim();
    }
    EXPECT_EQ(0u, resource.statistics().current_bytes);
    // Of a device others may take memory meanwhile.
    return roc::test::on_cpu() ? roc::device().memory().free : 0;
  };
  work();
  std::size_t const before = free_memory();
  for (unsigned nth = 1; nth <= 4; ++nth) {
    for (char const* name :
         {"hipMalloc", "hipFree", "hipMallocAsync", "hipFreeAsync", "hipEventCreateWithFlags",
          "hipEventRecord", "hipEventQuery", "hipStreamWaitEvent", "hipStreamQuery", "hipGetDevice",
          "hipMemsetAsync", "hipEventDestroy"}) {
      ASSERT_TRUE(roc::platform::fail_call(name, nth, hipErrorLaunchFailure));
      try {
        work();
      } catch (roc::error const& error) {
        EXPECT_STREQ(name, error.call());
      }
      roc::platform::clear_failures();
      ASSERT_EQ(before, free_memory()) << name << " " << nth;
    }
  }
  roc::set_log_hook(log);
}

}  // namespace

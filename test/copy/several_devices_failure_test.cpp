// SPDX-License-Identifier: MIT
// After an error of a call that copies from or to several devices, no work of any of its copies
// still writes the caller's memory, and the same call works again.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "platform/call.hpp"
#include "support/options.hpp"

namespace {

// Staging memory is small: memory that failures lose is missed by later operations.
roc::test::program_options const options_of_tests(roc::test::small_staging);

namespace platform = roc::platform;
using bytes = std::vector<std::uint8_t>;

constexpr std::size_t part_count = 3;
constexpr std::size_t small = 30'000;                 // bytes
constexpr std::size_t large = std::size_t{28} << 20;  // a broadcast of it is forwarded
constexpr std::uint8_t source_value = 2;              // of sources during the call
constexpr std::uint8_t later_value =
    0xee;  // of the first part after the call; others have larger ones

// Guarded by a mutex because worker threads call HIP too.
std::mutex recorded_mutex;
// Never destroyed: a worker thread that is starting may still call the hook when the process ends.
auto& recorded = *new std::map<std::string, unsigned>;

// Returns the HIP calls that `work` makes, and how often it makes each.
template <class F>
std::map<std::string, unsigned> calls_of(F work) {
  {
    std::lock_guard const lock(recorded_mutex);
    recorded.clear();
  }
  auto const previous_hook = platform::set_call_hook([](platform::call_record const& record) {
    std::lock_guard const lock(recorded_mutex);
    ++recorded[record.name];
  });
  work();
  platform::set_call_hook(previous_hook);
  std::lock_guard const lock(recorded_mutex);
  return recorded;
}

std::atomic<unsigned> failures_left = 0;

// Makes `count` successive uses of hipSetDevice fail, from the nth on. Replaces the call hook,
// which the caller resets.
void plan_set_device_failures(unsigned nth, unsigned count) {
  failures_left = count;
  platform::set_call_hook([](platform::call_record const& record) {
    bool const is_planned = record.injected && record.result == hipErrorLaunchFailure &&
                            std::string_view(record.name) == "hipSetDevice";
    if (!is_planned || --failures_left == 0) return;
    platform::fail_call("hipSetDevice", 1, hipErrorLaunchFailure);
  });
  ASSERT_TRUE(platform::fail_call("hipSetDevice", nth, hipErrorLaunchFailure));
}

int device_of_part(std::size_t number) {
  return static_cast<int>((number + 1) % static_cast<std::size_t>(roc::device::count()));
}

// Returns true if all bytes have the value. Fast also without optimization and under sanitizers.
bool consists_of(roc::host_array<std::uint8_t> const& memory, std::uint8_t value) {
  std::uint8_t const* const data = memory.data();
  return data[0] == value && std::memcmp(data, data + 1, memory.size() - 1) == 0;
}

// An array on a device, a stream for the copies, and one that nothing orders with it.
struct part {
  explicit part(int ordinal, std::size_t size)
      : part(roc::device_guard(roc::device(ordinal)), size) {}
  part(roc::device_guard const&, std::size_t size) : array({size}), free(roc::non_blocking) {}

  // Sets all bytes without waiting for other work on the array.
  void overwrite(std::uint8_t value) const {
    roc::device_guard const current{roc::device(array.device_ordinal())};
    ASSERT_EQ(hipSuccess, hipMemsetAsync(array.data(), value, array.size(), roc::native(free)));
    ASSERT_EQ(hipSuccess, hipStreamSynchronize(roc::native(free)));
  }
  bool has_only(std::uint8_t value) const {
    roc::host_array<std::uint8_t> seen({array.size()}, roc::order::c, roc::host_memory::pinned);
    roc::copy(array, seen);
    return consists_of(seen, value);
  }

  roc::device_array<std::uint8_t> array;
  roc::stream stream;
  roc::stream free;
};

// The memory of all operations.
struct memory {
  memory(std::size_t part_bytes, std::size_t source_bytes, std::size_t host_bytes)
      : source(0, source_bytes),
        pageable(host_bytes),
        pinned({host_bytes}, roc::order::c, roc::host_memory::pinned) {
    for (std::size_t i = 0; i != part_count; ++i) {
      parts.push_back(std::make_unique<part>(device_of_part(i), part_bytes));
    }
  }

  std::vector<roc::device_view<std::uint8_t>> views() const {
    std::vector<roc::device_view<std::uint8_t>> result;
    for (auto const& item : parts) result.push_back(item->array.view());
    return result;
  }
  std::vector<roc::stream_ref> streams() const {
    std::vector<roc::stream_ref> result;
    for (auto const& item : parts) result.push_back(item->stream);
    return result;
  }
  void prepare() {
    source.overwrite(source_value);
    for (auto const& item : parts) item->overwrite(source_value);
    std::fill(pageable.begin(), pageable.end(), source_value);
    std::fill_n(pinned.data(), pinned.size(), source_value);
  }
  void synchronize() const {
    for (auto const& item : parts) item->stream.synchronize();
    for (int i = 0; i != roc::device::count(); ++i) roc::device(i).synchronize();
  }
  // Checks that nothing writes the memory any more.
  void check_unused() {
    // Different values, so that a copy that is still pending changes one of them.
    std::uint8_t value = later_value;
    std::vector<std::uint8_t> values;
    for (auto const& item : parts) item->overwrite(values.emplace_back(value++));
    source.overwrite(value++);
    std::fill(pageable.begin(), pageable.end(), value);
    std::fill_n(pinned.data(), pinned.size(), value + 1);
    synchronize();
    for (std::size_t i = 0; i != parts.size(); ++i) EXPECT_TRUE(parts[i]->has_only(values[i]));
    EXPECT_EQ(bytes(pageable.size(), value), pageable);
    EXPECT_TRUE(consists_of(pinned, static_cast<std::uint8_t>(value + 1)));
    EXPECT_TRUE(source.has_only(static_cast<std::uint8_t>(value - 1)));
  }

  part source;
  std::vector<std::unique_ptr<part>> parts;
  bytes pageable;
  roc::host_array<std::uint8_t> pinned;
};

struct operation {
  char const* name;
  std::function<void(memory&)> run;
  bool is_large = false;
};

std::vector<operation> operations() {
  return {
      {"split pageable", [](memory& m) { roc::split_to_devices(m.pageable, m.views()); }},
      {"split pinned", [](memory& m) { roc::split_to_devices(m.pinned, m.views()); }},
      {"split device", [](memory& m) { roc::split_to_devices(m.source.array, m.views()); }},
      {"split pageable on streams",
       [](memory& m) { roc::split_to_devices(m.pageable, m.views(), 0, m.streams()); }},
      {"split pinned on streams",
       [](memory& m) { roc::split_to_devices(m.pinned, m.views(), 0, m.streams()); }},
      {"split device on streams",
       [](memory& m) { roc::split_to_devices(m.source.array, m.views(), 0, m.streams()); }},
      {"gather pageable", [](memory& m) { roc::gather(m.views(), m.pageable); }},
      {"gather pinned", [](memory& m) { roc::gather(m.views(), m.pinned); }},
      {"gather device", [](memory& m) { roc::gather(m.views(), m.source.array); }},
      {"gather pageable on streams",
       [](memory& m) { roc::gather(m.views(), m.pageable, 0, m.streams()); }},
      {"gather pinned on streams",
       [](memory& m) { roc::gather(m.views(), m.pinned, 0, m.streams()); }},
      {"broadcast", [](memory& m) { roc::broadcast(m.source.array, m.views()); }, true},
      {"broadcast on streams",
       [](memory& m) { roc::broadcast(m.source.array, m.views(), m.streams()); }, true},
  };
}

memory make_memory(operation const& op) {
  constexpr std::size_t all = part_count * small;
  return op.is_large ? memory(large, large, 1) : memory(small, all, all);
}

class SeveralDevicesFailure : public testing::Test {
 protected:
  void TearDown() override {
    platform::set_call_hook(nullptr);
    platform::clear_failures();
  }
};

TEST_F(SeveralDevicesFailure, NothingWritesTheMemoryAfterAnyFailingCall) {
  int failures = 0;
  for (operation const& op : operations()) {
    memory m = make_memory(op);
    m.prepare();
    op.run(m);  // allocates staging memory, streams and events
    m.synchronize();
    m.prepare();
    auto const calls = calls_of([&] { op.run(m); });
    m.synchronize();
    for (auto const& [name, uses] : calls) {
      if (name == "hipGetLastError" || name == "hipGetDevice") continue;
      for (unsigned const nth : {1u, 2u, (uses + 1) / 2, uses}) {
        if (nth == 0 || nth > uses || (op.is_large && nth <= 2 && nth != uses)) continue;
        SCOPED_TRACE(std::string(op.name) + ", " + name + ":" + std::to_string(nth));
        m.prepare();
        ASSERT_TRUE(platform::fail_call(name.c_str(), nth, hipErrorLaunchFailure));
        bool has_failed = false;
        try {
          op.run(m);
        } catch (roc::error const&) {
          has_failed = true;
        }
        platform::clear_failures();
        if (has_failed) m.check_unused();
        m.synchronize();
        failures += has_failed;
      }
    }
    m.prepare();
    EXPECT_NO_THROW(op.run(m)) << op.name;
    m.synchronize();
  }
  EXPECT_LT(50, failures);
}

// One part fails while the streams of others still have work.
TEST_F(SeveralDevicesFailure, AllStreamsAreAwaited) {
  for (operation const& op : operations()) {
    memory m = make_memory(op);
    SCOPED_TRACE(op.name);
    m.prepare();
    op.run(m);
    m.synchronize();
    auto const calls = calls_of([&] { op.run(m); });
    m.synchronize();
    auto const found = calls.find("hipMemcpyAsync");
    ASSERT_NE(calls.end(), found);
    ASSERT_TRUE(platform::fail_call("hipMemcpyAsync", found->second, hipErrorLaunchFailure));
    EXPECT_THROW(op.run(m), roc::error);
    platform::clear_failures();
    for (auto const& stream : m.streams()) EXPECT_TRUE(stream.query());
    m.synchronize();
  }
}

// hipSetDevice fails too, also before the wait for a stream. If its retry fails as well, the call
// waits for all devices.
TEST_F(SeveralDevicesFailure, DefaultStreamsAreAwaitedOnTheirDevices) {
  if (roc::device::count() == 1) GTEST_SKIP() << "one device is always current";
  constexpr std::size_t all = part_count * small;
  memory m(small, all, all);
  std::vector<roc::stream_ref> const default_streams(part_count);
  auto const run = [&] { roc::split_to_devices(m.pinned, m.views(), 0, default_streams); };
  run();
  m.synchronize();
  auto const calls = calls_of(run);
  m.synchronize();
  ASSERT_TRUE(calls.contains("hipMemcpyAsync") && calls.contains("hipSetDevice"));
  for (unsigned const successive : {1u, 2u, 3u}) {
    bool have_all_failed = false;
    for (unsigned nth = 1; nth <= 2 * calls.at("hipSetDevice"); ++nth) {
      SCOPED_TRACE("hipSetDevice fails " + std::to_string(successive) + " times from use " +
                   std::to_string(nth) + " on");
      roc::device(0).make_current();  // a failed hipSetDevice may leave another device current
      m.prepare();
      ASSERT_TRUE(
          platform::fail_call("hipMemcpyAsync", calls.at("hipMemcpyAsync"), hipErrorLaunchFailure));
      ASSERT_NO_FATAL_FAILURE(plan_set_device_failures(nth, successive));
      EXPECT_THROW(run(), roc::error);
      platform::set_call_hook(nullptr);
      platform::clear_failures();
      have_all_failed |= failures_left == 0;
      m.check_unused();
    }
    EXPECT_TRUE(have_all_failed) << successive;
  }
}

}  // namespace

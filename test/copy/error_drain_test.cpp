// SPDX-License-Identifier: MIT
// After an error, no work of the failed call still reads or writes the caller's memory.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/options.hpp"

namespace {

// Staging memory is small: memory that failures lose is missed by later operations.
roc::test::program_options const options_of_tests(roc::test::small_staging);

namespace platform = roc::platform;
using bytes = std::vector<std::uint8_t>;

constexpr std::size_t side = 128;
constexpr std::size_t count = side * side;
constexpr std::uint8_t old_value = 1;       // of destinations
constexpr std::uint8_t source_value = 2;    // of sources during the call
constexpr std::uint8_t later_value = 0xee;  // of sources after the call

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

// The memory of all operations.
struct arrays {
  bytes pageable = bytes(count);
  roc::host_array<std::uint8_t, 1> pinned{{count}, roc::order::c, roc::host_memory::pinned};
  roc::device_array<std::uint8_t> device{{count}};
  roc::device_array<std::uint8_t> other{{count}};
  roc::stream stream;

  roc::host_view<std::uint8_t, 2> pageable_matrix() {
    return roc::host_view<std::uint8_t, 2>(pageable.data(), {side, side});
  }
  roc::host_view<std::uint8_t, 2> pinned_matrix() {
    return roc::host_view<std::uint8_t, 2>(pinned.data(), {side, side});
  }
  auto device_matrix() { return device.view().reshape(side, side); }

  void set_host(std::uint8_t value) {
    std::fill(pageable.begin(), pageable.end(), value);
    std::fill_n(pinned.data(), count, value);
  }
  std::vector<bytes> host() { return {pageable, bytes(pinned.data(), pinned.data() + count)}; }
};

struct operation {
  char const* name;
  std::function<void(arrays&)> run;
  bool is_upload = false;
};

std::vector<operation> operations() {
  auto const columns = roc::slice(0, 100);
  auto const every_second = roc::slice(0, roc::none, 2);
  return {
      {"download to pinned", [](arrays& m) { m.device.copy_to_host(m.pinned); }},
      {"download to pageable", [](arrays& m) { m.device.copy_to_host(m.pageable); }},
      {"download rows to pinned",
       [=](arrays& m) {
         m.device_matrix()(roc::all, columns).copy_to_host(m.pinned_matrix()(roc::all, columns));
       }},
      {"download rows to pageable",
       [=](arrays& m) {
         m.device_matrix()(roc::all, columns).copy_to_host(m.pageable_matrix()(roc::all, columns));
       }},
      {"download elements to pinned",
       [=](arrays& m) {
         m.device_matrix()(roc::all, every_second)
             .copy_to_host(m.pinned_matrix()(roc::all, every_second));
       }},
      {"download to pinned on stream",
       [](arrays& m) { m.device.copy_to_host(m.pinned, m.stream); }},
      {"download to pageable on stream",
       [](arrays& m) { m.device.copy_to_host(m.pageable, m.stream); }},
      {"download elements to pageable on stream",
       [=](arrays& m) {
         m.device_matrix()(roc::all, every_second)
             .copy_to_host(m.pageable_matrix()(roc::all, every_second), m.stream);
       }},
      {"host copy on stream", [](arrays& m) { roc::copy(m.pinned, m.pageable, m.stream); }},
      {"host fill on stream", [](arrays& m) { roc::fill(m.pageable, source_value, m.stream); }},
      {"batch of downloads",
       [=](arrays& m) {
         roc::copy_batch batch;
         for (std::ptrdiff_t row = 0; row != side; ++row) {
           batch.add(m.device_matrix()(row, roc::all), m.pageable_matrix()(row, roc::all));
           batch.add(m.device_matrix()(row, roc::all), m.other(roc::slice(row * 8, row * 8 + 128)));
         }
         batch.submit();
       }},
      {"batch of downloads on stream",
       [=](arrays& m) {
         roc::copy_batch batch;
         for (std::ptrdiff_t row = 0; row != side; ++row) {
           batch.add(m.device_matrix()(row, roc::all), m.pageable_matrix()(row, roc::all));
         }
         batch.add(m.device, m.pinned);
         batch.submit(m.stream);
       }},
      {"batch of dependent copies on stream",
       [=](arrays& m) {
         roc::copy_batch batch;
         for (std::ptrdiff_t row = 0; row != 3; ++row) {
           batch.add(m.device_matrix()(row, roc::all), m.pageable_matrix()(row, roc::all));
           batch.add(m.pageable_matrix()(row, roc::all), m.other(roc::slice(0, 128)));
         }
         batch.submit(m.stream);
       }},
      {"upload of pinned", [](arrays& m) { m.device.copy_to_device(m.pinned); }, true},
      {"upload of pageable", [](arrays& m) { m.device.copy_to_device(m.pageable); }, true},
      {"upload of pinned rows",
       [=](arrays& m) {
         m.device_matrix()(roc::all, columns).copy_to_device(m.pinned_matrix()(roc::all, columns));
       },
       true},
      {"upload of pinned on stream", [](arrays& m) { m.device.copy_to_device(m.pinned, m.stream); },
       true},
      {"upload of pinned elements on stream",
       [=](arrays& m) {
         m.device_matrix()(roc::all, every_second)
             .copy_to_device(m.pinned_matrix()(roc::all, every_second), m.stream);
       },
       true},
      {"borrowed upload on stream",
       [](arrays& m) { roc::copy(m.pageable, m.device, m.stream, roc::borrow_source); }, true},
      {"batch of uploads on stream",
       [=](arrays& m) {
         roc::copy_batch batch;
         for (std::ptrdiff_t row = 0; row != side; ++row) {
           batch.add(m.pinned_matrix()(row, roc::all), m.device_matrix()(row, roc::all));
         }
         batch.submit(m.stream);
       },
       true},
  };
}

class ErrorDrain : public testing::Test {
 protected:
  void SetUp() override {
    previous_ = roc::set_log_hook([](char const* message) noexcept {
      if (std::string_view(message).find("keep them until the process ends") !=
          std::string_view::npos) {
        ++warnings;
      }
    });
    warnings = 0;
  }
  void TearDown() override {
    platform::clear_failures();
    roc::set_log_hook(previous_);
  }

  static void prepare(arrays& m, operation const& op) {
    m.device.fill(op.is_upload ? old_value : source_value);
    m.set_host(op.is_upload ? source_value : old_value);
    roc::device().synchronize();
  }

  // Runs the operation, which may fail. Returns false if it did not. If it did, checks that nothing
  // of it touches the memory afterwards. `end_failures` makes HIP work again.
  static bool fails_cleanly(arrays& m, operation const& op, std::string const& failure,
                            std::function<void()> const& end_failures) {
    SCOPED_TRACE(std::string(op.name) + ", " + failure);
    bool has_failed = false;
    try {
      op.run(m);
    } catch (roc::error const&) {
      has_failed = true;
    }
    end_failures();
    if (!has_failed) {
      m.stream.synchronize();
      return false;
    }
    auto const host = m.host();
    if (op.is_upload) m.set_host(later_value);
    roc::device().synchronize();
    m.stream.synchronize();
    if (op.is_upload) {
      auto const array = m.device.copy_to_host();
      EXPECT_EQ(0, std::count(array.data(), array.data() + count, later_value));
    } else {
      EXPECT_TRUE(host == m.host());
    }
    return true;
  }

  static inline std::atomic<int> warnings = 0;
  roc::log_hook previous_ = nullptr;
};

TEST_F(ErrorDrain, NothingTouchesTheMemoryAfterAnyFailingCall) {
  int failures = 0;
  for (operation const& op : operations()) {
    arrays m;
    auto const run = [&] {
      prepare(m, op);
      op.run(m);
      m.stream.synchronize();
    };
    run();  // allocates staging memory and events
    prepare(m, op);
    auto const calls = calls_of([&] { op.run(m); });
    m.stream.synchronize();
    for (auto const& [name, uses] : calls) {
      if (name == "hipGetLastError") continue;
      // The last use matters most: the others are the same in the first and the last chunks.
      for (unsigned const nth : {1u, 2u, (uses + 1) / 2, uses - 1, uses}) {
        if (nth == 0 || nth > uses) continue;
        prepare(m, op);
        ASSERT_TRUE(platform::fail_call(name.c_str(), nth, hipErrorLaunchFailure)) << name;
        failures += fails_cleanly(m, op, name + ":" + std::to_string(nth),
                                  [] { platform::clear_failures(); });
      }
    }
    EXPECT_NO_THROW(run()) << op.name;
  }
  EXPECT_LT(20, failures);
  EXPECT_EQ(0, warnings);
}

// If the stream cannot be awaited at all, the call waits for the device.
TEST_F(ErrorDrain, DeviceIsAwaitedIfTheStreamCannotBe) {
  int failures = 0;
  for (operation const& op : operations()) {
    arrays m;
    prepare(m, op);
    op.run(m);
    m.stream.synchronize();
    for (char const* const name :
         {"hipStreamSynchronize", "hipEventSynchronize", "hipEventRecord"}) {
      prepare(m, op);
      // The named call fails, and after it every synchronization of a stream.
      auto const previous_hook = platform::set_call_hook([](platform::call_record const& record) {
        if (record.injected) platform::fail_call("hipStreamSynchronize", 1, hipErrorLaunchFailure);
      });
      ASSERT_TRUE(platform::fail_call(name, 1, hipErrorLaunchFailure)) << name;
      failures += fails_cleanly(m, op, name, [&] {
        platform::set_call_hook(previous_hook);
        platform::clear_failures();
      });
    }
  }
  EXPECT_LT(10, failures);
  EXPECT_EQ(0, warnings);
}

// The arrays that the library made for the call: the caller cannot keep them.
TEST_F(ErrorDrain, MemoryOfTheLibraryIsLeakedIfNothingCanBeAwaited) {
  static std::atomic<int> leaks;
  leaks = 0;
  roc::set_log_hook([](char const* message) noexcept {
    if (std::string_view(message).find("host memory is leaked") != std::string_view::npos) ++leaks;
  });
  auto const fail_all = [](std::initializer_list<char const*> names) {
    for (char const* const name : names) {
      ASSERT_TRUE(
          platform::fail_call(name, 1, hipErrorLaunchFailure, platform::failing_uses::all_later));
    }
  };
  arrays m;
  m.device.fill(source_value);
  roc::host_array<std::uint8_t> pinned({count}, roc::order::c, roc::host_memory::pinned);
  m.device.copy_to_host(pinned, m.stream);  // creates what copies need
  static_cast<void>(m.device.copy_to_host(m.stream));
  fail_all({"hipStreamSynchronize", "hipEventSynchronize", "hipDeviceSynchronize"});
  fail_all({"hipEventRecord"});
  EXPECT_THROW(static_cast<void>(m.device.copy_to_host(m.stream)), roc::error);
  EXPECT_EQ(1, leaks) << "pageable";
  { auto const freed = std::move(pinned); }
  EXPECT_EQ(2, leaks) << "pinned: the failed call may use it, for all that is known";
  platform::clear_failures();
  // Memory is freed again once the devices are idle.
  { roc::host_array<std::uint8_t> const another({count}); }
  EXPECT_EQ(2, leaks);
}

TEST_F(ErrorDrain, LogsIfNothingCanBeAwaited) {
  arrays m;
  operation const op = operations().front();
  prepare(m, op);
  auto const previous_hook = platform::set_call_hook([](platform::call_record const& record) {
    if (!record.injected) return;
    platform::fail_call("hipStreamSynchronize", 1, hipErrorLaunchFailure);
    platform::fail_call("hipDeviceSynchronize", 1, hipErrorLaunchFailure);
  });
  ASSERT_TRUE(platform::fail_call("hipStreamSynchronize", 1, hipErrorLaunchFailure));
  EXPECT_THROW(op.run(m), roc::error);
  platform::set_call_hook(previous_hook);
  platform::clear_failures();
  EXPECT_EQ(1, warnings);
  roc::device().synchronize();
}

}  // namespace

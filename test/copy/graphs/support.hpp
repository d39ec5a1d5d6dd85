// SPDX-License-Identifier: MIT
// Shared by the tests of graphs: launches that are repeated with other data, the options, a gate
// that opens later, and a record of the log hook.
#pragma once

#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/hip.hpp"
#include "support/captures.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/options.hpp"

namespace roc::test {

constexpr std::size_t rows = 24;
constexpr std::size_t columns = 40;

// Staging memory is small, so that copies take many chunks.
inline program_options const options_of_graph_tests(small_staging);

template <std::size_t N>
using pinned = host_array<int, N>;

/// Fills an array with numbers that differ from one round to the next.
template <class Array>
void renew(Array& array, int round) {
  std::iota(array.data(), array.data() + array.size(), round * 10'000);
}

template <class Array>
std::vector<int> values(Array const& array) {
  return {array.data(), array.data() + array.size()};
}

/// Launches the graph several times with different inputs: with a stream and without, and with work
/// before and after it on the same stream. `check` runs after each launch has finished.
template <class Renew, class Check>
void launch_repeatedly(graph_exec& executable, Renew const& renew_input, Check const& check) {
  stream const first;
  stream const second(non_blocking);
  auto work = device_array<int, 1>({64});
  for (int round = 0; round != 6; ++round) {
    SCOPED_TRACE(round);
    renew_input(round);
    if (round % 3 == 2) {
      executable.launch();
    } else {
      stream_ref const target = round % 3 == 0 ? first : second;
      work.fill(round, target);
      executable.launch(target);
      work.fill(round + 1, target);
      target.synchronize();
      EXPECT_EQ(round + 1, work.copy_to_host()(0));
    }
    check();
  }
}

struct graph_fixture : testing::Test {
  pinned<2> input = pinned_array<int>(shape<2>{rows, columns});
  pinned<2> output = pinned_array<int>(shape<2>{rows, columns});
  device_array<int, 2> device{{rows, columns}};
  device_array<int, 2> other{{rows, columns}};

  template <class F>
  graph_exec captured(F const& function) {
    return graph_exec(capture(function));
  }
  graph_exec captured_copy() {
    return captured([&](stream_ref target) {
      device.copy_to_device(input, target);
      device.copy_to_host(output, target);
    });
  }
  void expect_output_is_input(graph_exec& executable) {
    launch_repeatedly(
        executable, [&](int round) { renew(input, round); },
        [&] { EXPECT_EQ(values(input), values(output)); });
  }
  /// Captures copies and launches them: nothing that failed before has left anything behind.
  void expect_captures_work() {
    auto executable = captured_copy();
    expect_output_is_input(executable);
  }
};

/// Opens a gate from another thread after a while, so that it shows which calls wait for work that
/// the gate holds back.
class delayed_opening {
 public:
  explicit delayed_opening(gate& closed)
      : thread_([this, &closed] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          is_open_ = true;
          closed.open();
        }) {}
  ~delayed_opening() { thread_.join(); }
  delayed_opening(delayed_opening const&) = delete;
  delayed_opening& operator=(delayed_opening const&) = delete;

  /// Fails the test if the gate has not been opened, where gates hold work back.
  void expect_open() const {
    if (run_mode() == mode::threaded && gate::holds()) {
      EXPECT_TRUE(is_open_);
    }
  }

 private:
  std::atomic<bool> is_open_ = false;
  std::thread thread_;
};

/// Records the messages of the log hook.
class log_record {
 public:
  log_record() : previous_(set_log_hook(&log_record::write)) { static_cast<void>(take()); }
  ~log_record() { set_log_hook(previous_); }
  log_record(log_record const&) = delete;
  log_record& operator=(log_record const&) = delete;

  /// Returns the messages so far, and forgets them.
  static std::string take() {
    std::lock_guard const lock(mutex());
    return std::exchange(text(), {});
  }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::string& text() {
    static std::string instance;
    return instance;
  }
  static void write(char const* message) noexcept {
    std::lock_guard const lock(mutex());
    text() += std::string(message) + "\n";
  }

  log_hook const previous_;
};

}  // namespace roc::test

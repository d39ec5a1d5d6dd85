// SPDX-License-Identifier: MIT
// The faults of the fault matrix, and what a scenario needs to be run with one of them.
#pragma once

#include <roc/roc.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <list>
#include <new>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>

#include "platform/call.hpp"
#include "support/failing_new.hpp"
#if ROCARRAY_PLATFORM_HOST
#include "platform/host/api_call.hpp"
#endif

namespace roc::test::faults {

/// What fails: a HIP call, operator new, the start of a thread, or on the host platform the launch
/// of a kernel.
enum class fault_kind : unsigned char { none, call, allocation, thread, launch };

struct fault {
  fault_kind kind = fault_kind::none;
  std::size_t call = 0;    // index in `call_names`
  unsigned nth = 0;        // from 1
  bool all_later = false;  // the n-th use and all later ones
  hipError_t code = hipErrorUnknown;
};

// Views, because each call of HIP looks for its name here, and their sizes tell most names apart.
#define ROCARRAY_FAULT_CALL_NAME(function) std::string_view(#function),
inline constexpr std::array call_names{ROCARRAY_HIP_CALLS(ROCARRAY_FAULT_CALL_NAME)};
#undef ROCARRAY_FAULT_CALL_NAME

/// Returns the index of a call in `call_names`, or their number if there is none.
inline std::size_t index_of_call(std::string_view name) {
  std::size_t i = 0;
  while (i != call_names.size() && name != call_names[i]) ++i;
  return i;
}

/// Returns "hipMalloc:3", "hipMalloc:3:later", "new:7", "thread:1" or "launch:1"; the code follows
/// if it is out of memory.
inline std::string fault_name(fault const& f) {
  static char const* const kinds[] = {"none", "", "new", "thread", "launch"};
  std::string text(f.kind == fault_kind::call ? call_names[f.call]
                                              : kinds[static_cast<int>(f.kind)]);
  text += ":" + std::to_string(f.nth);
  if (f.all_later) text += ":later";
  if (f.code == hipErrorOutOfMemory) text += ":memory";
  return text;
}

/// How often a scenario uses what can fail.
struct use_counts {
  std::array<unsigned, call_names.size()> calls;
  long allocations;
  unsigned threads;
};

// The state of the process. Written by any thread, without allocating.
inline std::array<std::atomic<unsigned>, call_names.size()> call_uses{};
inline std::array<std::atomic<long>, call_names.size()> call_successes{};
inline std::array<std::atomic<long>, call_names.size()> call_errors{};  // since arm; also injected
inline std::atomic<unsigned> injected_calls = 0;
inline std::atomic<unsigned> thread_starts = 0;
inline std::atomic<unsigned> first_failing_start = 0;  // 0: none
inline std::atomic<bool> all_later_starts_fail = false;
inline std::atomic<unsigned> failed_starts = 0;
inline std::atomic<unsigned> lost_operations = 0;  // of the host platform's collective library
inline std::atomic<unsigned> log_lines = 0;
inline std::atomic<bool> has_logged_leak = false;

inline void count_call(platform::call_record const& record) {
  std::size_t const index = index_of_call(record.name);
  ++call_uses[index];
  if (record.injected) ++injected_calls;
  if (record.result == hipErrorNotReady) return;  // the answer of a query
  ++(record.result == hipSuccess ? call_successes : call_errors)[index];
}

inline void count_log_line(char const* message) noexcept {
  ++log_lines;
  std::string_view const text = message;
  if (text.find("leak") != text.npos || text.find("never freed") != text.npos ||
      text.find("until the process ends") != text.npos) {
    has_logged_leak = true;
  }
}

/// Returns true if the fault has occurred; for a launch, never.
inline bool has_fault_occurred() {
  return injected_calls != 0 || failed_starts != 0 || has_new_failed();
}

/// Begins to count the uses of everything that can fail, and makes one of them fail.
inline void arm(fault const& f) {
  for (auto& uses : call_uses) uses = 0;
  for (auto& errors : call_errors) errors = 0;
  injected_calls = 0;
  thread_starts = 0;
  failed_starts = 0;
  lost_operations = 0;
  switch (f.kind) {
    case fault_kind::none: break;
    case fault_kind::call:
      platform::fail_call(
          call_names[f.call].data(), f.nth, f.code,
          f.all_later ? platform::failing_uses::all_later : platform::failing_uses::one);
      break;
    case fault_kind::thread:
      all_later_starts_fail = f.all_later;
      first_failing_start = f.nth;
      break;
    case fault_kind::launch:
#if ROCARRAY_PLATFORM_HOST
      for (unsigned i = 0; i != (f.all_later ? 100u : 1u); ++i) {
        host_hip::fail_at("launch_host_kernel", f.nth + i, f.code);
      }
#endif
      break;
    case fault_kind::allocation: break;
  }
  fail_new_of_all_threads(f.kind == fault_kind::allocation ? f.nth : 0, f.all_later);
}

/// Ends the fault. Returns the uses since arm. Can be called again.
inline use_counts disarm() {
  use_counts result{};
  result.allocations = stop_failing_new();
  first_failing_start = 0;
  platform::clear_failures();
#if ROCARRAY_PLATFORM_HOST
  host_hip::clear_failures();
#endif
  for (std::size_t i = 0; i != call_uses.size(); ++i) result.calls[i] = call_uses[i];
  result.threads = thread_starts;
  return result;
}

using word = std::uint32_t;
using words = std::vector<word>;

inline constexpr word poison = 0xeeeeeeee;

/// Returns the value of element `i` of an array that begins with this seed. Never `poison`.
inline word value_at(std::size_t i, word seed) {
  word const value = static_cast<word>(i) * 2654435761u + seed;
  return value == poison ? 1 : value;
}

inline words make_words(std::size_t size, word seed) {
  words result(size);
  for (std::size_t i = 0; i != size; ++i) result[i] = value_at(i, seed);
  return result;
}

inline constexpr std::size_t count = 10'000;  // elements: ten chunks of staging memory
inline constexpr std::size_t side = 100;

using array = device_array<word>;
using matrix = device_array<word, 2>;

inline host_view<word, 2> matrix_of(words& memory) { return {memory.data(), {side, side}}; }

/// Returns true if the words are those of make_words.
template <class Range>
bool is_made(Range const& range, word seed) {
  std::size_t i = 0;
  for (word const value : range) {
    if (value != value_at(i++, seed)) return false;
  }
  return true;
}

/// Blocks until all devices are idle. Exceptions that host functions left are dropped.
inline void synchronize_devices() {
  for (int i = 0; i != device::count(); ++i) {
    device_guard const current{device(i)};
    for (int attempt = 0;; ++attempt) {
      try {
        device().synchronize();
        break;
      } catch (std::exception const&) {
        if (attempt == 10) throw;
      }
    }
  }
}

/// One run of a scenario with one fault.
class context {
 public:
  /// `is_whole`: the fault is armed before the scenario begins, and its exceptions end the
  /// scenario. Otherwise it is armed by the first `call` or `run`, which catch them.
  context(fault const& f, bool is_whole) : fault_(f), is_whole_(is_whole) {
    if (is_whole_) start();
  }
  context(context const&) = delete;
  context& operator=(context const&) = delete;

  /// Returns true if the n-th use and all later ones fail, not the n-th alone.
  bool fails_from_then_on() const noexcept { return fault_.all_later; }

  /// Returns memory of the caller, which the scenario reads. It outlives the scenario.
  words& source(std::size_t size, word seed = 1) {
    words& result = memory_.emplace_back(make_words(size, seed));
    track(result, true);
    return result;
  }
  /// Returns memory of the caller, which the scenario writes.
  words& target(std::size_t size) {
    words& result = memory_.emplace_back(size, word{7});
    track(result, false);
    return result;
  }
  /// Adds memory that lives as long as the scenario to the memory of the caller.
  template <class Range>
  void track(Range& range, bool is_source) {
    auto* const data = reinterpret_cast<unsigned char*>(range.data());
    tracked_.push_back({data, range.size() * sizeof(*range.data()), is_source});
  }
  /// Adds device memory that must not receive what the caller writes after a failed call.
  void watch(device_view<word, 1> const& view) { watched_.push_back(view); }

  /// Makes one call of the library. Returns false if it failed; the scenario then returns. Checks
  /// that nothing of the call uses the caller's memory after the exception.
  template <class F>
  bool call(F f) {
    return guarded(f, true);
  }
  /// Does any work. Returns false if it failed.
  template <class F>
  bool run(F f) {
    return guarded(f, false);
  }
  /// Ends the fault, and records a finding if `right` is false.
  void expect(bool right, char const* what) {
    finish();
    if (!right) add_finding(std::string("wrong result: ") + what);
  }

  /// Ends the fault, unless it is that of the whole scenario.
  void finish() {
    if (!is_whole_) stop();
  }
  /// Names a range that the scenario registers. It is deregistered in the end if that failed.
  void will_register(host_view<word> const& range) { registered_.push_back(range); }

  /// Runs a whole scenario. Classifies the exception that it ends with.
  template <class Scenario>
  void execute(Scenario const& scenario) {
    try {
      scenario(*this);
    } catch (...) {
      stop();
      classify();
    }
    stop();
    device(0).make_current();
    // The caller's memory must live until the work of the calls that succeeded is done.
    synchronize_devices();
    for (auto const& range : registered_) {
      try {
        while (true) deregister(range);
      } catch (registration_error const&) {
      }
    }
  }

  /// Returns true if nothing fails in this run.
  bool is_faultless() const { return fault_.kind == fault_kind::none; }
  std::string const& finding() const { return finding_; }
  bool has_thrown() const { return has_thrown_; }
  use_counts const& counts() const { return counts_; }
  /// Returns true if the fault occurred.
  bool has_failed() const { return has_failed_; }

 private:
  struct tracked_memory {
    unsigned char* data;
    std::size_t bytes;
    bool is_source;
  };

  void start() {
    if (is_started_) return;
    is_started_ = true;
    is_armed_ = true;
    arm(fault_);
  }

  void stop() {
    if (!is_armed_) return;
    is_armed_ = false;
    counts_ = disarm();
    has_failed_ = injected_calls != 0 || failed_starts != 0 ||
                  (fault_.kind == fault_kind::allocation && counts_.allocations >= fault_.nth) ||
                  fault_.kind == fault_kind::launch;
  }

  void add_finding(std::string text) {
    if (finding_.empty()) finding_ = std::move(text);
  }

  // Called while an exception is handled.
  void classify() {
    has_thrown_ = true;
    if (!has_failed_) add_finding("an exception although nothing failed: " + describe());
    try {
      throw;
    } catch (roc::error const&) {
    } catch (std::bad_alloc const&) {
    } catch (...) {
      add_finding("an exception of another type: " + describe());
    }
  }

  static std::string describe() {
    try {
      throw;
    } catch (std::exception const& error) {
      return std::string(typeid(error).name()) + ", " + error.what();
    } catch (...) {
      return "no std::exception";
    }
  }

  template <class F>
  bool guarded(F& f, bool checks_memory) {
    start();
    if (is_whole_) {
      f();
      return true;
    }
    try {
      f();
      return true;
    } catch (...) {
      stop();
      classify();
    }
    if (checks_memory) {
      check_memory();
    } else {
      synchronize_devices();
    }
    return false;
  }

  // Checks that no work uses the caller's memory: targets do not change, and what the caller writes
  // to its sources arrives nowhere.
  void check_memory() {
    std::vector<std::vector<unsigned char>> before;
    if (has_logged_leak) return synchronize_devices();  // the library says that it cannot wait
    for (auto const& memory : tracked_) {
      if (memory.is_source) std::memset(memory.data, 0xee, memory.bytes);
      before.emplace_back(memory.data, memory.data + memory.bytes);
    }
    synchronize_devices();
    for (std::size_t i = 0; i != tracked_.size(); ++i) {
      if (std::memcmp(before[i].data(), tracked_[i].data, tracked_[i].bytes) != 0) {
        add_finding("work of the failed call writes the caller's memory after the exception");
      }
    }
    for (auto const& view : watched_) {
      auto const found = view.copy_to_host();
      if (std::count(found.begin(), found.end(), poison) != 0) {
        add_finding("work of the failed call reads the caller's memory after the exception");
      }
    }
  }

  fault fault_;
  bool is_whole_;
  bool is_started_ = false;
  bool is_armed_ = false;
  bool has_failed_ = false;
  bool has_thrown_ = false;
  use_counts counts_{};
  std::string finding_;
  std::list<words> memory_;
  std::vector<tracked_memory> tracked_;
  std::vector<device_view<word, 1>> watched_;
  std::vector<host_view<word>> registered_;
};

struct scenario {
  char const* name;
  void (*run)(context&);
  // A scenario that waits for time to pass or for another process polls. This limits how many uses
  // of each call, and of operator new, fail in turn. 0: all.
  unsigned most_uses = 0;
};

/// Returns all scenarios of the program.
std::vector<scenario> const& scenarios();
/// Runs the scenarios as the arguments say. Returns the status of the program.
int run_fault_matrix(int size, char** arguments);
/// Returns those of fault_matrix_interfaces.cpp.
std::vector<scenario> const& interface_scenarios();
/// Returns those of fault_matrix_exchange.cpp.
std::vector<scenario> const& exchange_scenarios();
/// Returns how many registrations the host platform's collective library has made. It keeps them
/// until the process ends.
long registrations_of_collectives();
/// Exports arrays to the process at the other end of a connection, until that process ends.
int run_exporter(int connection);

}  // namespace roc::test::faults

// SPDX-License-Identifier: MIT
#include "runtime/opened_events.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <thread>

#include <roc/error.hpp>

#include "base/no_destructor.hpp"
#include "base/process_identity.hpp"
#include "base/spin_backoff.hpp"
#include "platform/call.hpp"
#include "runtime/ipc_origin.hpp"

namespace roc::runtime {
namespace {

using clock = std::chrono::steady_clock;

// A waiting thread spins for this time. After that it sleeps between two queries, for this fraction
// of the time that it has waited, at most for max_sleep.
constexpr auto spin_time = std::chrono::microseconds(200);
constexpr int sleep_fraction = 8;
constexpr auto max_sleep = std::chrono::microseconds(50);
// How often it checks whether the process still runs: reads a file of /proc, which takes 10 to 40
// us.
constexpr auto check_interval = std::chrono::milliseconds(1);

struct opened_event {
  detail::ipc_origin origin;
  bool is_recorded_here = false;
};

struct opened_event_table {
  std::mutex mutex;
  std::map<detail::native_event*, opened_event> events;
};

// Never destroyed: static objects of the program may destroy events later.
opened_event_table& table() noexcept {
  static base::no_destructor<opened_event_table> instance;
  return *instance;
}

// Returns the creator of the event if this process has opened it and has not recorded it.
std::optional<detail::ipc_origin> awaited_process(detail::native_event* event) {
  std::lock_guard const lock(table().mutex);
  auto const found = table().events.find(event);
  if (found == table().events.end() || found->second.is_recorded_here) return std::nullopt;
  return found->second.origin;
}

// Tells whether the process that created an event still runs.
class creator_watch {
 public:
  explicit creator_watch(detail::ipc_origin const& origin) : origin_(origin) {}

  bool has_ended() {
    if (!self_ || self_->start_time == 0) self_ = base::this_process();
    return runtime::has_ended(origin_, *self_);
  }
  [[noreturn]] void throw_ended() const {
    throw ipc_error(std::errc::no_such_process,
                    "process " + std::to_string(origin_.pid) +
                        ", which created the event, has ended, and the event has not been "
                        "reached: its work may never finish; keep the process until nobody waits "
                        "for the event");
  }

 private:
  detail::ipc_origin const origin_;
  std::optional<base::process_identity> self_;  // read from several files, at the first check
};

}  // namespace

void add_opened_event(detail::native_event* event, detail::ipc_origin const& origin) {
  std::lock_guard const lock(table().mutex);
  table().events.insert_or_assign(event, opened_event{origin});
  opened_events_detail::count.store(static_cast<unsigned>(table().events.size()));
}

void opened_events_detail::forget(detail::native_event* event) noexcept {
  std::lock_guard const lock(table().mutex);
  table().events.erase(event);
  count.store(static_cast<unsigned>(table().events.size()));
}

void opened_events_detail::record(detail::native_event* event) noexcept {
  std::lock_guard const lock(table().mutex);
  auto const found = table().events.find(event);
  if (found != table().events.end()) found->second.is_recorded_here = true;
}

bool opened_events_detail::synchronize(detail::native_event* event) {
  auto const origin = awaited_process(event);
  if (!origin) return false;
  creator_watch creator(*origin);
  auto const native_event = reinterpret_cast<hipEvent_t>(event);
  auto const is_reached = [&] {
    hipError_t const result = ROCARRAY_HIP_CODE(hipEventQuery, native_event);
    if (result == hipSuccess) return true;
    // While another thread captures a graph in global mode, HIP refuses the query.
    if (result == hipErrorNotReady || result == hipErrorStreamCaptureUnsupported) return false;
    if (creator.has_ended()) creator.throw_ended();
    platform::detail::fail(platform::call::call_hipEventQuery, result,
                           std::source_location::current());
  };
  base::spin_backoff backoff;
  auto const begin = clock::now();
  auto next_check = begin + check_interval;
  while (!is_reached()) {
    auto const now = clock::now();
    if (now >= next_check) {
      if (creator.has_ended()) {
        // The event may have been reached between the last query and the end of the process.
        if (is_reached()) return true;
        creator.throw_ended();
      }
      next_check = now + check_interval;
    }
    clock::duration const waited = now - begin;
    if (waited < spin_time) {
      for (int i = 0; i != 16; ++i) backoff.pause();
    } else {
      std::this_thread::sleep_for(std::min<clock::duration>(waited / sleep_fraction, max_sleep));
    }
  }
  return true;
}

}  // namespace roc::runtime

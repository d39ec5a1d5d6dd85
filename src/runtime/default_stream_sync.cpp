// SPDX-License-Identifier: MIT
#include "runtime/default_stream_sync.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>

#include <roc/device.hpp>
#include <roc/event.hpp>

#include "base/error.hpp"
#include "base/no_destructor.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_uses.hpp"

namespace roc::runtime {
namespace {

// The work that was recorded on non-blocking streams, by device.
struct recorded_work {
  std::mutex mutex;
  std::map<int, stream_uses> by_device;  // guarded by mutex
};

// True after the first work on a non-blocking stream: most programs have none, and then no copy
// needs the lock of recorded_work.
std::atomic<bool> has_non_blocking_work = false;
// The number of record_work calls.
std::atomic<std::uint64_t> work_count = 0;
// The work_count at the beginning of the last synchronize_all_streams, and its device. They are
// packed into one number, so that both are updated together.
std::atomic<std::uint64_t> last_wait = 0;

// The number of abandoned_waits whose work is known to be done.
std::atomic<std::uint64_t> recovered_waits = 0;

std::uint64_t pack(std::uint64_t count, int device) {
  return (count << 8) | static_cast<std::uint64_t>(device);
}

// Never destroyed: the HIP runtime may shut down before static destructors run.
recorded_work& state() noexcept {
  static base::no_destructor<recorded_work> instance;
  return *instance;
}

}  // namespace

void record_work(stream_ref stream) {
  if (stream.kind() == detail::stream_kind::non_blocking) {
    stream_id const& id = stream_id_of(stream, stream.device_ordinal());
    has_non_blocking_work.store(true);
    std::lock_guard const lock(state().mutex);
    state().by_device[stream.device_ordinal()].add_with_event(id);
  }
  work_count.fetch_add(1);  // last: a wait that counts this work must find it recorded
}

void order_default_stream_after_all(int device) {
  if (!has_non_blocking_work.load()) return;
  std::lock_guard const lock(state().mutex);
  auto const work = state().by_device.find(device);
  if (work == state().by_device.end() || work->second.empty()) return;
  work->second.order_before(stream_id_of({}, device));
}

bool has_unsynchronized_work(int device) noexcept {
  return pack(work_count.load(), device) != last_wait.load();
}

void synchronize_all_streams(int device) {
  std::uint64_t const count = work_count.load();
  order_default_stream_after_all(device);
  // The event is work of the default stream, and so comes after the work of every blocking stream.
  event reached;
  reached.record();
  reached.synchronize();
  // This may replace the value of another thread that waited for more work. The next wait is then
  // superfluous, but harmless.
  last_wait.store(pack(count, device));
}

void synchronize_all_devices() {
  for (int device = 0; device < roc::device::count(); ++device) {
    on_device const guard(device);
    ROCARRAY_HIP(hipDeviceSynchronize);
  }
}

bool synchronize_all_devices_quietly() noexcept {
  for (bool is_last_attempt : {false, true}) {  // a transient failure must not leak memory
    try {
      synchronize_all_devices();
      return true;
    } catch (error const& failure) {
      if (platform::is_runtime_shut_down(failure)) return true;
      if (is_last_attempt) base::log_error(failure.what());
    } catch (std::exception const& failure) {
      if (is_last_attempt) base::log_error(failure.what());
    }
  }
  return false;
}

bool has_abandoned_work() noexcept { return recovered_waits.load() != abandoned_waits.load(); }

bool wait_for_abandoned_work() noexcept {
  std::uint64_t const count = abandoned_waits.load();
  std::uint64_t repeated = recovered_waits.load();
  if (repeated >= count) return true;
  if (!synchronize_all_devices_quietly()) return false;
  while (repeated < count && !recovered_waits.compare_exchange_weak(repeated, count)) {
  }
  return true;
}

}  // namespace roc::runtime

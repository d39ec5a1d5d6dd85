// SPDX-License-Identifier: MIT
#include "runtime/default_stream_sync.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <roc/device.hpp>
#include <roc/event.hpp>

#include "base/error.hpp"
#include "base/no_destructor.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_uses.hpp"

namespace roc::runtime {
namespace {

using sync_detail::has_default_stream_work;
using sync_detail::work_count;

// In mode deferred of the host platform, a query executes work that nothing has waited for.
#if ROCARRAY_PLATFORM_HOST
constexpr bool may_query_events = false;
#else
constexpr bool may_query_events = true;
#endif

// The work of a default stream, if sync_detail::reads_small_sources_early.
struct default_stream_work {
  event last;  // after the last work
  bool is_pending = false;
};

// The work that was recorded, by device. The mutex guards the other members.
struct recorded_work {
  std::mutex mutex;
  std::map<int, stream_uses> on_non_blocking_streams;
  std::map<int, default_stream_work> on_default_stream;
  std::map<int, std::vector<event>> unused_events;  // by device; not recorded, or reached
};

// True after the first work on a non-blocking stream: most programs have none, and then no copy
// needs the lock of recorded_work.
std::atomic<bool> has_non_blocking_work = false;
// Devices with larger ordinals count as having pending work.
constexpr std::size_t max_counted_devices = 64;
// By device: one more than the work_count at the beginning of the last synchronize_all_streams, or
// 0 if there was none.
constinit std::array<std::atomic<std::uint64_t>, max_counted_devices> last_waits{};

// The number of abandoned_waits whose work is known to be done: on all devices, and by device.
std::atomic<std::uint64_t> recovered_waits = 0;
constinit std::array<std::atomic<std::uint64_t>, max_counted_devices> recovered_waits_of{};

constinit std::atomic<device_failure_handler> failure_handler = nullptr;

void raise_to(std::atomic<std::uint64_t>& number, std::uint64_t to) noexcept {
  std::uint64_t known = number.load();
  while (known < to && !number.compare_exchange_weak(known, to)) {
  }
}

// Never destroyed: the HIP runtime may shut down before static destructors run.
recorded_work& state() noexcept {
  static base::no_destructor<recorded_work> instance;
  return *instance;
}

// Records an event on the default stream `stream`, whose device is current: after work that others
// must wait for, if `has_work`.
void record_default_stream_event(stream_ref stream, bool has_work) {
  int const device = has_one_device() ? 0 : device_of(stream, current_device());
  std::lock_guard const lock(state().mutex);
  default_stream_work& work = state().on_default_stream[device];
  record(work.last, stream_id_of({}, device));
  if (!has_work) return;
  work.is_pending = true;
  has_default_stream_work.store(true);
}

// Returns an event of a device, which must be current: a kept one, or a new one. Throws roc::error.
event take_event(int device) {
  {
    std::lock_guard const lock(state().mutex);
    auto& events = state().unused_events[device];
    if (!events.empty()) {
      event taken = std::move(events.back());
      events.pop_back();
      return taken;
    }
  }
  return event();
}

// Keeps an event that has been reached for later calls of take_event. Throws std::bad_alloc.
void keep_event(int device, event reached) {
  std::lock_guard const lock(state().mutex);
  state().unused_events[device].push_back(std::move(reached));
}

}  // namespace

void sync_detail::record_event_after_work(stream_ref stream) {
  if (stream.kind() != detail::stream_kind::non_blocking) {
    return record_default_stream_event(stream, true);
  }
  stream_id const& id = stream_id_of(stream, stream.device_ordinal());
  has_non_blocking_work.store(true);
  std::lock_guard const lock(state().mutex);
  state().on_non_blocking_streams[stream.device_ordinal()].add_with_event(id);
}

void sync_detail::order_small_upload_by_event(stream_ref stream) {
  if (stream.kind() == detail::stream_kind::default_stream) {
    return record_default_stream_event(stream, false);
  }
  int const device = stream.device_ordinal() >= 0 ? stream.device_ordinal() : current_device();
  std::lock_guard const lock(state().mutex);
  auto& all_work = state().on_default_stream;
  auto const found = all_work.find(device);
  if (found == all_work.end() || !found->second.is_pending) return;
  if (!may_query_events || !found->second.last.query()) {
    return stream.wait(found->second.last);
  }
  found->second.is_pending = false;
  has_default_stream_work.store(std::any_of(
      all_work.begin(), all_work.end(), [](auto const& work) { return work.second.is_pending; }));
}

void order_default_stream_after_all(int device) {
  if (!has_non_blocking_work.load()) return;
  std::lock_guard const lock(state().mutex);
  auto const work = state().on_non_blocking_streams.find(device);
  if (work == state().on_non_blocking_streams.end() || work->second.empty()) return;
  work->second.order_before(stream_id_of({}, device));
}

bool has_unsynchronized_work(int device) noexcept {
  auto const index = static_cast<std::size_t>(device);
  return index >= max_counted_devices || last_waits[index].load() != work_count.load() + 1;
}

void synchronize_all_streams(int device) {
  std::uint64_t const count = work_count.load();
  order_default_stream_after_all(device);
  // The event is work of the default stream, and so comes after the work of every blocking stream.
  event reached = take_event(device);
  record(reached, stream_id_of({}, device));
  reached.synchronize();
  keep_event(device, std::move(reached));
  // This may replace the value of another thread that waited for more work. The next wait is then
  // superfluous, but harmless.
  auto const index = static_cast<std::size_t>(device);
  if (index < max_counted_devices) last_waits[index].store(count + 1);
}

void synchronize_other_device(int device) {
  if (has_unsynchronized_work(device)) return synchronize_all_streams(device);
  // Only work that was not enqueued by the library may be pending.
  hipStream_t const default_stream = nullptr;
  ROCARRAY_HIP(hipStreamSynchronize, default_stream);
}

namespace {

// Does what synchronize_device does. Returns false if work of foreign non-blocking streams may be
// pending still, because a graph is captured.
bool wait_for_device(int device) {
  on_device const guard(device);
  if (!is_any_capture_active()) {
    ROCARRAY_HIP(hipDeviceSynchronize);
    return true;
  }
  synchronize_all_streams(device);
  synchronize_non_blocking_streams(device);
  return false;
}

// Does what synchronize_all_devices does. Returns false as wait_for_device does.
bool wait_for_all_devices() {
  bool are_idle = true;
  for (int device = 0; device < roc::device::count(); ++device) {
    are_idle = wait_for_device(device) && are_idle;
  }
  return are_idle;
}

}  // namespace

void synchronize_device(int device) { static_cast<void>(wait_for_device(device)); }

void synchronize_all_devices() { static_cast<void>(wait_for_all_devices()); }

namespace {

enum class wait_result { failed, covers_a_part, covers_all_work };

wait_result wait_quietly_for_all_devices() noexcept {
  std::uint64_t const count = abandoned_waits.load();
  for (bool is_last_attempt : {false, true}) {  // a transient failure must not leak memory
    try {
      if (!wait_for_all_devices()) return wait_result::covers_a_part;
      raise_to(recovered_waits, count);
      return wait_result::covers_all_work;
    } catch (error const& failure) {
      if (platform::is_runtime_shut_down(failure)) {
        raise_to(recovered_waits, count);
        return wait_result::covers_all_work;
      }
      if (is_last_attempt) base::log_error(failure.what());
    } catch (std::exception const& failure) {
      if (is_last_attempt) base::log_error(failure.what());
    }
  }
  return wait_result::failed;
}

}  // namespace

bool synchronize_all_devices_quietly() noexcept {
  return wait_quietly_for_all_devices() != wait_result::failed;
}

bool complete_all_work_quietly() noexcept {
  return wait_quietly_for_all_devices() == wait_result::covers_all_work;
}

void set_device_failure_handler(device_failure_handler handler) noexcept {
  failure_handler.store(handler);
}

namespace {

// Returns true for the codes after which HIP may execute nothing on the device any more:
// hipErrorECCNotCorrectable, IllegalAddress, LaunchTimeOut, Assert, LaunchFailure, and Unknown,
// which HIP returns for CUDA's codes that it lacks. As numbers, because HIP on the CPU has no names
// for some. An error of the stream alone, such as an invalid handle, is not among them.
bool may_have_failed_device(hipError_t code) noexcept {
  constexpr std::array<int, 6> codes{214, 700, 702, 710, 719, 999};
  return std::find(codes.begin(), codes.end(), static_cast<int>(code)) != codes.end();
}

}  // namespace

void report_if_failed(int device, hipStream_t stream, hipError_t code) noexcept {
  device_failure_handler const handler = failure_handler.load();
  if (handler == nullptr || !may_have_failed_device(code)) return;
  if (ROCARRAY_HIP_CODE(hipStreamQuery, stream) != code) return;
  bool const is_known = device >= 0 || platform::retry_then_log([&] { device = current_device(); });
  if (is_known) handler(device);
}

bool synchronize_quietly(stream_ref stream, int device) noexcept {
  if (stream.kind() == detail::stream_kind::none || is_handle_destroyed(stream.handle()))
    return true;
  if (fail_capture(stream)) return true;  // nothing is pending
  auto* const native = reinterpret_cast<hipStream_t>(stream.handle());
  device = device_of(stream, device);
  std::optional<on_device> guard;
  bool const is_current = device < 0 || platform::retry_then_log([&] {
                            if (!has_one_device()) guard.emplace(device);
                          });
  // On another device, the handle of a default stream means another stream. Other handles mean the
  // same stream on all devices.
  bool const can_wait = is_current || !is_device_relative(stream.handle());
  bool is_idle = can_wait && ROCARRAY_HIP_QUIET(hipStreamSynchronize, native);
  if (!is_idle && can_wait && (!is_current || is_any_capture_active())) {
    // HIP waits only for the current device, and for none while a graph is captured.
    is_idle = ROCARRAY_HIP_QUIET(hipStreamSynchronize, native);
  } else if (!is_idle && is_current) {
    hipError_t const result = ROCARRAY_HIP_CODE(hipDeviceSynchronize);
    // After the runtime has shut down, nothing is pending.
    is_idle = result == hipSuccess || result == hipErrorDeinitialized;
    if (!is_idle) report_if_failed(device, native, result);
  }
  if (!is_idle && !is_current) {
    is_idle = complete_all_work_quietly();
  }
  if (!is_idle) abandon_wait();
  return is_idle;
}

bool has_abandoned_work() noexcept { return recovered_waits.load() != abandoned_waits.load(); }

bool wait_for_abandoned_work() noexcept {
  std::uint64_t const count = abandoned_waits.load();
  if (recovered_waits.load() >= count) return true;
  // While a graph is captured, the wait does not cover all work.
  return synchronize_all_devices_quietly() && recovered_waits.load() >= count;
}

void record_idle_device(int device, std::uint64_t abandoned) {
  auto const devices = static_cast<std::size_t>(roc::device::count());
  if (devices > max_counted_devices) return;  // a wait for all of them recovers the work
  raise_to(recovered_waits_of[static_cast<std::size_t>(device)], abandoned);
  std::uint64_t least = abandoned;
  for (std::size_t i = 0; i != devices; ++i) least = std::min(least, recovered_waits_of[i].load());
  raise_to(recovered_waits, least);
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
// The order of work that HIP does not order: calls without a stream after all earlier work of their
// device, and, on NVIDIA, small copies between the default stream and blocking streams.
//
// Calls without a stream run on the legacy default stream. HIP orders it after every blocking
// stream, but not after non-blocking streams. For those the library keeps an event after the last
// work that it enqueued there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <roc/error.hpp>
#include <roc/stream.hpp>

#include "platform/hip.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::runtime {

namespace sync_detail {

// AMD's runtime reads the sources of small copies in the order of the streams.
#if ROCARRAY_PLATFORM_AMD
inline constexpr bool reads_small_sources_early = false;
#else
inline constexpr bool reads_small_sources_early = true;
#endif

/// True if an event after work of a default stream may not have been reached. Changes only under
/// the mutex of the recorded work.
inline std::atomic<bool> has_default_stream_work = false;
/// The number of record_work calls.
inline std::atomic<std::uint64_t> work_count = 0;

/// Returns true if record_work must record an event on streams of this kind.
constexpr bool needs_event(detail::stream_kind kind) noexcept {
  return kind == detail::stream_kind::non_blocking ||
         (reads_small_sources_early && kind == detail::stream_kind::default_stream);
}
/// Implement record_work and order_small_upload if they call HIP. Take a process-wide lock.
void record_event_after_work(stream_ref stream);
void order_small_upload_by_event(stream_ref stream);

}  // namespace sync_detail

/// Records that the library has enqueued work on `stream`. For a non-blocking stream this records
/// an event, which order_default_stream_after_all waits for. For the default stream, whose device
/// must be current, it records one that order_small_upload waits for; not on AMD. Takes a
/// process-wide lock then. Does not block on work. Throws roc::error.
inline void record_work(stream_ref stream) {
  if (belongs_to_capture(stream)) return;  // the launch of the graph records its work
  if (sync_detail::needs_event(stream.kind())) sync_detail::record_event_after_work(stream);
  // Last: a wait that counts this work must find it recorded.
  sync_detail::work_count.fetch_add(1);
}

/// The largest copy to the device for which order_small_upload is called. CUDA 13.0 reads up to 24
/// KiB too early; other versions may have another limit.
inline constexpr std::size_t max_small_upload = 64 << 10;

/// Called before a copy of pinned host memory to the device is enqueued on `stream`. The device
/// must be current if `stream` is the default stream or a per-thread stream.
///
/// Makes up for a defect of CUDA's driver (seen with CUDA 13.0, driver 580.159). The default stream
/// and blocking streams wait for each other. But a copy of one row of at most 24 KiB reads its
/// source when it is enqueued, if its own stream is idle except for recorded events: it misses what
/// pending work of the other stream writes. It reads the source later if its stream waits for an
/// event.
///
/// If `stream` is the default stream, records an event on it: the default stream then waits for the
/// blocking streams before the copy. If it is a blocking stream, makes it wait for the event after
/// the library's last work on the default stream. Does not cover work that was enqueued without the
/// library. Does nothing for a non-blocking stream, and on AMD. Does not block on work; calls HIP
/// under a process-wide lock. Throws roc::error.
inline void order_small_upload(stream_ref stream) {
  using detail::stream_kind;
  if (!sync_detail::reads_small_sources_early || stream.kind() == stream_kind::non_blocking) return;
  bool const is_default = stream.kind() == stream_kind::default_stream;
  if (!is_default && !sync_detail::has_default_stream_work.load()) return;
  sync_detail::order_small_upload_by_event(stream);
}

/// Blocks until the stream is idle, after an error: work that was enqueued before the error must
/// not access memory that the caller frees next. `device` is that of the default stream, or -1: the
/// current one. If the stream cannot be awaited, blocks until its device is idle, or all devices if
/// that device cannot be made current; while a graph is captured, that does not cover all work. A
/// default stream or per-thread stream cannot be awaited if its device cannot be made current. Logs
/// errors of HIP.
///
/// Returns false, after logging what that means, if work may still be pending: memory of the
/// library that it uses must then not be used again or freed before wait_for_abandoned_work has
/// succeeded. Does nothing and returns true for a stream that was moved from or destroyed. Returns
/// true for a captured stream, whose capture it marks as failed.
bool synchronize_quietly(stream_ref stream, int device = -1) noexcept;

/// A function that is called with the ordinal of a device that has failed.
using device_failure_handler = void (*)(int device) noexcept;
/// Sets the function that is called in the thread that finds a failed device, before the call that
/// has failed returns. It must not call HIP. Takes no lock.
void set_device_failure_handler(device_failure_handler handler) noexcept;
/// Calls the handler if `device` (-1: the current one) has failed: after some errors, such as those
/// of kernels, HIP executes nothing on a device any more, and every call returns the same error.
/// Called after a wait for the device, or for `stream` on it, has failed with `code`. Asks HIP for
/// the state of `stream`, which a device that works can tell. The device must be current if
/// `stream` is null. Does not block.
void report_if_failed(int device, hipStream_t stream, hipError_t code) noexcept;
/// Returns wait(), which waits for the device, or for `stream` on it, or queries them. If it throws
/// an error of HIP, calls report_if_failed first.
template <class F>
auto reporting_failure(int device, hipStream_t stream, F const& wait) {
  try {
    return wait();
  } catch (error const& failure) {
    report_if_failed(device, stream, static_cast<hipError_t>(failure.code().value()));
    throw;
  }
}

/// Calls `enqueue`, which enqueues work on `stream`, and records that work. If either throws,
/// blocks until the stream is idle and then rethrows: the caller frees its memory next.
template <class F>
void enqueue_and_record(stream_ref stream, F enqueue) {
  try {
    enqueue();
    record_work(stream);
  } catch (...) {
    synchronize_quietly(stream);
    throw;
  }
}

/// Makes the default stream of `device` wait for the work recorded on the device's non-blocking
/// streams. Does not query work again that an earlier call has found finished. Calls HIP under a
/// process-wide lock, but does not block on work. `device` must be current. Throws roc::error.
void order_default_stream_after_all(int device);

/// Returns true if work may have been recorded, on any device, since the last
/// synchronize_all_streams for this one. Calls no HIP.
bool has_unsynchronized_work(int device) noexcept;

/// Blocks until all work that the library has recorded on `device`, and all work on its blocking
/// streams, is done. `device` must be current. Throws roc::error.
void synchronize_all_streams(int device);

/// Does what synchronize_all_streams does, at lower cost if no work was recorded since the last
/// wait. `device` must be current. Throws roc::error.
void synchronize_other_device(int device);

/// Blocks until a device is idle, including work that was not enqueued by the library. While a
/// graph is captured, in any thread, HIP refuses that and would invalidate the capture. Then this
/// blocks until the work is done that the library has recorded, and all work of blocking streams
/// and of streams that the library has created. Throws roc::error.
void synchronize_device(int device);
/// Calls synchronize_device for every device. Throws roc::error.
void synchronize_all_devices();
/// Does what synchronize_all_devices does, but logs errors and returns false if work may still be
/// pending. Returns true if the runtime has shut down: nothing is pending then.
bool synchronize_all_devices_quietly() noexcept;
/// Does what synchronize_all_devices_quietly does, but returns false also if a capture kept it from
/// waiting for all work.
bool complete_all_work_quietly() noexcept;

/// Returns true if work may be pending that nothing has recorded, because a wait for it has failed
/// (abandoned_waits), and not all devices have been idle since. Host memory, staging memory and
/// internal streams of the library must not be freed or used again while that work may use them.
/// Calls no HIP.
bool has_abandoned_work() noexcept;
/// Blocks until no such work is pending. Calls HIP only if there is any. Logs errors, and returns
/// false if such work may still be pending.
bool wait_for_abandoned_work() noexcept;
/// Records that a device has been idle since abandoned_waits had the value `abandoned`. Throws
/// roc::error.
void record_idle_device(int device, std::uint64_t abandoned);

}  // namespace roc::runtime

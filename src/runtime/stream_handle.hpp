// SPDX-License-Identifier: MIT
// HIP's handle of a stream_ref, and the device that it belongs to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <roc/stream.hpp>

#include "platform/hip.hpp"
#include "runtime/current_device.hpp"

namespace roc::runtime {

// The functions that every copy calls are inline.

// Detection of stream_refs that are used after their stream was destroyed. A later stream may get
// the handle, so the library remembers the handles of streams that were destroyed recently, in a
// lossy set: a newer handle may replace an older one. No function takes a lock.

/// The handles of streams that were destroyed recently: a lossy hash set with one handle per slot.
/// Constant-initialized and trivially destructible: static objects may create and destroy streams
/// before and after every other static object.
class destroyed_handle_set {
 public:
  void add(detail::native_stream* handle) noexcept {
    slot_of(handle).store(handle, std::memory_order_relaxed);
  }
  void remove(detail::native_stream* handle) noexcept {
    slot_of(handle).compare_exchange_strong(handle, nullptr, std::memory_order_relaxed);
  }
  bool contains(detail::native_stream* handle) noexcept {
    return slot_of(handle).load(std::memory_order_relaxed) == handle;
  }

 private:
  static constexpr unsigned bits = 10;

  std::atomic<detail::native_stream*>& slot_of(detail::native_stream* handle) noexcept {
    auto const number = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
    return slots_[static_cast<std::size_t>((number * 0x9E3779B97F4A7C15u) >> (64 - bits))];
  }

  std::array<std::atomic<detail::native_stream*>, std::size_t{1} << bits> slots_{};
};
inline constinit destroyed_handle_set destroyed_handles;

/// Remembers that the stream of a handle was destroyed. Call this before another stream can get the
/// handle.
inline void mark_handle_destroyed(detail::native_stream* handle) noexcept {
  destroyed_handles.add(handle);
}
/// Forgets that the stream of a handle was destroyed, because another stream has the handle.
inline void mark_handle_alive(detail::native_stream* handle) noexcept {
  destroyed_handles.remove(handle);
}
/// Returns true only if the stream of this handle was destroyed; false if it is alive or unknown.
inline bool is_handle_destroyed(detail::native_stream* handle) noexcept {
  return handle != nullptr && destroyed_handles.contains(handle);
}
/// Throws the lifetime_error for a stream that was destroyed.
[[noreturn]] void throw_destroyed();
/// Throws the lifetime_error for a stream that was moved from.
[[noreturn]] void throw_moved_from();

/// Returns HIP's handle of the stream. Throws lifetime_error if the stream was moved from, or if it
/// is known to have been destroyed (is_handle_destroyed). Does not call HIP.
inline hipStream_t handle(stream_ref stream) {
  if (stream.kind() == detail::stream_kind::none) [[unlikely]]
    throw_moved_from();
  if (is_handle_destroyed(stream.handle())) [[unlikely]]
    throw_destroyed();
  return reinterpret_cast<hipStream_t>(stream.handle());
}

/// Returns the device of the stream, or `fallback` for the default stream, which has none.
inline int device_of(stream_ref stream, int fallback) noexcept {
  return stream.device_ordinal() >= 0 ? stream.device_ordinal() : fallback;
}

/// Throws the roc::error of a stream that is on neither device of the arrays.
[[noreturn]] void throw_other_device(int stream_device, int first, int second);

/// Returns the device on which to enqueue work for `stream` that accesses memory of the devices
/// `first` and `second` (-1: the current device). Throws roc::error if the stream belongs to
/// neither.
inline int device_for(stream_ref stream, int first, int second) {
  int const stream_device = stream.device_ordinal();
  int const current =
      first < 0 || second < 0 || stream_device < 0 ? current_device() : stream_device;
  if (first < 0) first = current;
  if (second < 0) second = current;
  int const work_device = device_of(stream, current);
  if (work_device != first && work_device != second) [[unlikely]]
    throw_other_device(work_device, first, second);
  return work_device;
}

/// The number of waits that have failed without a replacement: the wait for the device, which
/// replaces a failed wait, failed too or was not possible. See has_abandoned_work.
inline std::atomic<std::uint64_t> abandoned_waits = 0;
/// Counts a wait that has failed, and logs what that means.
void abandon_wait() noexcept;

/// Returns true for hipStreamPerThread: the same handle means a different stream in each thread and
/// on each device.
inline bool is_per_thread_handle(detail::native_stream* handle) noexcept {
  return reinterpret_cast<hipStream_t>(handle) == hipStreamPerThread;
}

/// Returns true for hipStreamLegacy (1), the other handle of the default stream, if the runtime has
/// it.
inline bool is_legacy_handle(detail::native_stream* handle) noexcept {
#if ROCARRAY_PLATFORM_NVIDIA
  return reinterpret_cast<std::uintptr_t>(handle) == 1;
#else
  static_cast<void>(handle);
  return false;
#endif
}

/// Returns true for handles that mean a different stream on each device: null and hipStreamLegacy
/// (1, if the runtime has it), which are the default stream, and hipStreamPerThread (2).
inline bool is_device_relative(detail::native_stream* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle) <= 2;
}

/// Makes the device of a per-thread stream current for a scope, because the handle does not
/// identify the device. Does nothing for other streams.
class on_stream_device {
 public:
  explicit on_stream_device(stream_ref stream) {
    if (is_per_thread_handle(stream.handle()) && stream.device_ordinal() >= 0) {
      guard_.emplace(stream.device_ordinal());
    }
  }

 private:
  std::optional<on_device> guard_;
};

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
#include "runtime/stream_handle.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <system_error>

#include <roc/error.hpp>

#include "base/error.hpp"
#include "runtime/current_device.hpp"

namespace roc::runtime {
namespace {

// The handles of streams that were destroyed recently: a lossy hash set with one handle per slot.
// Constant-initialized and trivially destructible: static objects may create and destroy streams
// before and after every other static object.
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

constinit destroyed_handle_set destroyed_handles;

}  // namespace

using detail::stream_kind;

void mark_handle_destroyed(detail::native_stream* handle) noexcept {
  destroyed_handles.add(handle);
}

void mark_handle_alive(detail::native_stream* handle) noexcept { destroyed_handles.remove(handle); }

bool is_handle_destroyed(detail::native_stream* handle) noexcept {
  return handle != nullptr && destroyed_handles.contains(handle);
}

void throw_destroyed() {
  throw lifetime_error(
      "the stream has been destroyed; let a stream live as long as its stream_refs are used");
}

hipStream_t handle(stream_ref stream) {
  if (stream.kind() == stream_kind::none) {
    throw lifetime_error("the stream was moved from; use the stream that it was moved to");
  }
  if (is_handle_destroyed(stream.handle())) throw_destroyed();
  return reinterpret_cast<hipStream_t>(stream.handle());
}

int device_for(stream_ref stream, int first, int second) {
  int const stream_device = stream.device_ordinal();
  int const current =
      first < 0 || second < 0 || stream_device < 0 ? current_device() : stream_device;
  if (first < 0) first = current;
  if (second < 0) second = current;
  int const work_device = device_of(stream, current);
  if (work_device != first && work_device != second) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "the stream is on device " + std::to_string(work_device) +
                    (first == second
                         ? ", but the array is on device " + std::to_string(first) +
                               "; use a stream of the array's device"
                         : ", but the arrays are on devices " + std::to_string(first) + " and " +
                               std::to_string(second) + "; use a stream of one of them"));
  }
  return work_device;
}

void abandon_wait() noexcept {
  abandoned_waits.fetch_add(1);
  base::log_error(
      "a failed call cannot wait for the work that it enqueued: the work may still access the "
      "call's arrays; keep them until the process ends");
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
// Detection of stream_refs that are used after their stream was destroyed. HIP may crash if it
// receives such a handle, so the library remembers the handles that it destroyed recently.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <roc/stream.hpp>

namespace roc::runtime {

// A lossy hash set with one handle per slot: a newer handle replaces an older one. A lookup costs
// one load and takes no lock.
struct destroyed_handle_set {
  static constexpr unsigned bits = 10;
  std::array<std::atomic<detail::native_stream*>, std::size_t{1} << bits> slots{};

  std::atomic<detail::native_stream*>& slot_of(detail::native_stream* handle) noexcept {
    auto const number = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
    return slots[static_cast<std::size_t>((number * 0x9E3779B97F4A7C15u) >> (64 - bits))];
  }
};

extern destroyed_handle_set destroyed_handles;

/// Remembers a handle as destroyed. Call this before hipStreamDestroy: another thread's new stream
/// may get the handle right after.
inline void mark_handle_destroyed(detail::native_stream* handle) noexcept {
  destroyed_handles.slot_of(handle).store(handle, std::memory_order_relaxed);
}

/// Forgets that a handle was destroyed, because a new stream has it.
inline void mark_handle_alive(detail::native_stream* handle) noexcept {
  destroyed_handles.slot_of(handle).compare_exchange_strong(handle, nullptr,
                                                            std::memory_order_relaxed);
}

/// Returns true only if the stream of this handle was destroyed; false if it is alive or unknown.
inline bool is_handle_destroyed(detail::native_stream* handle) noexcept {
  return handle != nullptr &&
         destroyed_handles.slot_of(handle).load(std::memory_order_relaxed) == handle;
}

}  // namespace roc::runtime

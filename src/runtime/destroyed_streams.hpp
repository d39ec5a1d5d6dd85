// SPDX-License-Identifier: MIT
// Handles of streams that the library destroyed lately: a stream_ref that is used too long is found
// out here, where the runtime may crash.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <roc/stream.hpp>

namespace roc::runtime {

// One place for each hash: a later handle replaces an earlier one, of which nothing is known then.
// So looking one up costs a load, and no lock.
struct destroyed_handles {
  static constexpr unsigned bits = 10;
  std::array<std::atomic<detail::native_stream*>, std::size_t{1} << bits> by_hash{};

  std::atomic<detail::native_stream*>& place(detail::native_stream* handle) noexcept {
    auto const number = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
    return by_hash[static_cast<std::size_t>((number * 0x9E3779B97F4A7C15u) >> (64 - bits))];
  }
};

extern destroyed_handles destroyed;

/// The library is about to destroy it.
inline void note_destroyed(detail::native_stream* handle) noexcept {
  destroyed.place(handle).store(handle, std::memory_order_relaxed);
}

/// The handle has been seen as a new stream's.
inline void note_living(detail::native_stream* handle) noexcept {
  destroyed.place(handle).compare_exchange_strong(handle, nullptr, std::memory_order_relaxed);
}

/// Never true for a stream that lives.
inline bool is_destroyed(detail::native_stream* handle) noexcept {
  return handle != nullptr && destroyed.place(handle).load(std::memory_order_relaxed) == handle;
}

}  // namespace roc::runtime

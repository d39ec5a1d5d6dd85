// SPDX-License-Identifier: MIT
// Memory of any kind with guard bands on both sides.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include <roc/device_array.hpp>
#include <roc/host_array.hpp>
#include <roc/registration.hpp>

#include "cases.hpp"

namespace rocbench {

enum class memory_kind : unsigned char {
  device,
  pinned,
  pageable,
  registered,
  write_combined,
  mapped,
  managed,
};

/// As a case's name says it.
char const* to_string(memory_kind kind) noexcept;

/// Bytes of a guard band: a page, so that the payload keeps the alignment of the whole.
inline constexpr std::size_t guard_bytes = 4096;

/// A payload with guard_bytes before and behind it, uninitialised. On the current device where it
/// is device memory: not to be touched by the host then. Registered memory is registered by the
/// caller's way: by the library, in pieces where it is large, or in one by hipHostRegister, as CUDA
/// refuses one copy over two registrations. Throws out_of_memory, roc::error.
class guarded_buffer {
 public:
  guarded_buffer(memory_kind kind, std::size_t bytes, caller registers = caller::library);

  memory_kind kind() const noexcept { return kind_; }
  bool on_device() const noexcept { return kind_ == memory_kind::device; }
  std::size_t bytes() const noexcept { return bytes_; }
  /// The device of device memory.
  int device_ordinal() const { return device_.device_ordinal(); }
  std::size_t whole_bytes() const noexcept { return bytes_ + 2 * guard_bytes; }
  std::byte* payload() { return whole() + guard_bytes; }
  /// The first guard band, where the whole begins.
  std::byte* whole() { return on_device() ? device_.data() : host_.data(); }
  /// The whole, of any memory but the device's.
  roc::host_array<std::byte>& host() { return host_; }

 private:
  struct unregister {
    void operator()(void* whole) const noexcept;
  };

  memory_kind kind_;
  std::size_t bytes_;
  roc::device_array<std::byte> device_;
  roc::host_array<std::byte> host_;
  // Both end before the memory goes.
  std::optional<roc::registration> registration_;
  std::unique_ptr<void, unregister> registered_whole_;
};

/// The parts of a whole buffer, or of a copy of it.
struct guarded_parts {
  explicit guarded_parts(std::span<std::byte> whole)
      : before(whole.first(guard_bytes)),
        payload(whole.subspan(guard_bytes, whole.size() - 2 * guard_bytes)),
        behind(whole.last(guard_bytes)) {}

  std::span<std::byte> before;
  std::span<std::byte> payload;
  std::span<std::byte> behind;
};

}  // namespace rocbench

// SPDX-License-Identifier: MIT
// Memory of any kind with a guard band before and after the payload.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include <roc/device_array.hpp>
#include <roc/host_array.hpp>
#include <roc/registration.hpp>

#include "benchmark_case.hpp"

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

/// Returns the name that case names use, such as "wc" for write_combined.
char const* to_string(memory_kind kind) noexcept;

/// Bytes of a guard band: one page, so that the payload is aligned as the allocation is.
inline constexpr std::size_t guard_bytes = 4096;

/// An uninitialized payload between two guard bands. Device memory is allocated on the current
/// device and must not be accessed by the host.
///
/// `registration_api` selects how registered memory is registered. roc::register_host registers
/// large ranges in several parts. hipHostRegister registers one range, as raw copies need: CUDA
/// refuses a copy across two registrations. Throws out_of_memory, roc::error.
class guarded_buffer {
 public:
  guarded_buffer(memory_kind kind, std::size_t bytes,
                 api_kind registration_api = api_kind::library);

  memory_kind kind() const noexcept { return kind_; }
  bool is_device_memory() const noexcept { return kind_ == memory_kind::device; }
  /// Returns the size of the payload in bytes.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Returns the ordinal of the device that device memory belongs to. Precondition:
  /// is_device_memory().
  int device_ordinal() const { return device_.device_ordinal(); }
  /// Returns the size of payload and guard bands in bytes.
  std::size_t allocation_bytes() const noexcept { return bytes_ + 2 * guard_bytes; }
  std::byte* payload() { return allocation() + guard_bytes; }
  /// Returns the start of the allocation, which is the guard band before the payload.
  std::byte* allocation() { return is_device_memory() ? device_.data() : host_.data(); }
  /// Returns the allocation as an array; empty if it is device memory.
  roc::host_array<std::byte>& host_allocation() { return host_; }

 private:
  struct hip_unregister {
    void operator()(void* allocation) const noexcept;
  };

  memory_kind kind_;
  std::size_t bytes_;
  roc::device_array<std::byte> device_;
  roc::host_array<std::byte> host_;
  // Declared after the memory, so that memory is unregistered before it is freed.
  std::optional<roc::registration> registration_;
  std::unique_ptr<void, hip_unregister> hip_registration_;
};

/// The payload and the guard bands of an allocation, or of a copy of it.
struct guarded_spans {
  explicit guarded_spans(std::span<std::byte> allocation)
      : guard_before(allocation.first(guard_bytes)),
        payload(allocation.subspan(guard_bytes, allocation.size() - 2 * guard_bytes)),
        guard_after(allocation.last(guard_bytes)) {}

  std::span<std::byte> guard_before;
  std::span<std::byte> payload;
  std::span<std::byte> guard_after;
};

}  // namespace rocbench

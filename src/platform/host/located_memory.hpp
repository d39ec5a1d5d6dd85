// SPDX-License-Identifier: MIT
// The memory that a pointer argument of an enqueued operation refers to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roc::host_hip {

/// Returns the sum of two numbers of bytes, or the largest number if it is larger.
inline std::size_t saturating_sum(std::size_t a, std::size_t b) {
  std::size_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? SIZE_MAX : result;
}

enum class memory_kind { pageable, pinned, managed, device };

/// The memory of an operand, after its pointer was checked.
struct located_memory {
  // The address at which the operation accesses the memory: the host alias of device memory, the
  // host address of registered memory. Null if the pointer is invalid.
  std::byte* data = nullptr;
  memory_kind kind = memory_kind::pageable;
  // The range ends where an allocation of hipHostMalloc or hipMallocManaged ends. With the access
  // checker on, no other memory follows on its last page.
  bool ends_allocation = false;

  // Pinned, registered and managed memory is on both sides.
  bool on_device() const { return kind != memory_kind::pageable; }
  bool on_host() const { return kind != memory_kind::device; }
  bool is_migrated() const { return kind == memory_kind::managed || kind == memory_kind::device; }
};

/// Finds the memory of a range. Ranges that begin or end outside an allocation, or that straddle
/// the bounds of a registered range, are invalid.
located_memory locate(std::byte* data, std::size_t bytes);

}  // namespace roc::host_hip

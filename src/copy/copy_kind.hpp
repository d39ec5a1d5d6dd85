// SPDX-License-Identifier: MIT
// The kind of a copy: which side is host memory and which is device memory.
#pragma once

#include <roc/detail/strided_region.hpp>

namespace roc::transfer {

/// The memory spaces of the source and the destination, named as in hipMemcpyKind. The first bit
/// stands for a source and the second one for a destination in host memory.
enum class copy_kind : unsigned char {
  device_to_device = 0,
  host_to_device = 1,
  device_to_host = 2,
  host_to_host = 3,
};

/// Returns the kind of a copy from `source` to `destination`.
inline copy_kind copy_kind_of(detail::strided_region const& source,
                              detail::strided_region const& destination) noexcept {
  unsigned const from_host = source.space == detail::memory_space::host;
  unsigned const to_host = destination.space == detail::memory_space::host;
  return static_cast<copy_kind>(from_host | to_host << 1);
}

/// Returns the enumerator's name.
constexpr char const* to_string(copy_kind kind) noexcept {
  switch (kind) {
    case copy_kind::host_to_device: return "host_to_device";
    case copy_kind::device_to_host: return "device_to_host";
    case copy_kind::device_to_device: return "device_to_device";
    case copy_kind::host_to_host: break;
  }
  return "host_to_host";
}

/// Returns true if the source is host memory.
constexpr bool is_from_host(copy_kind kind) noexcept {
  return (static_cast<unsigned>(kind) & 1) != 0;
}

/// Returns true if the destination is host memory.
constexpr bool is_to_host(copy_kind kind) noexcept {
  return (static_cast<unsigned>(kind) & 2) != 0;
}

}  // namespace roc::transfer

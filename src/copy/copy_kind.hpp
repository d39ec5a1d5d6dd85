// SPDX-License-Identifier: MIT
// The kind of a copy: which side is host memory and which is device memory.
#pragma once

#include <roc/detail/strided_region.hpp>

namespace roc::transfer {

/// The memory spaces of the source and the destination, named as in hipMemcpyKind.
enum class copy_kind : unsigned char {
  host_to_device,
  device_to_host,
  device_to_device,
  host_to_host,
};

/// Returns the kind of a copy from `source` to `destination`.
inline copy_kind copy_kind_of(detail::strided_region const& source,
                              detail::strided_region const& destination) noexcept {
  bool const from_host = source.space == detail::memory_space::host;
  bool const to_host = destination.space == detail::memory_space::host;
  if (from_host) return to_host ? copy_kind::host_to_host : copy_kind::host_to_device;
  return to_host ? copy_kind::device_to_host : copy_kind::device_to_device;
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
  return kind == copy_kind::host_to_device || kind == copy_kind::host_to_host;
}

/// Returns true if the destination is host memory.
constexpr bool is_to_host(copy_kind kind) noexcept {
  return kind == copy_kind::device_to_host || kind == copy_kind::host_to_host;
}

}  // namespace roc::transfer

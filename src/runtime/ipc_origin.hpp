// SPDX-License-Identifier: MIT
// The process and the device that a handle for other processes comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <roc/detail/ipc_data.hpp>

#include "base/process_identity.hpp"

namespace roc::runtime {

/// Returns the identity of a process as a handle describes it.
base::process_identity identity_of(detail::ipc_origin const& origin) noexcept;
/// Returns the origin of handles that this process makes for a device. Throws roc::error.
detail::ipc_origin origin_of(int device);
/// Returns the ordinal in this process of the device that a handle names. Throws ipc_error if the
/// handle is from another boot or from this process, if its process has ended, or if the device is
/// not visible.
int device_of_origin(detail::ipc_origin const& origin);
/// Returns true if the process of the handle is known to have ended. `self` is the calling process.
/// Reads a file of /proc.
bool has_ended(detail::ipc_origin const& origin, base::process_identity const& self) noexcept;
/// Throws ipc_error if the process of the handle is known to have ended.
void check_running(detail::ipc_origin const& origin);

/// Returns a checksum of `bytes` bytes.
std::uint64_t checksum_of(void const* data, std::size_t bytes) noexcept;
/// Throws ipc_error for a handle that was never set or is damaged.
[[noreturn]] void throw_damaged_handle();

/// Returns the checksum of a handle's contents.
template <class Data>
std::uint64_t checksum_of(Data const& data) noexcept {
  static_assert(offsetof(Data, checksum) == 0);
  return checksum_of(reinterpret_cast<char const*>(&data) + sizeof data.checksum,
                     sizeof data - sizeof data.checksum);
}
template <class Data>
void check_checksum(Data const& data) {
  if (data.checksum != checksum_of(data)) throw_damaged_handle();
}

/// Converts between handles of HIP and their bytes.
template <class Native>
detail::ipc_native_handle bytes_of(Native const& handle) noexcept {
  detail::ipc_native_handle result;
  static_assert(sizeof result == sizeof handle);
  std::memcpy(&result, &handle, sizeof result);
  return result;
}
template <class Native>
Native native_handle(detail::ipc_native_handle const& bytes) noexcept {
  Native result;
  static_assert(sizeof result == sizeof bytes);
  std::memcpy(&result, &bytes, sizeof result);
  return result;
}

}  // namespace roc::runtime

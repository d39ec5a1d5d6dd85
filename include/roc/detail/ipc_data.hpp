// SPDX-License-Identifier: MIT
// The contents of the handles that other processes open. They have no padding, and the same layout
// in all programs that use the same version of the library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/detail/element_type.hpp>

namespace roc::detail {

/// The process that made a handle, and the device.
struct ipc_origin {
  std::array<std::uint64_t, 2> boot;  ///< of the machine; 0: unknown
  std::uint64_t pid_namespace;        ///< in which `pid` is valid; 0: unknown
  std::uint64_t start_time;           ///< of the process; 0: unknown
  std::int64_t pid;
  std::array<char, 32> pci_bus_id;  ///< of the device, such as "0000:3b:00.0"
};

using ipc_native_handle = std::array<unsigned char, 64>;  ///< a handle of HIP

struct ipc_event_data {
  std::uint64_t checksum;  ///< of the other members
  ipc_origin origin;
  ipc_native_handle native;
};

/// The type of elements. All bits are 0 for types that are not arithmetic, which `name` tells
/// apart.
struct ipc_element {
  element_type type;
  std::uint32_t bytes;
  std::uint64_t name;  ///< a hash; 0 for arithmetic types

  friend bool operator==(ipc_element const&, ipc_element const&) = default;
};

inline constexpr std::size_t ipc_max_rank = 16;

struct ipc_array_data {
  std::uint64_t checksum;  ///< of the other members
  ipc_origin origin;
  ipc_native_handle memory;  ///< of the allocation; unused if there are no elements
  ipc_native_handle event;   ///< unused unless has_event
  std::uint64_t has_event;
  // The allocation: its address in the exporting process, a number that no other allocation of the
  // process has (0: unknown), its bytes.
  std::uint64_t address;
  std::uint64_t number;
  std::uint64_t bytes;
  std::uint64_t offset;  ///< from the beginning of the allocation to the first element, in bytes
  ipc_element element;
  std::uint64_t rank;
  std::array<std::uint64_t, ipc_max_rank> shape;
  std::array<std::int64_t, ipc_max_rank> strides;  ///< in elements
};

static_assert(std::has_unique_object_representations_v<ipc_event_data>);
static_assert(std::has_unique_object_representations_v<ipc_array_data>);

}  // namespace roc::detail

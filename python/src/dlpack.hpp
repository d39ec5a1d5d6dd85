// SPDX-License-Identifier: MIT
// The structures of DLPack 1.1 that Python's capsules hold. roc_tensor has the layout of DLTensor.
// Declared here because the headers of distributions are older than the versioned structures.
#pragma once

#include <cstdint>

#include <roc/c.h>

namespace roc::python {

/// DLManagedTensor, in a capsule of the name "dltensor".
struct dlpack_managed {
  roc_tensor tensor;
  void* manager_context;
  void (*deleter)(dlpack_managed* self);
};

/// DLManagedTensorVersioned, in a capsule of the name "dltensor_versioned".
struct dlpack_managed_versioned {
  std::uint32_t major_version;
  std::uint32_t minor_version;
  void* manager_context;
  void (*deleter)(dlpack_managed_versioned* self);
  std::uint64_t flags;
  roc_tensor tensor;
};

inline constexpr std::uint32_t dlpack_major_version = 1;
inline constexpr std::uint32_t dlpack_minor_version = 1;

// Bits of `flags`.
inline constexpr std::uint64_t dlpack_read_only = 1;
inline constexpr std::uint64_t dlpack_is_copied = 2;
// Each element of less than 8 bits occupies a byte.
inline constexpr std::uint64_t dlpack_is_padded = 4;

/// The names of a capsule that has not been consumed, and of one that has.
template <class Managed>
inline constexpr char const* dlpack_name = "dltensor";
template <>
inline constexpr char const* dlpack_name<dlpack_managed_versioned> = "dltensor_versioned";
template <class Managed>
inline constexpr char const* dlpack_used_name = "used_dltensor";
template <>
inline constexpr char const* dlpack_used_name<dlpack_managed_versioned> = "used_dltensor_versioned";

}  // namespace roc::python

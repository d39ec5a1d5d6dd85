// SPDX-License-Identifier: MIT
// The boundary between the typed headers and the compiled library: operands without their types,
// and the entry points that take them.
#pragma once

#include <cstddef>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// The memory that an address belongs to.
enum class memory_space : unsigned char { host, device };

/// A strided region: one operand of a copy or fill. `shape` and `strides` have `rank` entries,
/// outermost axis first. Strides are signed and count elements. The region owns nothing: the
/// arrays that `shape` and `strides` point to must outlive it.
struct strided_region {
  void* data;
  std::size_t element_size;
  std::size_t rank;
  std::size_t const* shape;
  std::ptrdiff_t const* strides;
  memory_space space;
  int device;  // ordinal; -1 for host memory, and for the device that is current at the time of use
  // The following are found when the location of the memory is looked up or stated.
  /// Other code pinned or manages the memory, or may do so, and the host table does not know it.
  /// Its uses must be recorded by range, because the CPU and the device can access it at the same
  /// addresses. Host memory is pinned then.
  bool is_untracked = false;
  bool is_partly_pinned = false;  ///< a part is pinned: only the CPU may access it
};

/// Whether a call reads or writes an operand. name_of returns the operand's name in messages.
enum class operand_role : unsigned char { source, destination };
constexpr char const* name_of(operand_role role) {
  return role == operand_role::source ? "the source" : "the destination";
}

/// How an asynchronous copy may use its source: `copied` reads a pageable source before the call
/// returns, `borrowed` may read it until the stream has been synchronized.
enum class source_use : unsigned char { copied, borrowed };

/// Throws roc::error (hipErrorInvalidDevice) if there is no device with this ordinal. Every view
/// that names a device passes here when it is used; 0 is valid if there is any device.
ROCARRAY_API void check_device_exists(int ordinal);
inline void check_device(int ordinal) {
  if (ordinal > 0) check_device_exists(ordinal);
}

/// Copies element by element. If `stream` is null, the copy is ordered after all work enqueued
/// earlier and is complete on return. Throws shape_error, layout_error, overlap_error,
/// lifetime_error, out_of_memory and roc::error.
ROCARRAY_API void copy(strided_region const& source, strided_region const& destination,
                       stream_ref const* stream, source_use use = source_use::copied);

/// Writes `pattern`, which has the size of an element (1 to 16 bytes), to every element. The
/// pattern has been read on return. `stream` is as for copy. Throws lifetime_error and roc::error.
ROCARRAY_API void fill(strided_region const& destination, void const* pattern,
                       stream_ref const* stream);

/// Writes zero bytes to every element, of any size. `stream` is as for copy. Throws lifetime_error
/// and roc::error.
ROCARRAY_API void zero(strided_region const& destination, stream_ref const* stream);

/// Returns true if two indices refer to the same element; no stride may be negative. Exact, except
/// that it is true if the axes interleave so much that a million steps do not decide it.
ROCARRAY_API bool has_aliased_elements(std::size_t rank, std::size_t const* shape,
                                       std::ptrdiff_t const* strides);

}  // namespace roc::detail

// SPDX-License-Identifier: MIT
// Copies of bytes with the parameters of hipMemcpy and hipMemcpy2D: the destination comes first.
// The form with those of hipMemcpy3D is in roc/native.hpp.
#pragma once

#include <cstddef>
#include <source_location>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Copies bytes between any two memories, whose kinds are looked up. For programs that are ported
/// from HIP or CUDA: roc::copy takes the source first. (hipMemcpy with hipMemcpyDefault)
///
/// Write `roc::memcpy`: after `using namespace roc`, `memcpy` alone is ambiguous.
///
/// @param to the destination; may be null if `bytes` is 0
/// @param from the source; may be null if `bytes` is 0
/// @param bytes how many bytes are copied
/// @throws what roc::copy throws for a memory_view of bytes
///
/// *Synchronization:* ordered after all work enqueued earlier on the devices of both memories
/// through the library, and complete on return, also within a device.
ROCARRAY_API void memcpy(void* to, void const* from, std::size_t bytes,
                         detail::caller at = std::source_location::current());
/// Enqueues the copy on `stream`, as roc::copy(from, to, stream) does: a pageable source may be
/// changed or freed on return. (hipMemcpyAsync)
ROCARRAY_API void memcpy(void* to, void const* from, std::size_t bytes, stream_ref stream,
                         detail::caller at = std::source_location::current());

/// Copies rows of bytes between any two memories, whose kinds are looked up. Bytes between the rows
/// are not touched. (hipMemcpy2D with hipMemcpyDefault)
///
/// @param to the first row of the destination
/// @param to_pitch the bytes from one row of the destination to the next
/// @param from the first row of the source
/// @param from_pitch the bytes from one row of the source to the next
/// @param width the bytes of a row
/// @param height the number of rows
/// @throws layout_error if a pitch is less than `width`, and what roc::copy throws
///
/// *Synchronization:* as memcpy without a stream.
ROCARRAY_API void memcpy_2d(void* to, std::size_t to_pitch, void const* from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            detail::caller at = std::source_location::current());
/// Enqueues the copy of rows on `stream`, as roc::copy(from, to, stream) does. (hipMemcpy2DAsync)
ROCARRAY_API void memcpy_2d(void* to, std::size_t to_pitch, void const* from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            stream_ref stream, detail::caller at = std::source_location::current());

namespace detail {

/// One side of memcpy_3d: planes of rows, and the position of the block in them.
struct memcpy_3d_side {
  void* data;          // of the first byte of all planes
  std::size_t pitch;   // bytes from one row to the next
  std::size_t height;  // rows from one plane to the next; not used for a single plane
  std::size_t x;       // bytes
  std::size_t y;       // rows
  std::size_t z;       // planes
};

/// Copies a block of `depth` planes of `height` rows of `width` bytes. `stream` is as for copy.
/// Throws what memcpy_2d throws, and layout_error if the block exceeds the rows of a plane.
ROCARRAY_API void memcpy_3d(memcpy_3d_side const& to, memcpy_3d_side const& from, std::size_t width,
                            std::size_t height, std::size_t depth, stream_ref const* stream);
/// Throws roc::error (std::errc::not_supported): a side of memcpy_3d is an array of the runtime.
[[noreturn]] ROCARRAY_API void throw_runtime_array();

}  // namespace detail
}  // namespace roc

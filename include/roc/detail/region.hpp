// SPDX-License-Identifier: MIT
// Where the typed headers end: one side of a copy as the compiled library sees it.
#pragma once

#include <cstddef>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

enum class place : unsigned char { host, device };

/// A strided region: `rank` extents and strides (strides in elements, signed), outermost first.
struct region {
  void* data;
  std::size_t element_size;
  std::size_t rank;
  std::size_t const* shape;
  std::ptrdiff_t const* strides;
  place where;
  int device;  // ordinal; -1 for host memory
};

/// How the source of an asynchronous copy may be used: copied before the call returns where it is
/// pageable, or borrowed until the stream has been synchronised.
enum class source_use : unsigned char { copied, borrowed };

/// Copies element by element. `stream` null: ordered after all work, done on return. Throws
/// shape_error, layout_error, overlap_error, lifetime_error, out_of_memory and roc::error.
ROCARRAY_API void copy(region const& source, region const& destination, stream_ref const* stream,
                  source_use use = source_use::copied);

/// Writes `pattern`, of the elements' size (1 to 16 bytes), to every element; the pattern has been
/// read on return. `stream` as for copy. Throws lifetime_error and roc::error.
ROCARRAY_API void fill(region const& destination, void const* pattern, stream_ref const* stream);
/// Writes zero bytes to every element, of any size.
ROCARRAY_API void zero(region const& destination, stream_ref const* stream);

/// Whether two indices name one place. Exact, except that axes so interleaved that a million steps
/// decide nothing are taken to do so.
ROCARRAY_API bool places_repeat(std::size_t rank, std::size_t const* shape,
                           std::ptrdiff_t const* strides);

}  // namespace roc::detail

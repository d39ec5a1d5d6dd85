// SPDX-License-Identifier: MIT
// Copies and fills by the calling CPU thread. No function here calls HIP, takes a lock or
// allocates.
#pragma once

#include <cstddef>

#include "layout/canonical_layout.hpp"

namespace roc::transfer {

/// Copies the bytes `range` of the source, in linear order, to contiguous memory at `packed`. The
/// source must be host memory.
/// @param opposite_bytes those pending in the other direction: see nontemporal_copy.hpp.
void pack(layout::canonical_layout const& canonical, layout::packed_range range, std::byte* packed,
          std::size_t opposite_bytes = 0) noexcept;

/// Copies contiguous memory at `packed` to the bytes `range` of the destination, in linear order.
/// The destination must be host memory. Bytes in gaps are not touched.
/// @param opposite_bytes those pending in the other direction: see nontemporal_copy.hpp.
void unpack(layout::canonical_layout const& canonical, layout::packed_range range,
            std::byte const* packed, std::size_t opposite_bytes = 0) noexcept;

/// Copies the whole source to the destination; both must be host memory.
void copy_on_host(layout::canonical_layout const& canonical) noexcept;

/// Fills every run of the destination, which must be host memory, with copies of `pattern`.
/// @param pattern_bytes a divisor of canonical.run.
void fill_on_host(layout::canonical_layout const& canonical, std::byte const* pattern,
                  std::size_t pattern_bytes) noexcept;

}  // namespace roc::transfer

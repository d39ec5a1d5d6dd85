// SPDX-License-Identifier: MIT
// Copies on the CPU: a piece of a strided region to and from packed memory, or a whole to another.
#pragma once

#include <cstddef>

#include "layout/canonical_layout.hpp"

namespace roc::transfer {

/// Collects a piece of the source into `packed`.
void pack(layout::canonical_layout const& form, layout::packed_range part, std::byte* packed) noexcept;
/// Spreads `packed` over a piece of the destination. Bytes in gaps are not touched.
void unpack(layout::canonical_layout const& form, layout::packed_range part, std::byte const* packed) noexcept;
/// Copies all of it; both sides are host memory.
void copy_on_host(layout::canonical_layout const& form) noexcept;
/// Repeats `pattern` over every run of the destination, which is host memory; its size divides the
/// run's.
void fill_on_host(layout::canonical_layout const& form, std::byte const* pattern,
                  std::size_t pattern_bytes) noexcept;

}  // namespace roc::transfer

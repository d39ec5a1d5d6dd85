// SPDX-License-Identifier: MIT
// Copies on the CPU: a piece of a strided region to and from packed memory, or a whole to another.
#pragma once

#include <cstddef>

#include "transfer/normal_form.hpp"

namespace roc::transfer {

/// Bytes [begin, end) of a region in its linear order.
struct piece {
  std::size_t begin;
  std::size_t end;
};

/// Collects a piece of the source into `packed`.
void pack(normal_form const& form, piece part, std::byte* packed) noexcept;
/// Spreads `packed` over a piece of the destination. Bytes in gaps are not touched.
void unpack(normal_form const& form, piece part, std::byte const* packed) noexcept;
/// Copies all of it; both sides are host memory.
void copy_on_host(normal_form const& form) noexcept;
/// Repeats `pattern` over every run of the destination, which is host memory; its size divides the
/// run's.
void fill_on_host(normal_form const& form, std::byte const* pattern,
                  std::size_t pattern_bytes) noexcept;

}  // namespace roc::transfer

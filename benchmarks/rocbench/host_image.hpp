// SPDX-License-Identifier: MIT
// Images in host memory, written and compared by several threads if they are large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "image.hpp"

namespace rocbench {

/// Writes the bytes [begin, end) of an image, in the calling thread. `memory` is the start of the
/// whole image.
void write_image_range(std::byte* memory, image const& contents, std::uint64_t begin,
                       std::uint64_t end);

/// Returns the offset of the first byte in [begin, end) that differs from the image, or `end` if
/// none does. Works in the calling thread; `memory` is the start of the whole image.
std::uint64_t first_mismatch_in_range(std::byte const* memory, image const& contents,
                                      std::uint64_t begin, std::uint64_t end);

/// Writes a whole image of contents.size() bytes.
void write_image(std::byte* memory, image const& contents);

/// Returns the offset of the first byte that differs from the image, if there is one.
std::optional<std::uint64_t> find_first_mismatch(std::byte const* memory, image const& contents);

/// Fills memory with one value.
void fill_bytes(std::byte* memory, std::size_t bytes, std::byte value);

}  // namespace rocbench

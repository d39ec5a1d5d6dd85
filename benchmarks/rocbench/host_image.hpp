// SPDX-License-Identifier: MIT
// Images in memory that the host reaches, by several threads where they are large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "image.hpp"

namespace rocbench {

/// Writes [begin, end) of an image to memory that begins where the image does, by this thread.
void write_image_part(std::byte* whole, image const& of, std::uint64_t begin, std::uint64_t end);

/// The offset of the first byte in [begin, end) that is not the image's, else `end`; by this
/// thread.
std::uint64_t first_wrong_byte(std::byte const* whole, image const& of, std::uint64_t begin,
                               std::uint64_t end);

/// Writes all of an image, guard bands and gaps too, to memory of of.whole() bytes.
void write_image(std::byte* whole, image const& of);

/// The offset of the first byte of the whole that is not the image's.
std::optional<std::uint64_t> find_wrong_byte(std::byte const* whole, image const& of);

/// Fills memory with one value.
void fill_bytes(std::byte* data, std::size_t bytes, std::byte value);

}  // namespace rocbench

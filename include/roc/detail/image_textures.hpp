// SPDX-License-Identifier: MIT
// The textures of an image: what texture units need to sample it.
#pragma once

#include <cstddef>
#include <memory>

#include <roc/config.hpp>
#include <roc/sampler.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// The most levels of a mipmap: all of them, down to one element, for extents below 65536.
inline constexpr std::size_t max_mipmap_levels = 16;

/// An image, as far as textures depend on it. The memory is aligned to image_alignment bytes, and
/// row_bytes is a multiple of image_row_alignment.
struct image_description {
  void* data;
  std::size_t width;      // elements of a row
  std::size_t height;     // rows
  std::size_t row_bytes;  // from one row to the next
  int device;
  unsigned dimensions;  // without layers
  bool has_layers;
  unsigned channels;
  unsigned channel_bytes;
  bool is_integer;  // the channels in memory
  bool is_signed;
  bool is_normalized;  // the channels are read as fractions
};

/// The alignments in bytes that the texture units of all devices need.
///@{
inline constexpr std::size_t image_alignment = 512;
inline constexpr std::size_t image_row_alignment = 256;
///@}

/// The textures of one image, one for each sampler that was used. Thread-safe.
class texture_set;

/// The last owner must be destroyed before the image's memory is freed, because its destructor
/// reads the recorded uses of that memory. The textures are destroyed after the work that uses
/// them, by the destructor of this or another owner, or by find_or_create_texture. On AMD these may
/// wait for the device.
using texture_set_owner = std::shared_ptr<texture_set>;

/// Returns an empty set, for an image that is created on `stream`. If that is captured, the graph
/// owns the textures too, as it owns the memory. Throws roc::error, std::bad_alloc.
ROCARRAY_API texture_set_owner make_texture_set(stream_ref stream);

/// Throws roc::error (std::errc::invalid_argument) if the sampler contradicts itself or cannot be
/// used for the image; std::errc::not_supported if it asks for texture units that cannot sample the
/// image. Returns its texture, which it creates if it is not in the set; 0 if the kernel samples.
/// May call HIP, also to destroy textures of destroyed images, for which AMD's runtime may wait for
/// the device.
ROCARRAY_API unsigned long long find_or_create_texture(texture_set& textures,
                                                       image_description const& image,
                                                       sampler const& how);

/// Throws shape_error if an extent is 0, or larger than max_image_extent. The number of layers is
/// `layers`, or 1.
ROCARRAY_API void check_image_extents(std::size_t const* extents, std::size_t count,
                                      std::size_t layers);

/// Returns the number of levels of a complete mipmap, whose last level has one element, or the most
/// that a mipmap has.
ROCARRAY_API std::size_t most_mipmap_levels(std::size_t const* extents, std::size_t count);
/// Returns the number of levels. Throws shape_error unless it is from 1 to most_mipmap_levels.
ROCARRAY_API std::size_t checked_mipmap_levels(std::size_t const* extents, std::size_t count,
                                               std::ptrdiff_t levels);
/// Throws roc::error (std::errc::invalid_argument) if a mipmap cannot be sampled in this way.
ROCARRAY_API void check_mipmap_sampler(sampler const& how, filter_mode between_levels,
                                       bool is_filterable);

}  // namespace roc::detail

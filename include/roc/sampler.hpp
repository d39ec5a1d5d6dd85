// SPDX-License-Identifier: MIT
// How an image is sampled: the treatment of coordinates outside, the filter, and who computes it.
#pragma once

#include <roc/config.hpp>

namespace roc {

/// What a sample outside of the image returns. (OpenCL: `addressing_mode`; HIP:
/// hipTextureAddressMode)
enum class address_mode : unsigned char {
  clamp,   ///< the nearest element at the edge
  wrap,    ///< the image repeats; needs normalized coordinates
  mirror,  ///< the image repeats, every second time mirrored; needs normalized coordinates
  border   ///< zero in all channels
};

/// How a sample is computed from the elements around it. (OpenCL: `filter_mode`; HIP:
/// hipTextureFilterMode)
enum class filter_mode : unsigned char {
  nearest,  ///< the element that contains the coordinates
  linear    ///< interpolated between 2, 4 or 8 elements; needs float elements or fractions
};

/// What computes the samples.
enum class sampler_unit : unsigned char {
  automatic,  ///< the texture units if the device has them and the image fits, else the kernel
  software,   ///< the kernel
  hardware    ///< the texture units; image::view throws if they cannot be used
};

/// How the elements of an image are read and written. (CUDA: cudaTextureReadMode; OpenCL: the
/// channel types CL_UNORM_INT8 and CL_UNSIGNED_INT8)
enum class read_mode : unsigned char {
  element,    ///< as they are: integers stay integers
  normalized  ///< integers as fractions: 0 to 1, or -1 to 1 if they are signed
};

/// How images are sampled. An aggregate: `{.address = roc::address_mode::wrap,
/// .normalized_coordinates = true}`. (OpenCL: `cl_sampler`; HIP: hipTextureDesc)
struct sampler {
  /// What a sample outside of the image returns.
  address_mode address = address_mode::clamp;
  /// How a sample is computed.
  filter_mode filter = filter_mode::nearest;
  /// True if the coordinates of the image are from 0 to 1; false if they are from 0 to the extent.
  bool normalized_coordinates = false;
  /// What computes the samples.
  sampler_unit unit = sampler_unit::automatic;

  /// Compares all members.
  friend bool operator==(sampler const&, sampler const&) = default;
};

}  // namespace roc

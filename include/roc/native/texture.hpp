// SPDX-License-Identifier: MIT
// Reads of textures in kernels, for files that hipcc or nvcc compiles.
#pragma once

#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>

#if defined(__CUDACC__) || defined(__HIP__)
#include <roc/native/hip.hpp>
#endif

/// Is 1 while code for a device is compiled that has instructions for textures. AMD's compute GPUs
/// since MI300 have none.
#if defined(__CUDA_ARCH__)
#define ROCARRAY_TEXTURE_INSTRUCTIONS 1
#elif defined(__HIP_DEVICE_COMPILE__) && \
    !(defined(__HIP_NO_IMAGE_SUPPORT) && __HIP_NO_IMAGE_SUPPORT)
#define ROCARRAY_TEXTURE_INSTRUCTIONS 1
#else
#define ROCARRAY_TEXTURE_INSTRUCTIONS 0
#endif

#if ROCARRAY_TEXTURE_INSTRUCTIONS

namespace roc::native_detail {

/// The vector of four that holds the channels of a sample, which are extended to 32 bits.
template <class Channel>
using texture_vector =
    std::conditional_t<std::is_floating_point_v<Channel>, float4,
                       std::conditional_t<std::is_signed_v<Channel>, int4, uint4>>;

/// Samples a texture over pitched memory. `Channel` is the type of the channels that it returns.
template <class Channel>
__device__ inline texture_vector<Channel> sample_texture(unsigned long long texture, float x,
                                                         float y) {
#if defined(__CUDACC__)
  return tex2D<texture_vector<Channel>>(static_cast<cudaTextureObject_t>(texture), x, y);
#else
  return tex2D<texture_vector<Channel>>(reinterpret_cast<hipTextureObject_t>(texture), x, y);
#endif
}

/// Returns a channel of a sample.
template <class Vector>
__device__ inline auto channel_of(Vector const& sample, std::size_t i) {
  return i < 2 ? (i == 0 ? sample.x : sample.y) : (i == 2 ? sample.z : sample.w);
}

}  // namespace roc::native_detail

#endif

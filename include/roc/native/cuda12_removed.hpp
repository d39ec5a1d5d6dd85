// SPDX-License-Identifier: MIT
// Texture references, which CUDA 12 removed and HIP before 5.5 wraps: all "not supported".
// Included by cuda13.hpp only.
#pragma once

#if CUDART_VERSION >= 12000

struct textureReference;

template <class T, int dimensions, cudaTextureReadMode mode>
struct roc_native_removed_texture;

template <class... Arguments>
cudaError_t cudaBindTexture(Arguments const&...) {
  return cudaErrorNotSupported;
}

template <class... Arguments>
cudaError_t cudaBindTexture2D(Arguments const&...) {
  return cudaErrorNotSupported;
}

template <class... Arguments>
cudaError_t cudaBindTextureToArray(Arguments const&...) {
  return cudaErrorNotSupported;
}

template <class... Arguments>
cudaError_t cudaUnbindTexture(Arguments const&...) {
  return cudaErrorNotSupported;
}

template <class... Arguments>
cudaError_t cudaGetTextureAlignmentOffset(Arguments const&...) {
  return cudaErrorNotSupported;
}

#endif

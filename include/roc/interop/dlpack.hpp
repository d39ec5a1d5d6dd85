// SPDX-License-Identifier: MIT
// DLPack in and out: arrays for and from PyTorch, CuPy, JAX, TVM and others, without a copy. Needs
// DLPack's header (Debian and Ubuntu: libdlpack-dev), and to be told the platform, which CMake's
// target rocarray::rocarray does.
#pragma once

#include <cstdint>

#include <roc/interop/dlpack_export.hpp>
#include <roc/interop/dlpack_import.hpp>
#include <roc/interop/dlpack_type.hpp>
#include <roc/stream.hpp>

namespace roc {

/// The number that stands for a stream in Python's `__dlpack__(stream=...)`: a producer orders its
/// work before what comes on that stream.
[[nodiscard]] inline std::intptr_t dlpack_stream(stream_ref stream) {
  auto const handle = reinterpret_cast<std::intptr_t>(stream.handle());
#if ROCARRAY_PLATFORM_NVIDIA
  return handle == 0 ? 1 : handle;  // 0 is not allowed on CUDA: it could be either default stream
#else
  return handle;
#endif
}

}  // namespace roc

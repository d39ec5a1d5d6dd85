// SPDX-License-Identifier: MIT
// The functions of the CUDA driver that are replaced.
#include "preload/replaced_driver_calls.hpp"

#include <algorithm>
#include <cstdint>

using namespace roc::preload;

namespace {

constexpr int to_device = static_cast<int>(direction::to_device);
constexpr int to_host = static_cast<int>(direction::to_host);
constexpr int unspecified = static_cast<int>(direction::unspecified);

}  // namespace

// The driver's CUdeviceptr has the size of a pointer.
#define ROCARRAY_REPLACE_COPY(name, kind, default_stream)                                    \
  ROCARRAY_REPLACE(name, void* to, void const* from, std::size_t bytes) {                    \
    auto const request = contiguous(to, from, bytes, kind, default_stream(), true);          \
    return copy_for_program(call::name, ROCARRAY_CALLER, request, outcome::served, to, from, \
                            bytes);                                                          \
  }
#define ROCARRAY_REPLACE_COPY_ON_STREAM(name, kind, default_stream)                          \
  ROCARRAY_REPLACE(name, void* to, void const* from, std::size_t bytes, void* stream) {      \
    auto const request = contiguous(to, from, bytes, kind, default_stream(stream), false);   \
    return copy_for_program(call::name, ROCARRAY_CALLER, request, outcome::served, to, from, \
                            bytes, stream);                                                  \
  }
#define ROCARRAY_REPLACE_STRIDED(name, parameters, default_stream)               \
  ROCARRAY_REPLACE(name, parameters const* p) {                                  \
    return copy_strided(call::name, ROCARRAY_CALLER, p, default_stream(), true); \
  }
#define ROCARRAY_REPLACE_STRIDED_ON_STREAM(name, parameters, default_stream)                    \
  ROCARRAY_REPLACE(name, parameters const* p, void* stream) {                                   \
    return copy_strided(call::name, ROCARRAY_CALLER, p, default_stream(stream), false, stream); \
  }
#define ROCARRAY_REPLACE_BEGIN_CAPTURE(name, default_stream)                                  \
  ROCARRAY_REPLACE(name, void* stream, int mode) {                                            \
    return begin_program_capture(call::name, ROCARRAY_CALLER, default_stream(stream), stream, \
                                 mode);                                                       \
  }
#define ROCARRAY_REPLACE_BEGIN_CAPTURE_WITHOUT_MODE(name, default_stream)                      \
  ROCARRAY_REPLACE(name, void* stream) {                                                       \
    return begin_program_capture(call::name, ROCARRAY_CALLER, default_stream(stream), stream); \
  }
#define ROCARRAY_REPLACE_BEGIN_CAPTURE_TO_GRAPH(name, default_stream)                            \
  ROCARRAY_REPLACE(name, void* stream, void* graph, void const* dependencies, void const* edges, \
                   std::size_t count, int mode) {                                                \
    return begin_program_capture(call::name, ROCARRAY_CALLER, default_stream(stream), stream,    \
                                 graph, dependencies, edges, count, mode);                       \
  }
#define ROCARRAY_REPLACE_END_CAPTURE(name, default_stream)                                  \
  ROCARRAY_REPLACE(name, void* stream, void** graph) {                                      \
    return end_program_capture(call::name, ROCARRAY_CALLER, default_stream(stream), stream, \
                               graph);                                                      \
  }
#define ROCARRAY_REPLACE_DESTROY_STREAM(name)                                                \
  ROCARRAY_REPLACE(name, void* stream) {                                                     \
    return destroy_for_program(find_capture_of(key_of(stream)), call::name, ROCARRAY_CALLER, \
                               stream);                                                      \
  }
#define ROCARRAY_REPLACE_DESTROY_CONTEXT(name)                                                   \
  ROCARRAY_REPLACE(name, void* context) {                                                        \
    return destroy_for_program(find_captures_in(context), call::name, ROCARRAY_CALLER, context); \
  }
#define ROCARRAY_REPLACE_RESET(name)                                                     \
  ROCARRAY_REPLACE(name, int device) {                                                   \
    before_reset(device);                                                                \
    return destroy_for_program(find_captures_in(primary_context_of(device)), call::name, \
                               ROCARRAY_CALLER, device);                                 \
  }

ROCARRAY_REPLACE_COPY(cuMemcpy, unspecified, legacy)
ROCARRAY_REPLACE_COPY(cuMemcpy_ptds, unspecified, per_thread)
ROCARRAY_REPLACE_COPY_ON_STREAM(cuMemcpyAsync, unspecified, legacy)
ROCARRAY_REPLACE_COPY_ON_STREAM(cuMemcpyAsync_ptsz, unspecified, per_thread)
ROCARRAY_REPLACE_COPY(cuMemcpyHtoD_v2, to_device, legacy)
ROCARRAY_REPLACE_COPY(cuMemcpyHtoD_v2_ptds, to_device, per_thread)
ROCARRAY_REPLACE_COPY_ON_STREAM(cuMemcpyHtoDAsync_v2, to_device, legacy)
ROCARRAY_REPLACE_COPY_ON_STREAM(cuMemcpyHtoDAsync_v2_ptsz, to_device, per_thread)
ROCARRAY_REPLACE_COPY(cuMemcpyDtoH_v2, to_host, legacy)
ROCARRAY_REPLACE_COPY(cuMemcpyDtoH_v2_ptds, to_host, per_thread)
ROCARRAY_REPLACE_COPY_ON_STREAM(cuMemcpyDtoHAsync_v2, to_host, legacy)
ROCARRAY_REPLACE_COPY_ON_STREAM(cuMemcpyDtoHAsync_v2_ptsz, to_host, per_thread)
ROCARRAY_REPLACE_STRIDED(cuMemcpy2D_v2, CUDA_MEMCPY2D, legacy)
ROCARRAY_REPLACE_STRIDED(cuMemcpy2D_v2_ptds, CUDA_MEMCPY2D, per_thread)
ROCARRAY_REPLACE_STRIDED(cuMemcpy2DUnaligned_v2, CUDA_MEMCPY2D, legacy)
ROCARRAY_REPLACE_STRIDED(cuMemcpy2DUnaligned_v2_ptds, CUDA_MEMCPY2D, per_thread)
ROCARRAY_REPLACE_STRIDED_ON_STREAM(cuMemcpy2DAsync_v2, CUDA_MEMCPY2D, legacy)
ROCARRAY_REPLACE_STRIDED_ON_STREAM(cuMemcpy2DAsync_v2_ptsz, CUDA_MEMCPY2D, per_thread)
ROCARRAY_REPLACE_STRIDED(cuMemcpy3D_v2, CUDA_MEMCPY3D, legacy)
ROCARRAY_REPLACE_STRIDED(cuMemcpy3D_v2_ptds, CUDA_MEMCPY3D, per_thread)
ROCARRAY_REPLACE_STRIDED_ON_STREAM(cuMemcpy3DAsync_v2, CUDA_MEMCPY3D, legacy)
ROCARRAY_REPLACE_STRIDED_ON_STREAM(cuMemcpy3DAsync_v2_ptsz, CUDA_MEMCPY3D, per_thread)
ROCARRAY_REPLACE_BEGIN_CAPTURE_WITHOUT_MODE(cuStreamBeginCapture, legacy)
ROCARRAY_REPLACE_BEGIN_CAPTURE_WITHOUT_MODE(cuStreamBeginCapture_ptsz, per_thread)
ROCARRAY_REPLACE_BEGIN_CAPTURE(cuStreamBeginCapture_v2, legacy)
ROCARRAY_REPLACE_BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz, per_thread)
ROCARRAY_REPLACE_BEGIN_CAPTURE_TO_GRAPH(cuStreamBeginCaptureToGraph, legacy)
ROCARRAY_REPLACE_BEGIN_CAPTURE_TO_GRAPH(cuStreamBeginCaptureToGraph_ptsz, per_thread)
ROCARRAY_REPLACE_END_CAPTURE(cuStreamEndCapture, legacy)
ROCARRAY_REPLACE_END_CAPTURE(cuStreamEndCapture_ptsz, per_thread)
ROCARRAY_REPLACE_DESTROY_STREAM(cuStreamDestroy)
ROCARRAY_REPLACE_DESTROY_STREAM(cuStreamDestroy_v2)
ROCARRAY_REPLACE_DESTROY_CONTEXT(cuCtxDestroy)
ROCARRAY_REPLACE_DESTROY_CONTEXT(cuCtxDestroy_v2)
ROCARRAY_REPLACE_RESET(cuDevicePrimaryCtxReset)
ROCARRAY_REPLACE_RESET(cuDevicePrimaryCtxReset_v2)

// The look-up of functions by name, which the CUDA runtimes use for all that they call.

namespace {

void* replacement_of(call function) noexcept;

// Replaces a function that the driver has returned to `caller` by this object's, if there is one.
// The driver chooses the version that fits the name.
void substitute_served_function(void** function, void const* caller) noexcept {
  // The table has null for functions that the driver lacks.
  if (function == nullptr || *function == nullptr) return;
  if (is_in_driver(caller) || is_in_copier(caller)) return;
  auto const& functions = find_driver()->functions;
  auto const found = std::find(functions.begin(), functions.end(), *function);
  if (found == functions.end()) return;
  *function = replacement_of(static_cast<call>(found - functions.begin()));
}

}  // namespace

ROCARRAY_REPLACE(cuGetProcAddress, char const* name, void** function, int version,
                 std::uint64_t flags) {
  void const* const caller = ROCARRAY_CALLER;
  int const code = call_vendor(call::cuGetProcAddress, caller, name, function, version, flags);
  if (code == 0) substitute_served_function(function, caller);
  return code;
}
ROCARRAY_REPLACE(cuGetProcAddress_v2, char const* name, void** function, int version,
                 std::uint64_t flags, void* status) {
  void const* const caller = ROCARRAY_CALLER;
  int const code =
      call_vendor(call::cuGetProcAddress_v2, caller, name, function, version, flags, status);
  if (code == 0) substitute_served_function(function, caller);
  return code;
}

namespace {

void* replacement_of(call function) noexcept {
  switch (function) {
#define ROCARRAY_REPLACEMENT(name) \
  case call::name: return reinterpret_cast<void*>(&replaced_##name);
    ROCARRAY_REPLACED_CALLS(ROCARRAY_REPLACEMENT)
#undef ROCARRAY_REPLACEMENT
    case call::count: break;
  }
  return nullptr;
}

}  // namespace

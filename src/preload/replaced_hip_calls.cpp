// SPDX-License-Identifier: MIT
// The functions of the HIP runtime that are replaced.
#include "preload/replaced_hip_calls.hpp"

using namespace roc::preload;

#define ROCARRAY_REPLACE_COPY(name, default_stream)                                             \
  ROCARRAY_REPLACE(name, void* to, void const* from, std::size_t bytes, int kind) {             \
    auto const request = contiguous(to, from, bytes, kind, default_stream(), true);             \
    return copy_or_call_vendor(call::name, ROCARRAY_CALLER, request, outcome::served, to, from, \
                               bytes, kind);                                                    \
  }
#define ROCARRAY_REPLACE_COPY_ON_STREAM(name, default_stream, is_synchronous)                     \
  ROCARRAY_REPLACE(name, void* to, void const* from, std::size_t bytes, int kind, void* stream) { \
    auto const request =                                                                          \
        contiguous(to, from, bytes, kind, default_stream(stream), is_synchronous);                \
    return copy_or_call_vendor(call::name, ROCARRAY_CALLER, request, outcome::served, to, from,   \
                               bytes, kind, stream);                                              \
  }
#define ROCARRAY_REPLACE_COPY_2D(name, default_stream)                                             \
  ROCARRAY_REPLACE(name, void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch, \
                   std::size_t width, std::size_t height, int kind) {                              \
    auto const request =                                                                           \
        rows(to, to_pitch, from, from_pitch, width, height, kind, default_stream(), true);         \
    return copy_or_call_vendor(call::name, ROCARRAY_CALLER, request, outcome::served, to,          \
                               to_pitch, from, from_pitch, width, height, kind);                   \
  }
#define ROCARRAY_REPLACE_COPY_2D_ON_STREAM(name, default_stream)                                   \
  ROCARRAY_REPLACE(name, void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch, \
                   std::size_t width, std::size_t height, int kind, void* stream) {                \
    auto const request =                                                                           \
        rows(to, to_pitch, from, from_pitch, width, height, kind, default_stream(stream), false);  \
    return copy_or_call_vendor(call::name, ROCARRAY_CALLER, request, outcome::served, to,          \
                               to_pitch, from, from_pitch, width, height, kind, stream);           \
  }
#define ROCARRAY_REPLACE_COPY_3D(name, default_stream)                      \
  ROCARRAY_REPLACE(name, hipMemcpy3DParms const* p) {                       \
    return copy_3d(call::name, ROCARRAY_CALLER, p, default_stream(), true); \
  }
#define ROCARRAY_REPLACE_COPY_3D_ON_STREAM(name, default_stream)                           \
  ROCARRAY_REPLACE(name, hipMemcpy3DParms const* p, void* stream) {                        \
    return copy_3d(call::name, ROCARRAY_CALLER, p, default_stream(stream), false, stream); \
  }
#define ROCARRAY_REPLACE_STRIDED(name, parameters)                       \
  ROCARRAY_REPLACE(name, parameters const* p) {                          \
    return copy_strided(call::name, ROCARRAY_CALLER, p, legacy(), true); \
  }
#define ROCARRAY_REPLACE_STRIDED_ON_STREAM(name, parameters)                            \
  ROCARRAY_REPLACE(name, parameters const* p, void* stream) {                           \
    return copy_strided(call::name, ROCARRAY_CALLER, p, legacy(stream), false, stream); \
  }
#define ROCARRAY_REPLACE_BEGIN_CAPTURE(name, default_stream)                                 \
  ROCARRAY_REPLACE(name, void* stream, int mode) {                                           \
    return begin_capture(call::name, ROCARRAY_CALLER, default_stream(stream), stream, mode); \
  }
#define ROCARRAY_REPLACE_BEGIN_CAPTURE_TO_GRAPH(name)                                             \
  ROCARRAY_REPLACE(name, void* stream, void* graph, void const* dependencies, void const* edges,  \
                   std::size_t count, int mode) {                                                 \
    return begin_capture(call::name, ROCARRAY_CALLER, stream, stream, graph, dependencies, edges, \
                         count, mode);                                                            \
  }
#define ROCARRAY_REPLACE_END_CAPTURE(name, default_stream)                                  \
  ROCARRAY_REPLACE(name, void* stream, void** graph) {                                      \
    return end_capture(call::name, ROCARRAY_CALLER, default_stream(stream), stream, graph); \
  }
#define ROCARRAY_REPLACE_DESTROY_STREAM(name)                                                      \
  ROCARRAY_REPLACE(name, void* stream) {                                                           \
    return destroy_captured(find_capture_of(key_of(stream)), call::name, ROCARRAY_CALLER, stream); \
  }
#define ROCARRAY_REPLACE_RESET(name)                   \
  ROCARRAY_REPLACE(name) {                             \
    before_current_reset(call::name, ROCARRAY_CALLER); \
    return call_vendor(call::name, ROCARRAY_CALLER);   \
  }

ROCARRAY_REPLACE_COPY(hipMemcpy, legacy)
ROCARRAY_REPLACE_COPY(hipMemcpy_spt, per_thread)
ROCARRAY_REPLACE_COPY_ON_STREAM(hipMemcpyAsync, legacy, false)
ROCARRAY_REPLACE_COPY_ON_STREAM(hipMemcpyAsync_spt, per_thread, false)
ROCARRAY_REPLACE_COPY_ON_STREAM(hipMemcpyWithStream, legacy, true)
ROCARRAY_REPLACE_COPY_2D(hipMemcpy2D, legacy)
ROCARRAY_REPLACE_COPY_2D(hipMemcpy2D_spt, per_thread)
ROCARRAY_REPLACE_COPY_2D_ON_STREAM(hipMemcpy2DAsync, legacy)
ROCARRAY_REPLACE_COPY_2D_ON_STREAM(hipMemcpy2DAsync_spt, per_thread)
ROCARRAY_REPLACE_COPY_3D(hipMemcpy3D, legacy)
ROCARRAY_REPLACE_COPY_3D(hipMemcpy3D_spt, per_thread)
ROCARRAY_REPLACE_COPY_3D_ON_STREAM(hipMemcpy3DAsync, legacy)
ROCARRAY_REPLACE_COPY_3D_ON_STREAM(hipMemcpy3DAsync_spt, per_thread)
ROCARRAY_REPLACE_STRIDED(hipMemcpyParam2D, hip_Memcpy2D)
ROCARRAY_REPLACE_STRIDED_ON_STREAM(hipMemcpyParam2DAsync, hip_Memcpy2D)
ROCARRAY_REPLACE_STRIDED(hipDrvMemcpy2DUnaligned, hip_Memcpy2D)
ROCARRAY_REPLACE_STRIDED(hipDrvMemcpy3D, HIP_MEMCPY3D)
ROCARRAY_REPLACE_STRIDED_ON_STREAM(hipDrvMemcpy3DAsync, HIP_MEMCPY3D)
ROCARRAY_REPLACE_BEGIN_CAPTURE(hipStreamBeginCapture, legacy)
ROCARRAY_REPLACE_BEGIN_CAPTURE(hipStreamBeginCapture_spt, per_thread)
ROCARRAY_REPLACE_BEGIN_CAPTURE_TO_GRAPH(hipStreamBeginCaptureToGraph)
ROCARRAY_REPLACE_END_CAPTURE(hipStreamEndCapture, legacy)
ROCARRAY_REPLACE_END_CAPTURE(hipStreamEndCapture_spt, per_thread)
ROCARRAY_REPLACE_DESTROY_STREAM(hipStreamDestroy)
ROCARRAY_REPLACE_RESET(hipDeviceReset)

// The calls of HIP whose name is their direction.
#define ROCARRAY_REPLACE_COPY_IN(name, kind)                                                    \
  ROCARRAY_REPLACE(name, void* to, void* from, std::size_t bytes) {                             \
    auto const request = contiguous(to, from, bytes, kind, legacy(), true);                     \
    return copy_or_call_vendor(call::name, ROCARRAY_CALLER, request, outcome::served, to, from, \
                               bytes);                                                          \
  }
#define ROCARRAY_REPLACE_COPY_IN_ON_STREAM(name, kind)                                          \
  ROCARRAY_REPLACE(name, void* to, void* from, std::size_t bytes, void* stream) {               \
    auto const request = contiguous(to, from, bytes, kind, legacy(stream), false);              \
    return copy_or_call_vendor(call::name, ROCARRAY_CALLER, request, outcome::served, to, from, \
                               bytes, stream);                                                  \
  }
ROCARRAY_REPLACE_COPY_IN(hipMemcpyHtoD, hipMemcpyHostToDevice)
ROCARRAY_REPLACE_COPY_IN(hipMemcpyDtoH, hipMemcpyDeviceToHost)
ROCARRAY_REPLACE_COPY_IN_ON_STREAM(hipMemcpyHtoDAsync, hipMemcpyHostToDevice)
ROCARRAY_REPLACE_COPY_IN_ON_STREAM(hipMemcpyDtoHAsync, hipMemcpyDeviceToHost)

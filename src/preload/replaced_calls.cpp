// SPDX-License-Identifier: MIT
// The functions that replace the vendor's. Each is defined under a name of its own and exported
// under the vendor's, so that it need not agree with the declarations of one version of the
// vendor's header: handles are pointers, enumerations are int.
#include "preload/replaced_calls.hpp"

#if ROCARRAY_PLATFORM_AMD
#include <hip/hip_runtime_api.h>
#undef __noinline__
#else
#include <cuda_runtime_api.h>
#endif

using namespace roc::preload;

namespace {

#if ROCARRAY_PLATFORM_AMD
using parameters_3d = hipMemcpy3DParms;
#else
using parameters_3d = cudaMemcpy3DParms;
#endif

int begin_capture_of(call function, void const* caller, void* stream, int mode) {
  before_capture();
  int const code = call_vendor(function, caller, stream, mode);
  after_capture(code != 0);
  return code;
}

int begin_capture_to_graph(call function, void const* caller, void* stream, void* graph,
                           void const* dependencies, void const* edges, std::size_t count,
                           int mode) {
  before_capture();
  int const code = call_vendor(function, caller, stream, graph, dependencies, edges, count, mode);
  after_capture(code != 0);
  return code;
}

int end_capture_of(call function, void const* caller, void* stream, void** graph) {
  int const code = call_vendor(function, caller, stream, graph);
  // A call that fails with one of these codes ends no capture: invalid argument or handle, no
  // context, no capture in this stream, capture of another thread. The vendors' numbers are the
  // same.
  constexpr int unchanged[] = {1, not_initialized, 400, 401, 709, 903, 908};
  bool has_ended = true;
  for (int const other : unchanged) has_ended = has_ended && code != other;
  after_capture(has_ended);
  return code;
}

// Calls the vendor's three-dimensional copy if the parameters are null; else serves or calls it.
template <class... Stream>
int copy_3d(call function, void const* caller, parameters_3d const* p, void* ordered_by,
            bool is_synchronous, Stream... stream) {
  outcome result = outcome::served;
  copy_request request{};
  if (p == nullptr) {
    result = outcome::invalid;
  } else {
    request = slices(*p, ordered_by, is_synchronous, result);
  }
  return copy_or_call_vendor(function, caller, request, result, p, stream...);
}

// The stream that a call with a null handle, or without one, uses.
void* legacy(void* stream = nullptr) noexcept { return stream; }
void* per_thread(void* stream = nullptr) noexcept {
  return stream == nullptr ? per_thread_stream() : stream;
}

}  // namespace

// A call from the program is recognized by the address to which it returns.
#define ROCARRAY_CALLER __builtin_return_address(0)
#define ROCARRAY_REPLACE(name, ...)                                                              \
  extern "C"                                                                                     \
      [[gnu::visibility("default"), gnu::used]] int replaced_##name(__VA_ARGS__) __asm__(#name); \
  int replaced_##name(__VA_ARGS__)

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
  ROCARRAY_REPLACE(name, parameters_3d const* p) {                          \
    return copy_3d(call::name, ROCARRAY_CALLER, p, default_stream(), true); \
  }
#define ROCARRAY_REPLACE_COPY_3D_ON_STREAM(name, default_stream)                           \
  ROCARRAY_REPLACE(name, parameters_3d const* p, void* stream) {                           \
    return copy_3d(call::name, ROCARRAY_CALLER, p, default_stream(stream), false, stream); \
  }
#define ROCARRAY_REPLACE_BEGIN_CAPTURE(name)                            \
  ROCARRAY_REPLACE(name, void* stream, int mode) {                      \
    return begin_capture_of(call::name, ROCARRAY_CALLER, stream, mode); \
  }
#define ROCARRAY_REPLACE_BEGIN_CAPTURE_TO_GRAPH(name)                                              \
  ROCARRAY_REPLACE(name, void* stream, void* graph, void const* dependencies, void const* edges,   \
                   std::size_t count, int mode) {                                                  \
    return begin_capture_to_graph(call::name, ROCARRAY_CALLER, stream, graph, dependencies, edges, \
                                  count, mode);                                                    \
  }
#define ROCARRAY_REPLACE_END_CAPTURE(name)                             \
  ROCARRAY_REPLACE(name, void* stream, void** graph) {                 \
    return end_capture_of(call::name, ROCARRAY_CALLER, stream, graph); \
  }
#define ROCARRAY_REPLACE_RESET(name)                 \
  ROCARRAY_REPLACE(name) {                           \
    before_reset();                                  \
    return call_vendor(call::name, ROCARRAY_CALLER); \
  }

#if ROCARRAY_PLATFORM_AMD

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
ROCARRAY_REPLACE_BEGIN_CAPTURE(hipStreamBeginCapture)
ROCARRAY_REPLACE_BEGIN_CAPTURE(hipStreamBeginCapture_spt)
ROCARRAY_REPLACE_BEGIN_CAPTURE_TO_GRAPH(hipStreamBeginCaptureToGraph)
ROCARRAY_REPLACE_END_CAPTURE(hipStreamEndCapture)
ROCARRAY_REPLACE_END_CAPTURE(hipStreamEndCapture_spt)
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

#else

ROCARRAY_REPLACE_COPY(cudaMemcpy, legacy)
ROCARRAY_REPLACE_COPY(cudaMemcpy_ptds, per_thread)
ROCARRAY_REPLACE_COPY_ON_STREAM(cudaMemcpyAsync, legacy, false)
ROCARRAY_REPLACE_COPY_ON_STREAM(cudaMemcpyAsync_ptsz, per_thread, false)
ROCARRAY_REPLACE_COPY_2D(cudaMemcpy2D, legacy)
ROCARRAY_REPLACE_COPY_2D(cudaMemcpy2D_ptds, per_thread)
ROCARRAY_REPLACE_COPY_2D_ON_STREAM(cudaMemcpy2DAsync, legacy)
ROCARRAY_REPLACE_COPY_2D_ON_STREAM(cudaMemcpy2DAsync_ptsz, per_thread)
ROCARRAY_REPLACE_COPY_3D(cudaMemcpy3D, legacy)
ROCARRAY_REPLACE_COPY_3D(cudaMemcpy3D_ptds, per_thread)
ROCARRAY_REPLACE_COPY_3D_ON_STREAM(cudaMemcpy3DAsync, legacy)
ROCARRAY_REPLACE_COPY_3D_ON_STREAM(cudaMemcpy3DAsync_ptsz, per_thread)
ROCARRAY_REPLACE_BEGIN_CAPTURE(cudaStreamBeginCapture)
ROCARRAY_REPLACE_BEGIN_CAPTURE(cudaStreamBeginCapture_ptsz)
ROCARRAY_REPLACE_BEGIN_CAPTURE_TO_GRAPH(cudaStreamBeginCaptureToGraph)
ROCARRAY_REPLACE_BEGIN_CAPTURE_TO_GRAPH(cudaStreamBeginCaptureToGraph_ptsz)
ROCARRAY_REPLACE_END_CAPTURE(cudaStreamEndCapture)
ROCARRAY_REPLACE_END_CAPTURE(cudaStreamEndCapture_ptsz)
ROCARRAY_REPLACE_RESET(cudaDeviceReset)

#endif

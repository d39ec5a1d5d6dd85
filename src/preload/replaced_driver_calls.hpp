// SPDX-License-Identifier: MIT
// What the functions that replace the driver's have in common.
#pragma once

#include <cstddef>

// Without it, cuda.h gives the names of the current versions to functions, by macros.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "preload/driver.hpp"
#include "preload/replaced_calls.hpp"

namespace roc::preload {

/// One side of a strided copy.
struct operand {
  CUmemorytype type;
  void* memory;
  std::size_t x, y, z;
  std::size_t pitch, rows_per_slice;
};

inline void* address(CUmemorytype type, void const* host, CUdeviceptr device) noexcept {
  return type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : reinterpret_cast<void*>(device);
}

inline operand source_of(CUDA_MEMCPY2D const& p) noexcept {
  return {p.srcMemoryType,
          address(p.srcMemoryType, p.srcHost, p.srcDevice),
          p.srcXInBytes,
          p.srcY,
          0,
          p.srcPitch,
          0};
}
inline operand destination_of(CUDA_MEMCPY2D const& p) noexcept {
  return {p.dstMemoryType,
          address(p.dstMemoryType, p.dstHost, p.dstDevice),
          p.dstXInBytes,
          p.dstY,
          0,
          p.dstPitch,
          0};
}
inline std::size_t depth_of(CUDA_MEMCPY2D const&) noexcept { return 1; }
inline bool has_reserved_values(CUDA_MEMCPY2D const&) noexcept { return false; }

inline operand source_of(CUDA_MEMCPY3D const& p) noexcept {
  return {p.srcMemoryType, address(p.srcMemoryType, p.srcHost, p.srcDevice),
          p.srcXInBytes,   p.srcY,
          p.srcZ,          p.srcPitch,
          p.srcHeight};
}
inline operand destination_of(CUDA_MEMCPY3D const& p) noexcept {
  return {p.dstMemoryType, address(p.dstMemoryType, p.dstHost, p.dstDevice),
          p.dstXInBytes,   p.dstY,
          p.dstZ,          p.dstPitch,
          p.dstHeight};
}
inline std::size_t depth_of(CUDA_MEMCPY3D const& p) noexcept { return p.Depth; }
inline bool has_reserved_values(CUDA_MEMCPY3D const& p) noexcept {
  return p.srcLOD != 0 || p.dstLOD != 0 || p.reserved0 != nullptr || p.reserved1 != nullptr;
}

/// Returns the direction of a copy between memory of two types, as a number of hipMemcpyKind;
/// direction::unspecified if the types do not tell it.
inline int direction_of(CUmemorytype from, CUmemorytype to) noexcept {
  constexpr int on_host = 0;    // hipMemcpyHostToHost
  constexpr int on_device = 3;  // hipMemcpyDeviceToDevice
  if (from == CU_MEMORYTYPE_UNIFIED && to == CU_MEMORYTYPE_UNIFIED) {
    return static_cast<int>(direction::unspecified);
  }
  bool const from_host = from == CU_MEMORYTYPE_HOST;
  bool const from_device = from == CU_MEMORYTYPE_DEVICE;
  bool const to_host = to == CU_MEMORYTYPE_HOST;
  bool const to_device = to == CU_MEMORYTYPE_DEVICE;
  if (from_host && to_host) return on_host;
  if (from_device && to_device) return on_device;
  return static_cast<int>(from_host || to_device ? direction::to_device : direction::to_host);
}

/// Sets `begin` to the first byte of a side, and `slice_pitch` to the bytes from one slice to the
/// next. Returns false if the arguments are not those of a copy that can be served.
inline bool set_begin(operand const& side, std::size_t width, std::size_t height, std::size_t depth,
                      char*& begin, std::size_t& slice_pitch) noexcept {
  bool const has_slices = depth > 1 || side.z != 0;
  if (side.memory == nullptr || side.x > side.pitch || width > side.pitch - side.x) return false;
  bool const has_rows = side.y <= side.rows_per_slice && height <= side.rows_per_slice - side.y;
  if (has_slices && !has_rows) return false;
  std::size_t rows_before = 0;
  std::size_t slices_before = 0;
  std::size_t offset = 0;
  if (__builtin_mul_overflow(side.pitch, side.rows_per_slice, &slice_pitch) ||
      __builtin_mul_overflow(side.y, side.pitch, &rows_before) ||
      __builtin_mul_overflow(side.z, slice_pitch, &slices_before) ||
      __builtin_add_overflow(rows_before, slices_before, &offset) ||
      __builtin_add_overflow(offset, side.x, &offset)) {
    return false;
  }
  // With one slice, the driver does not use rows_per_slice.
  if (!has_slices) slice_pitch = side.pitch * height;
  begin = static_cast<char*>(side.memory) + offset;
  return true;
}

/// Returns the request of a two- or three-dimensional copy. If the copy must be passed on, sets
/// `result` to the reason.
template <class Parameters>
copy_request strided(Parameters const& p, void* stream, bool is_synchronous,
                     outcome& result) noexcept {
  operand const from = source_of(p);
  operand const to = destination_of(p);
  for (CUmemorytype const type : {from.type, to.type}) {
    if (type == CU_MEMORYTYPE_ARRAY) result = outcome::array;
  }
  if (result != outcome::served) return {};
  for (CUmemorytype const type : {from.type, to.type}) {
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE &&
        type != CU_MEMORYTYPE_UNIFIED) {
      result = outcome::invalid;
    }
  }
  copy_request request{};
  char* source = nullptr;
  char* destination = nullptr;
  request.width = p.WidthInBytes;
  request.height = p.Height;
  request.depth = depth_of(p);
  if (result != outcome::served || has_reserved_values(p) ||
      !set_begin(from, request.width, request.height, request.depth, source,
                 request.source_slice) ||
      !set_begin(to, request.width, request.height, request.depth, destination,
                 request.destination_slice)) {
    result = outcome::invalid;
    return {};
  }
  request.source = source;
  request.destination = destination;
  request.source_pitch = from.pitch;
  request.destination_pitch = to.pitch;
  request.kind = direction_of(from.type, to.type);
  request.stream = stream;
  request.is_synchronous = is_synchronous;
  request.device = -1;
  return request;
}

/// Calls the driver's function for the driver itself: the loader may resolve its references to its
/// own functions to this object. The driver must be loaded.
template <class... Arguments>
int call_driver(call function, Arguments... arguments) {
  void* const address = find_driver()->function(function);
  return reinterpret_cast<int (*)(Arguments...)>(address)(arguments...);
}

/// Serves a copy of the program, or calls the driver's function.
template <class... Arguments>
int copy_for_program(call function, void const* caller, copy_request const& request, outcome result,
                     Arguments... arguments) {
  if (is_in_driver(caller)) return call_driver(function, arguments...);
  void const* const site = wants_summary() ? find_program_frame(caller) : caller;
  return copy_or_call_vendor(function, site, request, result, arguments...);
}

/// Calls the driver's function that begins a capture of `stream`. Adds the capture, unless the
/// driver itself begins it.
template <class... Arguments>
int begin_program_capture(call function, void const* caller, void* stream, Arguments... arguments) {
  if (is_in_driver(caller)) return call_driver(function, arguments...);
  return begin_capture(function, caller, stream, arguments...);
}

/// Calls the driver's function that ends a capture of `stream`. Removes the capture, unless the
/// driver itself ends it.
inline int end_program_capture(call function, void const* caller, void* stream, void* handle,
                               void** graph) {
  if (is_in_driver(caller)) return call_driver(function, handle, graph);
  return end_capture(function, caller, stream, handle, graph);
}

/// Calls the driver's function that destroys streams, and with them the captures in `ending`.
template <class Argument>
int destroy_for_program(capture_set const& ending, call function, void const* caller,
                        Argument argument) {
  if (!is_in_driver(caller)) return destroy_captured(ending, function, caller, argument);
  int const code = call_driver(function, argument);
  if (code == 0) remove_captures(ending);
  return code;
}

/// Returns the primary context of a device, or null if it is not active. Does not activate it.
inline void* primary_context_of(int device) noexcept {
  vendor_runtime const* const runtime = find_driver();
  if (runtime == nullptr || runtime->get_primary_state == nullptr ||
      runtime->retain_primary == nullptr || runtime->release_primary == nullptr) {
    return nullptr;
  }
  without_cancellation const uncancelled;
  unsigned flags = 0;
  int is_active = 0;
  void* context = nullptr;
  if (runtime->get_primary_state(device, &flags, &is_active) != 0 || is_active == 0 ||
      runtime->retain_primary(&context, device) != 0) {
    return nullptr;
  }
  static_cast<void>(runtime->release_primary(device));
  return context;
}

/// Serves a strided copy of the program, or calls the driver's function, as always if `p` is null.
template <class Parameters, class... Stream>
int copy_strided(call function, void const* caller, Parameters const* p, void* ordered_by,
                 bool is_synchronous, Stream... stream) {
  outcome result = outcome::served;
  copy_request request{};
  if (p == nullptr) {
    result = outcome::invalid;
  } else {
    request = strided(*p, ordered_by, is_synchronous, result);
  }
  return copy_for_program(function, caller, request, result, p, stream...);
}

}  // namespace roc::preload

// SPDX-License-Identifier: MIT
// What the functions that replace those of the HIP runtime have in common.
#pragma once

#include <hip/hip_runtime_api.h>
#undef __noinline__

#include <cstddef>

#include "preload/parameter_copies.hpp"
#include "preload/replaced_calls.hpp"

namespace roc::preload {

/// Called when the program resets its current device by `function`.
inline void before_current_reset(call function, void const* caller) noexcept {
  vendor_runtime const* const runtime = find_call_site(function, caller).runtime;
  int device = 0;
  if (runtime == nullptr || runtime->get_device == nullptr) return;
  without_cancellation const uncancelled;
  // If there is no device, the reset fails too.
  if (runtime->get_device(&device) == 0) before_reset(device);
}

/// Returns the request of a two-dimensional copy.
inline copy_request rows(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, int kind, void* stream,
                         bool is_synchronous) noexcept {
  // The slices are not used: there is one.
  return {from,           to,   width,  height,         1, from_pitch, to_pitch, width * height,
          width * height, kind, stream, is_synchronous, -1};
}

/// Returns the request of a three-dimensional copy between two pitched pointers. Sets `result` to
/// why the copy must be passed on, if it is another one.
inline copy_request slices(hipMemcpy3DParms const& p, void* stream, bool is_synchronous,
                           outcome& result) noexcept {
  if (p.srcArray != nullptr || p.dstArray != nullptr) {
    result = outcome::array;
    return {};
  }
  auto const is_usual_side = [&](auto const& memory, auto const& position) {
    return memory.ptr != nullptr && position.x <= memory.pitch &&
           p.extent.width <= memory.pitch - position.x && position.y <= memory.ysize &&
           p.extent.height <= memory.ysize - position.y && p.extent.width <= memory.xsize;
  };
  auto const slice_of = [](auto const& memory) { return memory.pitch * memory.ysize; };
  auto const begin_of = [&](auto const& memory, auto const& position) {
    return static_cast<char*>(memory.ptr) + position.z * slice_of(memory) +
           position.y * memory.pitch + position.x;
  };
  if (!is_usual_side(p.srcPtr, p.srcPos) || !is_usual_side(p.dstPtr, p.dstPos)) {
    result = outcome::invalid;
    return {};
  }
  return {begin_of(p.srcPtr, p.srcPos),
          begin_of(p.dstPtr, p.dstPos),
          p.extent.width,
          p.extent.height,
          p.extent.depth,
          p.srcPtr.pitch,
          p.dstPtr.pitch,
          slice_of(p.srcPtr),
          slice_of(p.dstPtr),
          static_cast<int>(p.kind),
          stream,
          is_synchronous,
          -1};
}

/// Serves a three-dimensional copy, or calls the vendor's function, as always if `p` is null.
template <class... Stream>
int copy_3d(call function, void const* caller, hipMemcpy3DParms const* p, void* ordered_by,
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

// Since HIP 6 the enumeration has values for memory that is managed or unknown.
template <>
inline operand_type type_of(hipMemoryType type) noexcept {
  switch (type) {
    case hipMemoryTypeHost: return operand_type::host;
    case hipMemoryTypeDevice: return operand_type::device;
    case hipMemoryTypeUnified: return operand_type::unified;
    case hipMemoryTypeArray: return operand_type::array;
    default: return operand_type::unknown;
  }
}

/// Serves a copy with the driver's parameters, or calls the vendor's function, as always if `p` is
/// null or if the runtime has another major version than this object was built for.
template <class Parameters, class... Stream>
int copy_strided(call function, void const* caller, Parameters const* p, void* ordered_by,
                 bool is_synchronous, Stream... stream) {
  vendor_runtime const* const runtime = find_call_site(function, caller).runtime;
  outcome result = outcome::unavailable;
  copy_request request{};
  if (runtime != nullptr && runtime->is_expected_version) {
    result = outcome::served;
    request = strided(p, ordered_by, is_synchronous, result);
  }
  return copy_or_call_vendor(function, caller, request, result, p, stream...);
}

}  // namespace roc::preload

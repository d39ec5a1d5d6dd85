// SPDX-License-Identifier: MIT
// What the functions that replace the driver's have in common.
#pragma once

// Without it, cuda.h gives the names of the current versions to functions, by macros.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "preload/driver.hpp"
#include "preload/parameter_copies.hpp"
#include "preload/replaced_calls.hpp"

namespace roc::preload {

template <>
inline operand_type type_of(CUmemorytype type) noexcept {
  switch (type) {
    case CU_MEMORYTYPE_HOST: return operand_type::host;
    case CU_MEMORYTYPE_DEVICE: return operand_type::device;
    case CU_MEMORYTYPE_UNIFIED: return operand_type::unified;
    case CU_MEMORYTYPE_ARRAY: return operand_type::array;
  }
  return operand_type::unknown;
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
  copy_request const request = strided(p, ordered_by, is_synchronous, result);
  return copy_for_program(function, caller, request, result, p, stream...);
}

}  // namespace roc::preload

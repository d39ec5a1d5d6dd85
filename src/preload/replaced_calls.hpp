// SPDX-License-Identifier: MIT
// What the functions that replace the vendor's have in common. replaced_calls.cpp defines them
// under the vendor's names; no header declares them, because a program sees the vendor's
// declarations.
#pragma once

#include <chrono>
#include <cstddef>

#include "preload/call_sites.hpp"
#include "preload/interposer.hpp"
#include "preload/request.hpp"
#include "preload/summary.hpp"

namespace roc::preload {

/// hipErrorNotInitialized, cudaErrorInitializationError: the result of a call without a runtime.
inline constexpr int not_initialized = 3;

/// Returns the request of a contiguous copy.
inline copy_request contiguous(void* to, void const* from, std::size_t bytes, int kind,
                               void* stream, bool is_synchronous) noexcept {
  return {from, to,     bytes,          1,     1, bytes, bytes, bytes, bytes,
          kind, stream, is_synchronous, false, -1};
}

/// Returns the request of a two-dimensional copy.
inline copy_request rows(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, int kind, void* stream,
                         bool is_synchronous) noexcept {
  // The slices are not used: there is one.
  return {from,           to,   width,  height,         1,     from_pitch, to_pitch, width * height,
          width * height, kind, stream, is_synchronous, false, -1};
}

/// Returns the request of a three-dimensional copy between two pitched pointers. `Parameters` is
/// the vendor's struct. Sets `result` to why it must be passed on, if it is none.
template <class Parameters>
copy_request slices(Parameters const& p, void* stream, bool is_synchronous,
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
          false,
          -1};
}

/// Calls the vendor's function that a call from `caller` would have reached.
template <class... Arguments>
int call_vendor(call function, void const* caller, Arguments... arguments) {
  call_site const& site = find_call_site(function, caller);
  void* const address = site.runtime == nullptr ? nullptr : site.runtime->function(function);
  if (address == nullptr) return not_initialized;
  return reinterpret_cast<int (*)(Arguments...)>(address)(arguments...);
}

/// Serves a copy, or calls the vendor's function with its arguments. `result` is outcome::served,
/// or why the copy must be passed on.
template <class... Arguments>
int copy_or_call_vendor(call function, void const* caller, copy_request const& request,
                        outcome result, Arguments... arguments) {
  call_site& site = find_call_site(function, caller);
  void* const address = site.runtime == nullptr ? nullptr : site.runtime->function(function);
  if (address == nullptr) return not_initialized;
  copy_report report;
  if (result == outcome::served) {
    result = serve(site, function, request, report);
  } else {
    count_copy(site, function, result, 0);
  }
  if (result == outcome::served) return 0;
  auto* const vendor = reinterpret_cast<int (*)(Arguments...)>(address);
  if (result != outcome::to_measure) return vendor(arguments...);
  auto const begin = std::chrono::steady_clock::now();
  int const code = vendor(arguments...);
  std::chrono::nanoseconds const duration = std::chrono::steady_clock::now() - begin;
  report.nanoseconds = duration.count();
  if (code == 0) count_duration(result, report, request.bytes());
  return code;
}

}  // namespace roc::preload

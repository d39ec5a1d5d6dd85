// SPDX-License-Identifier: MIT
// Conversions between the library's objects and the vendor's handles. Of the public headers, only
// this one and those in roc/native/ include HIP's.
#pragma once

#include <source_location>

#include <roc/event.hpp>
#include <roc/graph.hpp>
#include <roc/memcpy.hpp>
#include <roc/native/hip.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Returns HIP's handle of a stream, for `<<<>>>` and the vendor's libraries; null for the default
/// stream. *Lifetime:* valid until the stream is destroyed. A later roc::stream may get the handle;
/// attributes that you set through it remain set.
inline hipStream_t native(stream_ref stream) noexcept {
  return reinterpret_cast<hipStream_t>(stream.handle());
}

/// Returns HIP's handle of a graph. Throws lifetime_error if the graph was moved from. *Lifetime:*
/// valid until the graph is destroyed, as is the memory that it uses. A graph_exec that you make of
/// the handle must not be launched after that.
inline hipGraph_t native(graph const& captured) {
  return reinterpret_cast<hipGraph_t>(captured.handle());
}

/// Returns HIP's handle of a graph_exec. Throws lifetime_error if it was moved from. *Lifetime:*
/// valid until the graph_exec is updated or destroyed. The library does not know of launches by the
/// handle: synchronize them yourself.
inline hipGraphExec_t native(graph_exec const& executable) {
  return reinterpret_cast<hipGraphExec_t>(executable.handle());
}

/// Returns HIP's handle of an event. Throws lifetime_error if the event was moved from. *Lifetime:*
/// valid until the event is destroyed.
inline hipEvent_t native(event_base const& event) {
  return reinterpret_cast<hipEvent_t>(event.handle());
}

namespace detail {

/// Returns a reference to a foreign stream on the current device. Calls HIP; throws roc::error.
ROCARRAY_API stream_ref adopt_stream(native_stream* handle);

}  // namespace detail

/// Returns a reference to a stream that another library created on the current device. The library
/// never destroys it. Queries HIP for whether the stream is ordered with the default stream.
///
/// *Lifetime:* the stream must outlive the arrays that are created on it.
///
/// Throws roc::error for an invalid handle if the runtime detects it; ROCm 7 and CUDA may crash
/// instead. If a host function of the stream throws, the exception is kept for the handle until the
/// next synchronization, also after the stream was destroyed: the library does not see that.
inline stream_ref from_native(hipStream_t stream,
                              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::adopt_stream(reinterpret_cast<detail::native_stream*>(stream));
}

namespace detail {

/// Copies a block that HIP's parameters describe; `stream` is as for copy.
inline void memcpy_3d(hipMemcpy3DParms const& parameters, stream_ref const* stream) {
  if (parameters.srcArray != nullptr || parameters.dstArray != nullptr) throw_runtime_array();
  auto const side_of = [](hipPitchedPtr const& memory, hipPos const& position) {
    return memcpy_3d_side{memory.ptr, memory.pitch, memory.ysize,
                          position.x, position.y,   position.z};
  };
  memcpy_3d(side_of(parameters.dstPtr, parameters.dstPos),
            side_of(parameters.srcPtr, parameters.srcPos), parameters.extent.width,
            parameters.extent.height, parameters.extent.depth, stream);
}

}  // namespace detail

/// Copies a block of bytes that HIP's parameters describe, between any two memories, whose kinds
/// are looked up: `kind` is not used. (hipMemcpy3D with hipMemcpyDefault)
///
/// @throws layout_error if a row exceeds its pitch, or the rows of a block exceed the height of a
///   plane (`ysize`)
/// @throws roc::error (std::errc::not_supported) if a side is an array of the runtime
/// @throws what roc::copy throws
///
/// *Synchronization:* as memcpy without a stream.
inline void memcpy_3d(hipMemcpy3DParms const& parameters,
                      detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::memcpy_3d(parameters, nullptr);
}
/// Enqueues the copy of a block on `stream`, as roc::copy(from, to, stream) does.
/// (hipMemcpy3DAsync)
inline void memcpy_3d(hipMemcpy3DParms const& parameters, stream_ref stream,
                      detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::memcpy_3d(parameters, &stream);
}

}  // namespace roc

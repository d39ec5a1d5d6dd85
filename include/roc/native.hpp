// SPDX-License-Identifier: MIT
// Conversions between the library's objects and the vendor's handles. Of the public headers, only
// this one and those in roc/native/ include HIP's.
#pragma once

#include <source_location>

#include <roc/event.hpp>
#include <roc/native/hip.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Returns HIP's handle of a stream, for `<<<>>>` and the vendor's libraries; null for the default
/// stream. *Lifetime:* valid until the stream is destroyed. A later roc::stream may get the handle;
/// attributes that you set through it remain set.
inline hipStream_t native(stream_ref stream) noexcept {
  return reinterpret_cast<hipStream_t>(stream.handle());
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
/// never destroys it. Queries HIP for whether the stream is ordered
/// with the default stream.
///
/// Throws roc::error for an invalid handle if the runtime detects it; ROCm 7 and CUDA may crash
/// instead. If a host function of the stream throws, the exception is kept for the handle until the
/// next synchronization, also after the stream was destroyed: the library does not see that.
inline stream_ref from_native(hipStream_t stream,
                              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::adopt_stream(reinterpret_cast<detail::native_stream*>(stream));
}

}  // namespace roc

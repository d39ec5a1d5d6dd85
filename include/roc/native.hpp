// SPDX-License-Identifier: MIT
// The way to the vendor's types: the handles behind the library's objects, and back. The one public
// header, with what lies in roc/native/, that includes HIP's.
#pragma once

#include <roc/event.hpp>
#include <roc/native/hip.hpp>
#include <roc/stream.hpp>

namespace roc {

/// HIP's handle of a stream, for `<<<>>>` and the vendor's libraries; null for the default stream.
/// Valid as long as the stream lives.
inline hipStream_t native(stream_ref stream) noexcept {
  return reinterpret_cast<hipStream_t>(stream.handle());
}

/// HIP's handle of an event; valid as long as the event lives. Throws lifetime_error if moved from.
inline hipEvent_t native(event_base const& event) {
  return reinterpret_cast<hipEvent_t>(event.handle());
}

namespace detail {

ROCARRAY_API stream_ref adopt_stream(native_stream* handle);

}  // namespace detail

/// A stream that another library made, on the current device; it is never destroyed here. Whether
/// it is ordered with the default stream is asked from HIP. Throws roc::error for a bad handle
/// where the runtime finds it out; ROCm 7 and CUDA may crash instead. What its host functions threw
/// and nobody waited for stays with the handle: the library does not see the stream destroyed.
inline stream_ref from_native(hipStream_t stream) {
  return detail::adopt_stream(reinterpret_cast<detail::native_stream*>(stream));
}

}  // namespace roc

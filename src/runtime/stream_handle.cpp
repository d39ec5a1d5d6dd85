// SPDX-License-Identifier: MIT
#include "runtime/stream_handle.hpp"

#include <string>
#include <system_error>

#include <roc/error.hpp>

#include "platform/call.hpp"
#include "runtime/destroyed_streams.hpp"

namespace roc::runtime {

using detail::stream_kind;

hipStream_t handle(stream_ref stream) {
  if (stream.kind() == stream_kind::none) {
    throw lifetime_error("the stream was moved from; use the stream that it was moved to");
  }
  if (is_handle_destroyed(stream.handle())) {
    throw lifetime_error(
        "the stream has been destroyed; let a stream live as long as its stream_refs are "
        "used");
  }
  return reinterpret_cast<hipStream_t>(stream.handle());
}

int device_for(stream_ref stream, int first, int second) {
  int const stream_device = stream.device_ordinal();
  int const current =
      first < 0 || second < 0 || stream_device < 0 ? current_device() : stream_device;
  if (first < 0) first = current;
  if (second < 0) second = current;
  int const work_device = device_of(stream, current);
  if (work_device != first && work_device != second) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "the stream is on device " + std::to_string(work_device) +
                    ", but the array is on device " + std::to_string(first) +
                    "; use a stream of the array's device");
  }
  return work_device;
}

void synchronize_quietly(stream_ref stream) noexcept {
  if (stream.kind() == stream_kind::none || is_handle_destroyed(stream.handle())) return;
  ROCARRAY_HIP_QUIET(hipStreamSynchronize, reinterpret_cast<hipStream_t>(stream.handle()));
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
#include "runtime/stream_handle.hpp"

#include <string>
#include <system_error>

#include <roc/error.hpp>

#include "base/error.hpp"

namespace roc::runtime {

void throw_destroyed() {
  throw lifetime_error(
      "the stream has been destroyed; let a stream live as long as its stream_refs are used");
}

void throw_moved_from() {
  throw lifetime_error("the stream was moved from; use the stream that it was moved to");
}

void throw_other_device(int stream_device, int first, int second) {
  std::string const arrays = first == second
                                 ? "the array is on device " + std::to_string(first) +
                                       "; use a stream of the array's device"
                                 : "the arrays are on devices " + std::to_string(first) + " and " +
                                       std::to_string(second) + "; use a stream of one of them";
  throw error(std::make_error_code(std::errc::invalid_argument),
              "the stream is on device " + std::to_string(stream_device) + ", but " + arrays);
}

void abandon_wait() noexcept {
  abandoned_waits.fetch_add(1);
  base::log_error(
      "a failed call cannot wait for the work that it enqueued: the work may still access the "
      "call's arrays; keep them until the process ends");
}

}  // namespace roc::runtime

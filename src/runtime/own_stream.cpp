// SPDX-License-Identifier: MIT
#include "runtime/own_stream.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/destroyed_streams.hpp"

namespace roc::runtime {

stream_ref own_stream(own_use use) {
  // Leaked on purpose: copies run until the very end of the process.
  static auto* const streams = new std::map<std::pair<int, own_use>, hipStream_t>;
  static std::mutex mutex;
  int const device = current_device();
  std::lock_guard const lock(mutex);
  hipStream_t& native = (*streams)[{device, use}];
  bool const fresh = native == nullptr;
  if (fresh) ROC_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  auto* const handle = reinterpret_cast<detail::native_stream*>(native);
  if (fresh) note_living(handle);  // it may be one that was a destroyed stream's
  return {handle, device, detail::stream_kind::non_blocking};
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
#include "runtime/internal_stream.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/destroyed_streams.hpp"

namespace roc::runtime {

stream_ref make_own_stream() {
  int const device = current_device();
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  auto* const handle = reinterpret_cast<detail::native_stream*>(native);
  note_living(handle);  // it may be one that was a destroyed stream's
  return {handle, device, detail::stream_kind::non_blocking};
}

stream_ref internal_stream(own_use use) {
  // Leaked on purpose: copies run until the very end of the process.
  static auto* const streams = new std::map<std::pair<int, own_use>, stream_ref>;
  static std::mutex mutex;
  int const device = current_device();
  std::lock_guard const lock(mutex);
  auto const known = streams->find({device, use});
  if (known != streams->end()) return known->second;
  return streams->emplace(std::pair(device, use), make_own_stream()).first->second;
}

}  // namespace roc::runtime

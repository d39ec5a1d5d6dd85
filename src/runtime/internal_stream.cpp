// SPDX-License-Identifier: MIT
#include "runtime/internal_stream.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "base/no_destructor.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_id.hpp"

namespace roc::runtime {

stream_ref create_internal_stream() {
  int const device = current_device();
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  stream_ref const created(reinterpret_cast<detail::native_stream*>(native), device,
                           detail::stream_kind::non_blocking);
  try {
    begin_identity(created, true);
  } catch (...) {
    ROCARRAY_HIP_QUIET(hipStreamDestroy, native);
    throw;
  }
  return created;
}

stream_ref internal_stream(transfer_direction direction) {
  // Never destroyed: copies may run until the process ends.
  static base::no_destructor<std::map<std::pair<int, transfer_direction>, stream_ref>> streams;
  static std::mutex mutex;
  int const device = current_device();
  std::lock_guard const lock(mutex);
  auto const [entry, inserted] = (*streams).try_emplace({device, direction});
  if (inserted) {
    try {
      entry->second = create_internal_stream();
    } catch (...) {
      (*streams).erase(entry);
      throw;
    }
  }
  return entry->second;
}

}  // namespace roc::runtime

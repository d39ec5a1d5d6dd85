// SPDX-License-Identifier: MIT
#include "runtime/internal_stream.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "base/no_destructor.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_id.hpp"

namespace roc::runtime {

stream_ref internal_stream(internal_stream_use use) {
  // Never destroyed: copies may run until the process ends.
  static base::no_destructor<std::map<std::pair<int, internal_stream_use>, stream_ref>> streams;
  static std::mutex mutex;
  int const device = current_device();
  std::lock_guard const lock(mutex);
  auto const [entry, inserted] = (*streams).try_emplace({device, use});
  if (inserted) {
    try {
      entry->second = create_stream(detail::stream_kind::non_blocking, 0);
    } catch (...) {
      (*streams).erase(entry);
      throw;
    }
  }
  return entry->second;
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
#include "runtime/auxiliary_streams.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/no_destructor.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::runtime {

auxiliary_streams_guard::auxiliary_streams_guard(stream_ref user) {
  constexpr std::size_t max_pairs = 16;
  // Never destroyed: copies may run until the process ends.
  static base::no_destructor<std::map<int, std::vector<std::unique_ptr<auxiliary_streams>>>> pairs;
  static std::mutex mutex;
  int const device = current_device();
  // The per-thread streams of all threads have one identity, so it tells nothing about their order.
  stream_id const user_id =
      is_per_thread_handle(user.handle()) ? stream_id() : stream_id_of(user, device);
  std::lock_guard const lock(mutex);
  auto& device_pairs = (*pairs)[device];
  auxiliary_streams* free_pair = nullptr;
  for (auto const& pair : device_pairs) {
    if (pair->in_use.load(std::memory_order_acquire)) continue;
    if (!user_id.is_empty() && pair->user == user_id) {
      free_pair = pair.get();
      break;
    }
    if (free_pair == nullptr && pair->done.query()) free_pair = pair.get();
  }
  if (free_pair != nullptr) {
    free_pair->in_use.store(true, std::memory_order_relaxed);
    free_pair->user = user_id;
    pair_ = free_pair;
    return;
  }
  if (device_pairs.size() == max_pairs) return;
  device_pairs.reserve(max_pairs);
  auto created = std::make_unique<auxiliary_streams>();
  created->first = create_stream(detail::stream_kind::non_blocking, 0);
  try {
    created->second = create_stream(detail::stream_kind::non_blocking, 0);
  } catch (...) {
    retire(created->first);
    throw;
  }
  created->user = user_id;
  device_pairs.push_back(std::move(created));
  pair_ = device_pairs.back().get();
}

}  // namespace roc::runtime

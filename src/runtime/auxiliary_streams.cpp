// SPDX-License-Identifier: MIT
#include "runtime/auxiliary_streams.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/current_device.hpp"
#include "runtime/stream_id.hpp"

namespace roc::runtime {

auxiliary_streams_guard::auxiliary_streams_guard() {
  constexpr std::size_t max_pairs = 16;
  // Leaked on purpose: copies may run until the process ends.
  static auto* const pairs = new std::map<int, std::vector<std::unique_ptr<auxiliary_streams>>>;
  static std::mutex mutex;
  int const device = current_device();
  std::lock_guard const lock(mutex);
  auto& device_pairs = (*pairs)[device];
  for (auto const& pair : device_pairs) {
    if (pair->in_use.load(std::memory_order_acquire) || !pair->done.query()) continue;
    pair->in_use.store(true, std::memory_order_relaxed);
    pair_ = pair.get();
    return;
  }
  if (device_pairs.size() == max_pairs) return;
  device_pairs.reserve(max_pairs);
  auto created = std::make_unique<auxiliary_streams>();
  created->first = create_internal_stream();
  try {
    created->second = create_internal_stream();
  } catch (...) {
    retire(created->first);
    throw;
  }
  device_pairs.push_back(std::move(created));
  pair_ = device_pairs.back().get();
}

}  // namespace roc::runtime

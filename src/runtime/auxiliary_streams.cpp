// SPDX-License-Identifier: MIT
#include "runtime/auxiliary_streams.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"

namespace roc::runtime {

side_streams_hold::side_streams_hold() {
  constexpr std::size_t most = 16;
  // Leaked on purpose: copies run until the very end of the process.
  static auto* const all = new std::map<int, std::vector<std::unique_ptr<auxiliary_streams>>>;
  static std::mutex mutex;
  int const device = current_device();
  std::lock_guard const lock(mutex);
  auto& here = (*all)[device];
  for (auto const& each : here) {
    if (each->taken.load(std::memory_order_acquire) || !each->done.query()) continue;
    each->taken.store(true, std::memory_order_relaxed);
    pair_ = each.get();
    return;
  }
  if (here.size() == most) return;
  auto made = std::make_unique<auxiliary_streams>();
  made->first = make_own_stream();
  try {
    made->second = make_own_stream();
  } catch (...) {
    ROCARRAY_HIP_QUIET(hipStreamDestroy, reinterpret_cast<hipStream_t>(made->first.handle()));
    throw;
  }
  here.push_back(std::move(made));
  pair_ = here.back().get();
}

}  // namespace roc::runtime

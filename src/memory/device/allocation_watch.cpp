// SPDX-License-Identifier: MIT
#include "memory/device/allocation_watch.hpp"

#include <map>
#include <mutex>

#include "base/no_destructor.hpp"

namespace roc::memory {
namespace {

struct watch_table {
  std::mutex mutex;
  std::map<allocation_record const*, std::shared_ptr<std::atomic<bool>>> tokens;
};

// Never destroyed: static arrays are freed after every other static object.
watch_table& watched_allocations() noexcept {
  static base::no_destructor<watch_table> instance;
  return *instance;
}

}  // namespace

allocation_token watch_allocation(allocation_record& record) {
  std::lock_guard const lock(watched_allocations().mutex);
  auto& token = watched_allocations().tokens[&record];
  if (token == nullptr) token = std::make_shared<std::atomic<bool>>(true);
  record.is_watched.store(true, std::memory_order_relaxed);
  return token;
}

void end_watch_slow_path(allocation_record& record) noexcept {
  std::lock_guard const lock(watched_allocations().mutex);
  record.is_watched.store(false, std::memory_order_relaxed);
  auto const found = watched_allocations().tokens.find(&record);
  if (found == watched_allocations().tokens.end()) return;
  if (found->second != nullptr) found->second->store(false);
  watched_allocations().tokens.erase(found);
}

}  // namespace roc::memory

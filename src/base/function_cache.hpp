// SPDX-License-Identifier: MIT
// Caches values by the addresses of functions in shared objects.
#pragma once

#include <link.h>

#include <cstddef>
#include <map>
#include <mutex>

namespace roc::base {

/// Returns how many shared objects the process has unloaded (dlclose).
inline unsigned long long count_unloaded_objects() noexcept {
  unsigned long long result = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        *static_cast<unsigned long long*>(data) = object->dlpi_subs;
        return 1;
      },
      &result);
  return result;
}

/// Values by keys that contain the address of a function. Emptied after a shared object was
/// unloaded, because another one may have its addresses. Thread-safe.
template <class Key, class Value>
class function_cache {
 public:
  /// Returns the value of a key. Calls `compute` for it if the cache does not have it; without a
  /// lock, because `compute` may wait for the lock of the dynamic loader, and a static constructor
  /// that the loader runs may call this function. Throws std::bad_alloc and what `compute` throws.
  template <class F>
  Value get(Key const& key, F&& compute) {
    auto const unloaded = count_unloaded_objects();
    {
      std::lock_guard const lock(mutex_);
      if (unloaded_ != unloaded) values_.clear();
      unloaded_ = unloaded;
      auto const entry = values_.find(key);
      if (entry != values_.end()) return entry->second;
    }
    Value const result = compute();
    std::lock_guard const lock(mutex_);
    if (unloaded_ == unloaded) values_.insert_or_assign(key, result);
    return result;
  }

  /// Calls f(value) for all values in the cache, with its lock.
  template <class F>
  void for_each(F f) {
    std::lock_guard const lock(mutex_);
    for (auto const& entry : values_) f(entry.second);
  }

 private:
  std::mutex mutex_;
  unsigned long long unloaded_ = 0;
  std::map<Key, Value> values_;
};

}  // namespace roc::base

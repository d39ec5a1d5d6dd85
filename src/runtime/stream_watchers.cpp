// SPDX-License-Identifier: MIT
#include "runtime/stream_watchers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <roc/detail/stream_watcher.hpp>

#include "base/no_destructor.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::runtime {
namespace {

using detail::stream_watcher;

// The default stream and the per-thread streams exist once for each device. The latter of all
// threads have one entry.
struct watched_stream {
  detail::native_stream* handle;
  int device;  // -1 for other streams
  friend auto operator<=>(watched_stream const&, watched_stream const&) = default;
};

watched_stream watched(stream_ref stream) {
  bool const is_per_device = is_device_relative(stream.handle());
  return {stream.handle(), is_per_device ? device_of(stream, current_device()) : -1};
}

// While there are no entries, a synchronization costs only one additional load.
std::atomic<std::size_t> watched_count = 0;

struct watcher_table {
  std::mutex mutex;  // of the other members
  std::map<watched_stream, std::vector<std::weak_ptr<stream_watcher>>> watchers;

  void add(watched_stream const& key, std::weak_ptr<stream_watcher> added) {
    std::lock_guard const lock(mutex);
    auto& list = watchers[key];
    watched_count = watchers.size();
    for (auto const& watcher : list) {
      bool const is_same = !watcher.owner_before(added) && !added.owner_before(watcher);
      if (is_same) return;
    }
    list.push_back(std::move(added));
  }
  // Returns a watcher of the stream; null if there are not so many. Removes those that have been
  // destroyed.
  std::shared_ptr<stream_watcher> at(watched_stream const& key, std::size_t index) noexcept {
    std::lock_guard const lock(mutex);
    auto const entry = watchers.find(key);
    if (entry == watchers.end()) return nullptr;
    auto& list = entry->second;
    list.erase(std::remove_if(list.begin(), list.end(),
                              [](auto const& watcher) { return watcher.expired(); }),
               list.end());
    if (index < list.size()) return list[index].lock();
    if (list.empty()) erase(entry);
    return nullptr;
  }
  void forget(watched_stream const& key) noexcept {
    std::lock_guard const lock(mutex);
    if (auto const entry = watchers.find(key); entry != watchers.end()) erase(entry);
  }

 private:
  void erase(decltype(watchers)::iterator entry) noexcept {
    watchers.erase(entry);
    watched_count = watchers.size();
  }
};

// Never destroyed: destructors of static objects may destroy streams.
watcher_table& table() noexcept {
  static base::no_destructor<watcher_table> instance;
  return *instance;
}

}  // namespace

std::exception_ptr wait_for_watchers(stream_ref stream) noexcept {
  using clock = std::chrono::steady_clock;
  if (watched_count.load(std::memory_order_acquire) == 0) return nullptr;
  std::exception_ptr failure;
  clock::time_point const begin = clock::now();
  try {
    watched_stream const key = watched(stream);
    while (true) {
      clock::duration const waited = clock::now() - begin;
      bool is_pending = false;
      std::size_t index = 0;
      while (auto const watcher = table().at(key, index++)) {
        try {
          if (!watcher->poll_stream(stream.handle(), waited)) is_pending = true;
        } catch (...) {
          if (failure == nullptr) failure = std::current_exception();
        }
      }
      if (!is_pending) break;
      if (waited < std::chrono::milliseconds(1)) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  } catch (...) {  // the current device cannot be found
    failure = std::current_exception();
  }
  return failure;
}

void forget_watchers(stream_ref stream) noexcept {
  if (watched_count.load(std::memory_order_acquire) == 0) return;
  table().forget({stream.handle(), -1});
}

}  // namespace roc::runtime

namespace roc {

void detail::watch_stream(stream_ref stream, std::weak_ptr<stream_watcher> watcher) {
  runtime::table().add(runtime::watched(stream), std::move(watcher));
}

}  // namespace roc

// SPDX-License-Identifier: MIT
#include "runtime/stream_watchers.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <roc/detail/stream_watcher.hpp>
#include <roc/detail/timed_wait.hpp>

#include "base/error.hpp"
#include "base/no_destructor.hpp"

namespace roc::runtime {
namespace {

using detail::stream_identity;
using detail::stream_watcher;

using watcher_detail::watched_streams;

struct watcher_table {
  std::mutex mutex;  // of the other members
  std::map<stream_identity, std::vector<std::weak_ptr<stream_watcher>>> watchers;

  void add(stream_identity const& stream, std::weak_ptr<stream_watcher> added) {
    std::lock_guard const lock(mutex);
    auto& list = watchers[stream];
    watched_streams = watchers.size();
    auto* slot = static_cast<std::weak_ptr<stream_watcher>*>(nullptr);
    for (auto& watcher : list) {
      bool const is_same = !watcher.owner_before(added) && !added.owner_before(watcher);
      if (is_same) return;
      if (watcher.expired()) slot = &watcher;
    }
    // Erases no entry, because other threads iterate by index.
    if (slot != nullptr) {
      *slot = std::move(added);
    } else {
      list.push_back(std::move(added));
    }
  }
  // Returns the first live watcher of the stream at or after position `index`, and sets `index` to
  // the position after it. Returns null if there is none. Forgets the stream if all its watchers
  // have been destroyed.
  std::shared_ptr<stream_watcher> next(stream_identity const& stream, std::size_t& index) noexcept {
    std::lock_guard const lock(mutex);
    auto const entry = watchers.find(stream);
    if (entry == watchers.end()) return nullptr;
    bool const is_first = index == 0;
    while (index < entry->second.size()) {
      if (auto watcher = entry->second[index++].lock()) return watcher;
    }
    if (is_first) erase(entry);
    return nullptr;
  }
  void forget(stream_identity const& stream) noexcept {
    std::lock_guard const lock(mutex);
    if (auto const entry = watchers.find(stream); entry != watchers.end()) erase(entry);
  }
  void forget_thread(unsigned long thread) noexcept {
    std::lock_guard const lock(mutex);
    std::erase_if(watchers, [&](auto const& entry) { return entry.first.thread == thread; });
    watched_streams = watchers.size();
  }

 private:
  void erase(decltype(watchers)::iterator entry) noexcept {
    watchers.erase(entry);
    watched_streams = watchers.size();
  }
};

// Never destroyed: destructors of static objects may destroy streams.
watcher_table& table() noexcept {
  static base::no_destructor<watcher_table> instance;
  return *instance;
}

void log_current_exception() noexcept {
  try {
    throw;
  } catch (std::exception const& problem) {
    base::log_error(problem.what());
  } catch (...) {
    base::log_error("a watcher of a stream threw an exception that is not a std::exception");
  }
}

}  // namespace

std::exception_ptr watcher_detail::wait(stream_ref stream) noexcept {
  using clock = std::chrono::steady_clock;
  std::exception_ptr failure;
  // One error is enough, because an event that cannot be queried throws each time.
  bool has_logged = false;
  clock::time_point const begin = clock::now();
  try {
    stream_identity const identity = detail::identity_of(stream);
    while (true) {
      clock::duration const waited = clock::now() - begin;
      bool is_pending = false;
      std::size_t index = 0;
      while (auto const watcher = table().next(identity, index)) {
        try {
          if (!watcher->poll_stream(identity, waited)) is_pending = true;
        } catch (...) {
          if (failure == nullptr) {
            failure = std::current_exception();
          } else if (!std::exchange(has_logged, true)) {
            log_current_exception();
          }
        }
      }
      if (!is_pending) break;
      detail::timed_wait::pause_after(waited);
    }
  } catch (...) {  // the current device cannot be found
    failure = std::current_exception();
  }
  return failure;
}

void forget_watchers(stream_ref stream) noexcept {
  if (watched_streams.load(std::memory_order_acquire) == 0) return;
  table().forget({stream.handle(), -1, 0});
}

void forget_watchers_of_thread(unsigned long thread) noexcept {
  if (watched_streams.load(std::memory_order_acquire) == 0) return;
  table().forget_thread(thread);
}

}  // namespace roc::runtime

namespace roc {

void detail::watch_stream(stream_ref stream, std::weak_ptr<stream_watcher> watcher) {
  runtime::table().add(identity_of(stream), std::move(watcher));
}

}  // namespace roc

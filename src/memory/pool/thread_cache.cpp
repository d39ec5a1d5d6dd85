// SPDX-License-Identifier: MIT
#include "memory/pool/thread_cache.hpp"

#include <exception>
#include <vector>

namespace roc::memory {
namespace {

std::uint64_t next_owner_id() {
  static std::atomic<std::uint64_t> last_id = 0;
  return ++last_id;
}

// Static objects may still be freed after the thread's objects were destroyed. They are then freed
// without a cache.
constinit thread_local bool is_thread_ended = false;

}  // namespace

constinit thread_local base::lookup_cache<recent_cache> recent_caches{};

// All caches of the calling thread. Its destructor releases them when the thread ends.
struct thread_caches {
  struct entry {
    std::shared_ptr<thread_cache_owner> owner;
    thread_cache* cache;
  };
  std::vector<entry> entries;

  ~thread_caches() {
    is_thread_ended = true;
    recent_caches.clear();
    for (entry const& e : entries) e.owner->release_cache(*e.cache);
  }

  // Releases the caches of the pool whose stream was destroyed, and those of destroyed pools. Not
  // those of other pools: the thread may hold the mutex of one, whose upstream the pool is.
  void release_obsolete(thread_cache_owner const& pool) {
    std::erase_if(entries, [&](entry const& e) {
      bool const is_obsolete =
          e.owner->is_closed() || (e.owner.get() == &pool && !e.cache->stream.is_live());
      if (is_obsolete) e.owner->release_cache(*e.cache);
      return is_obsolete;
    });
  }

  static thread_caches& of_thread() {
    thread_local thread_caches instance;
    return instance;
  }
};

thread_cache_owner::thread_cache_owner() : id_(next_owner_id()) {}

thread_cache* thread_cache_owner::cache_of_thread_slow_path(stream_ref stream, int device) {
  return cache_of_thread(runtime::stream_id_of(stream, device));
}

thread_cache* thread_cache_owner::cache_of_thread_slow_path(
    runtime::stream_id const& stream) noexcept {
  if (!stream.is_live() || stream.is_foreign()) return nullptr;
  if (is_thread_ended) return nullptr;
  try {
    thread_cache* const cache = find_or_create(stream);
    recent_entry(stream.stream().handle()) = {id_, stream.stream().handle(), stream, cache};
    return cache;
  } catch (std::exception const&) {
    return nullptr;
  }
}

thread_cache* thread_cache_owner::find_or_create(runtime::stream_id const& stream) {
  thread_caches& caches = thread_caches::of_thread();
  for (auto const& e : caches.entries) {
    if (e.owner.get() == this && e.cache->stream == stream) return e.cache;
  }
  caches.release_obsolete(*this);
  caches.entries.reserve(caches.entries.size() + 1);  // before a cache exists that could be lost
  thread_cache& cache = acquire_cache(stream);
  caches.entries.push_back({shared_from_this(), &cache});
  return &cache;
}

}  // namespace roc::memory

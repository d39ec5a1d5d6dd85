// SPDX-License-Identifier: MIT
#include "memory/pool/thread_cache.hpp"

#include <exception>
#include <vector>

#include "base/lookup_cache.hpp"

namespace roc::memory {
namespace {

std::uint64_t next_owner_id() {
  static std::atomic<std::uint64_t> last_id = 0;
  return ++last_id;
}

// The result of a lookup by the calling thread.
struct recent_cache {
  std::uint64_t owner_id;  // 0: the entry is empty
  detail::native_stream* handle;
  runtime::stream_id stream;
  thread_cache* cache;
};

constinit thread_local base::lookup_cache<recent_cache> recent_caches{};
// Static objects may still be freed after the thread's objects were destroyed. They are then freed
// without a cache.
constinit thread_local bool is_thread_ended = false;

// Returns the entry of the calling thread that may hold the lookup of this pool and stream.
recent_cache& recent_entry(std::uint64_t owner_id, detail::native_stream* handle) {
  return recent_caches.slot_of(reinterpret_cast<std::uintptr_t>(handle), owner_id);
}

}  // namespace

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

thread_cache* thread_cache_owner::cache_of_thread(stream_ref stream, int device) {
  recent_cache const& recent = recent_entry(id_, stream.handle());
  // A stream that was moved from has the handle of the default stream, but not its kind.
  bool const is_found = recent.owner_id == id_ && recent.handle == stream.handle() &&
                        recent.stream.stream().kind() == stream.kind() && recent.stream.is_live();
  return is_found ? recent.cache : cache_of_thread(runtime::stream_id_of(stream, device));
}

thread_cache* thread_cache_owner::cache_of_thread(runtime::stream_id const& stream) noexcept {
  if (!stream.is_live()) return nullptr;
  recent_cache& recent = recent_entry(id_, stream.stream().handle());
  if (recent.owner_id == id_ && recent.stream == stream) return recent.cache;
  if (is_thread_ended) return nullptr;
  thread_cache* cache = nullptr;
  try {
    if (!stream.is_foreign()) cache = find_or_create(stream);
  } catch (std::exception const&) {
    return nullptr;
  }
  recent = {id_, stream.stream().handle(), stream, cache};
  return cache;
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

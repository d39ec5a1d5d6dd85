// SPDX-License-Identifier: MIT
// The way without a lock: blocks that each thread keeps, by stream.
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "platform/log_if_throws.hpp"
#include "memory/pool/pool_state.hpp"
#include "memory/debug/sanitizer.hpp"
#include "base/error.hpp"
#include "runtime/stream.hpp"

namespace roc::memory {
namespace {

struct recent_cache {
  std::uint64_t pool;  // 0: none
  detail::native_stream* handle;
  runtime::stream_id stream;
  thread_cache* cache;
};

constinit thread_local std::array<recent_cache, 8> recent{};
// After the thread's own objects are gone, static ones are still freed: through the pool itself.
constinit thread_local bool thread_has_ended = false;

struct thread_caches {
  struct entry {
    std::shared_ptr<pool_state> pool;
    thread_cache* cache;
  };
  std::vector<entry> all;

  ~thread_caches() {
    thread_has_ended = true;
    recent = {};
    for (entry const& each : all) each.pool->leave(*each.cache);
  }
};

thread_caches& caches_of_thread() {
  thread_local thread_caches instance;
  return instance;
}

recent_cache& place_of(std::uint64_t pool, detail::native_stream* handle) {
  auto const bits = reinterpret_cast<std::uintptr_t>(handle);
  return recent[(bits >> 4 ^ bits >> 9 ^ pool) % recent.size()];
}

}  // namespace

// Null where blocks of the stream are not kept by threads.
thread_cache* pool_state::cache_of(stream_ref stream) {
  recent_cache& known = place_of(number_, stream.handle());
  if (known.pool == number_ && known.handle == stream.handle() && known.stream.is_live()) {
    return known.cache;
  }
  if (thread_has_ended) return nullptr;
  auto const found = runtime::mark_of(stream, device_);
  thread_cache* const made = found.is_foreign() ? nullptr : make_cache(found);
  known = {number_, stream.handle(), found, made};
  return made;
}

thread_cache* pool_state::make_cache(stream_id stream) {
  auto& mine = caches_of_thread().all;
  for (auto const& each : mine) {
    if (each.pool.get() == this && each.cache->stream == stream) return each.cache;
  }
  // What is kept for streams that have ended is of no use any more.
  std::erase_if(mine, [](auto const& each) {
    bool const dead = !each.cache->stream.is_live() || each.pool->is_closed();
    if (dead) each.pool->leave(*each.cache);
    return dead;
  });
  lock const held(mutex_);
  thread_cache* found = nullptr;
  for (auto const& each : caches_) {
    if (!each->owned) found = each.get();
  }
  if (found == nullptr) {
    caches_.push_back(std::make_unique<thread_cache>());
    found = caches_.back().get();
  }
  found->stream = stream;
  found->owned = true;
  mine.push_back({shared_from_this(), found});
  return found;
}

void pool_state::leave(thread_cache& cache) noexcept {
  try {
    lock const held(mutex_);
    empty(cache);
    cache.owned = false;
  } catch (std::exception const& late) {
    base::log(late.what());
  }
}

void* pool_state::hand_out(pool_block& block, std::size_t bytes, stream_id stream,
                           bool inherits) noexcept {
  if (block.used_elsewhere.load(std::memory_order_relaxed)) block.forget_uses();
  block.own = stream;
  block.inherits = inherits;
  block.live.store(true, std::memory_order_relaxed);
  open_memory(block.data, block.bytes());
  // Work enqueued before a free may still touch what lies behind the bytes asked for now.
  if (!inherits) close_memory(block.data + bytes, block.bytes() - bytes);
  return block.data;
}

void* pool_state::allocate(std::size_t bytes, stream_ref stream) {
  demand wanted{bytes, bytes <= small_limit, 0, 0};
  thread_cache* const cache = wanted.small ? cache_of(stream) : nullptr;
  if (wanted.small) wanted.which = class_of(bytes);
  if (cache != nullptr && cache->try_enter()) {
    pool_block* const block = cache->pop(wanted.which);
    bool rises = false;
    if (block != nullptr) {
      ++cache->allocations;
      rises = cache->take(class_bytes(wanted.which));
    }
    stream_id const of = cache->stream;
    cache->leave();
    if (rises) count_peak();
    if (block != nullptr) return hand_out(*block, bytes, of, true);
  }
  wanted.pages = wanted.small ? span_pages(wanted.which) : pages_of(bytes);
  bool inherits = false;
  stream_id const of = runtime::mark_of(stream, device_);
  pool_block* const block = allocate_slowly(wanted, of, inherits);
  if (cache != nullptr && cache->try_enter()) {
    cache->take(block->bytes());
    cache->leave();
  }
  return hand_out(*block, bytes, of, inherits);
}

// The table knows the upper one of two pools that stand on each other.
pool_block* pool_state::find_block(void const* data) noexcept {
  lock const held(mutex_);
  for (auto const& chunk : chunks_) {
    if (pool_block* const block = chunk->record_at(data)) return block;
  }
  return nullptr;
}

// Null, and a line in the log, for what this pool did not hand out.
pool_block* pool_state::checked_block(void* data, std::size_t bytes) noexcept {
  allocation_record* const record = find_record(data);
  bool const known = record != nullptr && record->pool == this;
  auto* const block = known ? static_cast<pool_block*>(record) : find_block(data);
  char const* problem = nullptr;
  if (block == nullptr || block->data != data) {
    problem = "is no block of this pool: give it back to where it is from";
  } else if (!block->live.exchange(false, std::memory_order_relaxed)) {
    problem = "was given back before: give memory back once";
  } else if (bytes > block->bytes()) {
    block->live.store(true, std::memory_order_relaxed);
    problem = "is smaller than that: give memory back with the bytes it was asked with";
  }
  if (problem == nullptr) return block;
  char text[200];
  std::snprintf(text, sizeof text, "deallocate(%p, %zu bytes) of pool_resource: the address %s",
                data, bytes, problem);
  base::log(text);
  return nullptr;
}

void pool_state::deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept {
  pool_block* const block = checked_block(data, bytes);
  if (block == nullptr) return;
  try {
    bool const plain = !block->used_elsewhere.load(std::memory_order_acquire);
    thread_cache* const cache = block->bytes() <= small_limit ? cache_of(stream) : nullptr;
    if (cache != nullptr && cache->try_enter()) {
      unsigned const which = class_of(block->bytes());
      cache->taken -= static_cast<std::ptrdiff_t>(block->bytes());
      if (plain) cache->push(*block, which);
      bool const full = cache->counts[which] > thread_cache::room(which);
      cache->leave();
      if (full) give_back_half(*cache, which);
      if (plain) return;
    }
    deallocate_slowly(*block, runtime::mark_of(stream, device_));
  } catch (error const& late) {
    if (platform::runtime_has_gone(late)) return;
    base::log(late.what());
    if (platform::log_if_throws(runtime::wait_for_devices)) return put_idle(*block);
    // Whether work still uses the block is not known: it is never handed out again.
    base::log("a block of a pool is lost, as its device does not answer");
  } catch (std::exception const& late) {
    base::log(std::string("a block of a pool is lost: ") + late.what());
  }
}

// After all work.
void pool_state::put_idle(pool_block& block) noexcept {
  platform::log_if_throws([&] {
    block.forget_uses();
    lock const held(mutex_);
    out_ -= block.bytes();
    --blocks_out_;
    put(block, {});
  });
}

void pool_state::give_back_half(thread_cache& cache, unsigned which) {
  lock const held(mutex_);
  bin& to = bin_of(cache.stream);
  cache.enter();
  for (std::uint32_t i = cache.counts[which] / 2; i != 0; --i) {
    pool_block* const block = cache.pop(which);
    out_ -= block->bytes();
    --blocks_out_;
    to.fresh.push(*block);
  }
  cache.leave();
}

// Holding the lock.
void pool_state::empty(thread_cache& cache) {
  bin& to = bin_of(cache.stream);
  cache.enter();
  for (unsigned which = 0; which < class_count; ++which) {
    while (pool_block* const block = cache.pop(which)) {
      out_ -= block->bytes();
      --blocks_out_;
      to.fresh.push(*block);
    }
  }
  cache.leave();
}

// Holding the lock.
void pool_state::empty_caches(bool ended_only) {
  for (auto const& each : caches_) {
    if (each->owned && (!ended_only || !each->stream.is_live())) empty(*each);
  }
}

// Holding the lock. A block that another thread keeps for the stream.
pool_block* pool_state::steal(demand const& wanted, stream_id stream) {
  if (!wanted.small) return nullptr;
  for (auto const& each : caches_) {
    if (!each->owned || each->stream != stream) continue;
    each->enter();
    pool_block* const block = each->pop(wanted.which);
    each->leave();
    if (block == nullptr) continue;
    out_ -= block->bytes();
    --blocks_out_;
    return block;
  }
  return nullptr;
}

}  // namespace roc::memory

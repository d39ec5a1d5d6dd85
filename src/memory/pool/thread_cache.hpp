// SPDX-License-Identifier: MIT
// Free blocks that a thread caches, so that it can allocate without a lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#include <roc/stream.hpp>

#include "base/lookup_cache.hpp"
#include "memory/device/pool_slab.hpp"
#include "memory/pool/size_class.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {

struct stream_bin;

/// The free blocks of one pool that one thread caches for one stream: small blocks, and the large
/// blocks that it freed last. Owned by the pool, which may reuse the cache for another thread
/// later.
///
/// Its thread never blocks on it: if try_enter fails, because another thread empties the cache, the
/// thread allocates from the pool.
struct thread_cache {
  std::atomic<bool> is_entered = false;
  bool is_used = true;  // by a thread; guarded by the mutex of the pool
  runtime::stream_id stream;
  stream_bin* bin = nullptr;  // of the stream, while the cache is used
  // The following members belong to the thread that has entered the cache.
  std::array<pool_block*, size_class_count> heads{};
  std::array<std::uint32_t, size_class_count> counts{};
  std::array<pool_block*, 4> large{};  // the last freed first; null after the last one
  std::size_t allocations = 0;         // served from the cache
  std::ptrdiff_t allocated_bytes = 0;  // by the thread, minus those that it deallocated
  std::ptrdiff_t max_allocated_bytes = 0;
  // Other threads may read these at any time.
  std::atomic<std::size_t> bytes = 0;  // of the blocks in the cache
  std::atomic<unsigned> large_blocks = 0;

  /// Gains exclusive access, unless another thread has it. Does not block.
  bool try_enter() noexcept { return !is_entered.exchange(true, std::memory_order_acquire); }
  /// Gains exclusive access. Blocks for a short time while another thread has it.
  void enter() noexcept {
    while (!try_enter()) std::this_thread::yield();
  }
  /// Ends exclusive access.
  void leave() noexcept { is_entered.store(false, std::memory_order_release); }

  /// The maximum number of blocks of each size class in a cache.
  static constexpr std::array<std::uint32_t, size_class_count> capacities = [] {
    std::array<std::uint32_t, size_class_count> result{};
    for (unsigned i = 0; i < size_class_count; ++i) {
      std::size_t const fit = (std::size_t{512} << 10) / size_class_bytes(i);
      result[i] = static_cast<std::uint32_t>(std::clamp<std::size_t>(fit, 2, 64));
    }
    return result;
  }();

  /// Counts bytes that the thread has allocated. Returns true if the count is a new maximum.
  bool count_allocated(std::size_t size) noexcept {
    allocated_bytes += static_cast<std::ptrdiff_t>(size);
    bool const is_maximum = allocated_bytes > max_allocated_bytes;
    if (is_maximum) max_allocated_bytes = allocated_bytes;
    return is_maximum;
  }
  /// Removes and returns a block for an allocation of `size` bytes: of its size class, or a large
  /// block of as many pages as it needs. Returns null if there is none.
  pool_block* take(std::size_t size) noexcept {
    return size <= small_limit ? pop(size_class_of(size)) : pop_large(page_count(size));
  }
  /// Removes and returns a block of the size class; null if there is none.
  pool_block* pop(unsigned size_class) noexcept {
    pool_block* const block = heads[size_class];
    if (block == nullptr) return nullptr;
    heads[size_class] = block->next;
    --counts[size_class];
    subtract(bytes, block->bytes());
    return block;
  }
  /// Adds a block of the size class.
  void push(pool_block& block, unsigned size_class) noexcept {
    block.next = heads[size_class];
    heads[size_class] = &block;
    ++counts[size_class];
    add(bytes, block.bytes());
  }
  /// Removes and returns a large block of exactly `pages`; null if there is none.
  pool_block* pop_large(std::size_t pages) noexcept {
    for (auto entry = large.begin(); entry != large.end() && *entry != nullptr; ++entry) {
      if ((*entry)->span->pages == pages) return pop_large(entry);
    }
    return nullptr;
  }
  /// Removes and returns any large block; null if there is none.
  pool_block* pop_large() noexcept {
    return large.front() == nullptr ? nullptr : pop_large(large.begin());
  }
  /// Adds a large block. If there are too many, removes and returns the one that was freed first;
  /// returns null otherwise.
  pool_block* push_large(pool_block& block) noexcept {
    pool_block* const removed = large.back();
    std::shift_right(large.begin(), large.end(), 1);
    large.front() = &block;
    add(bytes, block.bytes());  // first: too large a sum does no harm, see current_bytes_locked
    if (removed != nullptr) {
      subtract(bytes, removed->bytes());
    } else {
      add(large_blocks, 1u);
    }
    return removed;
  }

 private:
  pool_block* pop_large(pool_block** entry) noexcept {
    pool_block* const block = *entry;
    std::shift_left(entry, large.end(), 1);
    large.back() = nullptr;
    subtract(bytes, block->bytes());
    subtract(large_blocks, 1u);
    return block;
  }
  // Only the thread that has entered the cache writes.
  template <class T>
  static void add(std::atomic<T>& count, T change) noexcept {
    count.store(count.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
  template <class T>
  static void subtract(std::atomic<T>& count, T change) noexcept {
    count.store(count.load(std::memory_order_relaxed) - change, std::memory_order_relaxed);
  }
};

/// The result of a lookup of a thread's cache.
struct recent_cache {
  std::uint64_t owner_id;  // 0: the entry is empty
  detail::native_stream* handle;
  runtime::stream_id stream;
  thread_cache* cache;
};

/// The recent lookups of the calling thread.
extern constinit thread_local base::lookup_cache<recent_cache> recent_caches;

/// The owner of thread caches: a pool. Threads that have caches share its ownership.
class thread_cache_owner : public std::enable_shared_from_this<thread_cache_owner> {
 public:
  /// Returns the calling thread's cache for `stream`, and creates it at the first call. `device` is
  /// the device of the default stream if `stream` does not name one. Returns null if threads cache
  /// no blocks of the stream: it is foreign, or the thread's static objects are being destroyed, or
  /// the cache cannot be created. Takes no lock if the thread has used the cache recently. Does not
  /// call HIP. Throws lifetime_error for a moved-from or destroyed stream, std::bad_alloc.
  thread_cache* cache_of_thread(stream_ref stream, int device) {
    thread_cache* const recent = recent_cache_of_thread(stream, device);
    return recent != nullptr ? recent : cache_of_thread_slow_path(stream, device);
  }
  /// Returns the calling thread's cache for the stream, or null as for a stream_ref; also null if
  /// the stream was destroyed.
  thread_cache* cache_of_thread(runtime::stream_id const& stream) noexcept {
    thread_cache* const recent = recent_cache_of_thread(stream);
    return recent != nullptr ? recent : cache_of_thread_slow_path(stream);
  }
  /// Returns the calling thread's cache for the stream if the thread has used it recently, else
  /// null. Takes no lock.
  thread_cache* recent_cache_of_thread(stream_ref stream, int device) const noexcept {
    recent_cache const& recent = recent_entry(stream.handle());
    // The default streams of all devices have one handle. So has a stream that was moved from, but
    // another kind.
    int const stream_device = stream.device_ordinal() >= 0 ? stream.device_ordinal() : device;
    bool const is_found = recent.owner_id == id_ && recent.handle == stream.handle() &&
                          recent.stream.device() == stream_device &&
                          recent.stream.stream().kind() == stream.kind() && recent.stream.is_live();
    return is_found ? recent.cache : nullptr;
  }
  thread_cache* recent_cache_of_thread(runtime::stream_id const& stream) const noexcept {
    recent_cache const& recent = recent_entry(stream.stream().handle());
    bool const is_found = recent.owner_id == id_ && recent.stream == stream && stream.is_live();
    return is_found ? recent.cache : nullptr;
  }

 protected:
  thread_cache_owner();
  virtual ~thread_cache_owner() = default;

 private:
  friend struct thread_caches;

  /// Returns an empty cache for the stream, to be used by the calling thread. Takes the mutex of
  /// the pool.
  /// Throws std::bad_alloc.
  virtual thread_cache& acquire_cache(runtime::stream_id const& stream) = 0;
  /// Moves the blocks of the cache to the pool; the thread no longer uses it. Takes the mutex of
  /// the pool.
  virtual void release_cache(thread_cache& cache) noexcept = 0;
  /// Returns true if the pool_resource was destroyed.
  virtual bool is_closed() const noexcept = 0;

  /// Returns the entry of the calling thread that may hold its lookup of a stream.
  recent_cache& recent_entry(detail::native_stream* handle) const noexcept {
    return recent_caches.slot_of(reinterpret_cast<std::uintptr_t>(handle), id_);
  }
  /// Implement cache_of_thread if the thread has not used the cache recently.
  thread_cache* cache_of_thread_slow_path(stream_ref stream, int device);
  thread_cache* cache_of_thread_slow_path(runtime::stream_id const& stream) noexcept;
  /// Returns the calling thread's cache for the stream, never null. Releases obsolete caches before
  /// it creates one. Takes the mutex of pools. Throws std::bad_alloc.
  thread_cache* find_or_create(runtime::stream_id const& stream);

  std::uint64_t const id_;  // unique among all pools of the process
};

}  // namespace roc::memory

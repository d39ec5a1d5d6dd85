// SPDX-License-Identifier: MIT
#include "memory/pool/pool_state.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/format_bytes.hpp"
#include "memory/debug/address_sanitizer.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_watch.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"

namespace roc::memory {
namespace {

// The pools that are never destroyed, linked: reachable for leak checkers.
constinit std::atomic<pool_state*> kept_alive = nullptr;

// Throws roc::error if the upstream does not name its device.
int named_device_of(memory_resource const& upstream) {
  if (upstream.device_ordinal() >= 0) return upstream.device_ordinal();
  throw error(std::make_error_code(std::errc::invalid_argument),
              "the upstream of a pool does not name its device; override do_device_ordinal");
}

// Reports arguments of a deallocation that are not those of a live allocation.
[[gnu::noinline]] void log_refused(void* data, std::size_t bytes, char const* problem) noexcept {
  char text[200];
  std::snprintf(text, sizeof text, "pool_resource::deallocate(%p, %zu bytes): the address %s", data,
                bytes, problem);
  base::log_error(text);
}

}  // namespace

pool_state::pool_state(memory_resource& upstream, pool_options const& options)
    : device_(named_device_of(upstream)),
      host_kind_(upstream.host_kind()),
      heap_(*this, upstream, device_, options),
      bins_(heap_, device_) {}

pool_state::~pool_state() = default;

inline detail::resource_block pool_state::hand_out(pool_block& block, std::size_t bytes,
                                                   stream_id const& stream,
                                                   bool has_prior_work) noexcept {
  if (block.is_used_by_other_streams()) block.forget_uses();
  if (block.allocation_stream != stream) block.allocation_stream = stream;
  block.has_prior_work = has_prior_work;
  // A visit that sees the block as allocated reads what was written before.
  block.is_allocated.store(true, std::memory_order_release);
  unpoison_device_memory(block.data, block.bytes());
  // Prior work may still access the rest of the block.
  if (!has_prior_work) poison_device_memory(block.data + bytes, block.bytes() - bytes);
  return {block.data, &block, has_prior_work};
}

inline pool_block* pool_state::take_cached(thread_cache* cache, std::size_t bytes) {
  if (cache == nullptr || !cache->try_enter()) return nullptr;
  pool_block* const block = cache->take(bytes);
  bool is_maximum = false;
  if (block != nullptr) {
    ++cache->allocations;
    is_maximum = cache->count_allocated(block->bytes());
  }
  cache->leave();
  if (is_maximum) update_peak();
  return block;
}

detail::resource_block pool_state::allocate(std::size_t bytes, stream_ref stream) {
  thread_cache* const cache = recent_cache_of_thread(stream, device_);
  pool_block* const block = take_cached(cache, bytes);
  return block != nullptr ? hand_out(*block, bytes, cache->stream, true)
                          : allocate_slow_path(bytes, stream);
}

detail::resource_block pool_state::allocate_slow_path(std::size_t bytes, stream_ref stream) {
  thread_cache* const cache = cache_of_thread(stream, device_);
  if (pool_block* const block = take_cached(cache, bytes)) {
    return hand_out(*block, bytes, cache->stream, true);
  }
  bool has_prior_work = false;
  stream_id const id = runtime::stream_id_of(stream, device_);
  pool_block* const block = take_uncached(block_request(bytes), id, has_prior_work);
  if (cache != nullptr && cache->try_enter()) {
    cache->count_allocated(block->bytes());
    cache->leave();
  }
  return hand_out(*block, bytes, id, has_prior_work);
}

pool_block* pool_state::take_uncached(block_request const& request, stream_id const& stream,
                                      bool& has_prior_work) {
  pool_lock lock(mutex_);
  if (!request.is_small) return_large_blocks_locked();
  pool_block* block = nullptr;
  has_prior_work = true;
  auto const try_take = [&] {
    if (block == nullptr) block = bins_.take(request, stream, has_prior_work);
    return block != nullptr;
  };
  if (!try_take()) block = steal_locked(request, stream);
  if (block == nullptr && request.is_small) {
    return_large_blocks_locked();
    try_take();
  }
  if (block == nullptr) {
    empty_caches_locked(true);
    if (bins_.poll()) try_take();
  }
  if (block == nullptr && bins_.reclaim_fitting(request, stream)) try_take();
  if (block == nullptr) {
    empty_caches_locked(false);
    bins_.reclaim_all();
    bins_.merge_free_spans(stream);
    if (!try_take()) block = bins_.grow_and_take(request, stream, has_prior_work);
  }
  if (block == nullptr) {
    // Memory is short: waits for all work that may use deallocated memory, and then tries to
    // exchange idle slabs for a larger one.
    empty_caches_locked(false);
    bins_.wait_for_all(lock);
    bins_.merge_free_spans(stream);
    if (!try_take()) {
      auto const removed = heap_.remove_idle_slabs();
      lock.unlock();
      heap_.return_to_upstream(removed);
      lock.lock();
      if (!try_take()) block = bins_.grow_and_take(request, stream, has_prior_work);
    }
  }
  if (block == nullptr) throw_out_of_memory_locked(request);
  ++allocations_;
  ++outstanding_blocks_;
  outstanding_bytes_ += block->bytes();
  peak_ = std::max(peak_, current_bytes_locked());
  return block;
}

pool_block* pool_state::checked_block(void* data, std::size_t bytes) noexcept {
  allocation_record* const record = find_record(data);
  pool_block* block = nullptr;
  if (record != nullptr && record->pool == this) {
    block = static_cast<pool_block*>(record);
  } else {
    // If another pool has this one as its upstream, the map contains the blocks of the other.
    pool_lock const lock(mutex_);
    block = heap_.find_block(data);
  }
  char const* problem = nullptr;
  if (block == nullptr || block->data != data) {
    problem = "is no block of this pool: deallocate memory with the resource that allocated it";
  } else if (!block->is_allocated.exchange(false, std::memory_order_relaxed)) {
    problem = "was deallocated before: deallocate memory only once";
  } else if (bytes > block->bytes()) {
    block->is_allocated.store(true, std::memory_order_relaxed);
    problem = "has a smaller block: deallocate memory with the bytes it was allocated with";
  }
  if (problem == nullptr) return block;
  log_refused(data, bytes, problem);
  return nullptr;
}

void pool_state::deallocate(detail::resource_block const& block, std::size_t bytes,
                            stream_ref stream) noexcept {
  auto* const recorded = static_cast<pool_block*>(block.record);
  if (recorded == nullptr || !recorded->is_allocated.load(std::memory_order_relaxed)) {
    return deallocate_unrecorded(block, bytes, stream);
  }
  recorded->is_allocated.store(false, std::memory_order_relaxed);
  end_watch(*recorded);
  if (block.has_prior_work) return put(*recorded, cache_of_thread(recorded->allocation_stream));
  count_deallocated(*recorded);
  put_idle(*recorded);
}

void pool_state::deallocate_unrecorded(detail::resource_block const& block, std::size_t bytes,
                                       stream_ref stream) noexcept {
  pool_block* const found = checked_block(block.data, bytes);
  if (found == nullptr) return;
  end_watch(*found);
  if (!block.has_prior_work) {
    count_deallocated(*found);
    return put_idle(*found);
  }
  thread_cache* cache = nullptr;
  try {
    cache = cache_of_thread(stream, device_);
    stream_id const& id = cache != nullptr ? cache->stream : runtime::stream_id_of(stream, device_);
    if (found->allocation_stream != id) {
      // `stream` may not wait for the prior work, of which the caller does not know.
      if (found->has_prior_work) found->finish_use(found->allocation_stream);
      found->allocation_stream = id;
    }
  } catch (std::exception const& failure) {
    base::log_error(failure.what());
    return wait_and_put(*found);
  }
  put(*found, cache);
}

void pool_state::count_deallocated(pool_block const& block) noexcept {
  thread_cache* const cache = cache_of_thread(block.allocation_stream);
  if (cache == nullptr || !cache->try_enter()) return;
  cache->allocated_bytes -= static_cast<std::ptrdiff_t>(block.bytes());
  cache->leave();
}

void pool_state::put(pool_block& block, thread_cache* cache) noexcept {
  std::size_t const bytes = block.bytes();
  if (cache == nullptr || !cache->try_enter()) return put_slow_path(block);
  cache->allocated_bytes -= static_cast<std::ptrdiff_t>(bytes);
  if (block.is_used_by_other_streams()) {
    cache->leave();
    return put_slow_path(block);
  }
  if (bytes > small_limit) return put_large(block, *cache);
  unsigned const size_class = size_class_of(bytes);
  cache->push(block, size_class);
  bool const is_full = cache->counts[size_class] > thread_cache::capacities[size_class];
  cache->leave();
  if (is_full) flush_half(*cache, size_class);
}

void pool_state::put_large(pool_block& block, thread_cache& entered) noexcept {
  pool_block* const removed = entered.push_large(block);
  entered.leave();
  if (removed != nullptr) put_slow_path(*removed);
}

void pool_state::put_slow_path(pool_block& block) noexcept {
  if (block.allocation_stream.is_foreign()) {
    // It was destroyed, and its work may be pending.
    if (block.allocation_stream.is_replaced()) return wait_and_put(block);
    // The stream may be destroyed without notice, so an event after its work replaces it.
    try {
      block.finish_use(block.allocation_stream);
      block.allocation_stream = {};
      block.has_prior_work = false;
    } catch (error const& failure) {
      if (!platform::is_runtime_shut_down(failure)) base::log_error(failure.what());
      return wait_and_put(block);
    } catch (std::exception const& failure) {
      base::log_error(failure.what());
      return wait_and_put(block);
    }
  }
  if (block.is_used_by_other_streams()) {
    // Events recorded now let the memory be reused earlier. If this fails, poll does it again.
    try {
      block.remove_finished_uses();
    } catch (std::exception const&) {
    }
  }
  pool_lock const lock(mutex_);
  count_returned_locked(block);
  bins_.put(block);
}

void pool_state::wait_and_put(pool_block& block) noexcept {
  if (!runtime::synchronize_all_devices_quietly()) {
    char text[200];
    std::snprintf(
        text, sizeof text,
        "memory of a pool at %p is never freed: the device does not respond, and work may "
        "still use it; see the error before",
        static_cast<void const*>(block.data));
    return base::log_error(text);
  }
  put_idle(block);
}

void pool_state::put_idle(pool_block& block) noexcept {
  block.forget_uses();
  block.allocation_stream = {};
  block.has_prior_work = false;
  pool_lock const lock(mutex_);
  count_returned_locked(block);
  bins_.put(block);
}

void pool_state::trim() {
  std::list<pool_slab> removed;
  {
    pool_lock lock(mutex_);
    empty_caches_locked(false);
    bins_.reclaim_finished(lock);
    removed = heap_.remove_idle_slabs();
  }
  heap_.return_to_upstream(removed);
}

void pool_state::close() noexcept {
  closed_ = true;
  char text[200];
  try {
    pool_lock lock(mutex_);
    empty_caches_locked(false);
    try {
      bins_.wait_for_all(lock);
    } catch (std::exception const&) {
      bins_.wait_for_all(lock);  // no transient failure leaks memory
    }
    auto const removed = heap_.remove_idle_slabs();
    std::size_t const blocks = outstanding_blocks_;
    std::size_t const bytes = outstanding_bytes_;
    lock.unlock();
    heap_.return_to_upstream(removed);
    if (blocks == 0) return;
    std::snprintf(text, sizeof text,
                  "pool_resource was destroyed while blocks are in use: %zu blocks with %s, which "
                  "are never freed; destroy the arrays first",
                  blocks, base::format_bytes(bytes).c_str());
  } catch (std::exception const& error) {
    std::snprintf(text, sizeof text,
                  "pool_resource was destroyed, but its memory is never freed: %s", error.what());
  }
  base::log_error(text);
  keep_alive_forever();
}

void pool_state::keep_alive_forever() noexcept {
  self_ = shared_from_this();
  next_kept_alive_ = kept_alive.load();
  while (!kept_alive.compare_exchange_weak(next_kept_alive_, this)) {
  }
}

std::size_t pool_state::limit() {
  pool_lock const lock(mutex_);
  return heap_.limit();
}

void pool_state::set_limit(std::size_t bytes) {
  bool is_exceeded = false;
  {
    pool_lock const lock(mutex_);
    heap_.set_limit(bytes);
    is_exceeded = heap_.reserved_bytes() > bytes;
  }
  if (is_exceeded) trim();
}

thread_cache& pool_state::acquire_cache(stream_id const& stream) {
  pool_lock const lock(mutex_);
  stream_bin& bin = bins_.bin_of(stream);
  thread_cache* found = nullptr;
  for (auto const& cache : caches_) {
    if (!cache->is_used) found = cache.get();
  }
  if (found == nullptr) {
    caches_.push_back(std::make_unique<thread_cache>());
    found = caches_.back().get();
  }
  found->stream = stream;
  found->bin = &bin;
  found->is_used = true;
  ++bin.caches;
  return *found;
}

void pool_state::release_cache(thread_cache& cache) noexcept {
  pool_lock const lock(mutex_);
  empty_locked(cache);
  --cache.bin->caches;
  cache.bin = nullptr;
  cache.is_used = false;
}

void pool_state::flush_half(thread_cache& cache, unsigned size_class) noexcept {
  pool_lock const lock(mutex_);
  cache.enter();
  for (std::uint32_t i = cache.counts[size_class] / 2; i != 0; --i) {
    move_to_bin_locked(cache, *cache.pop(size_class));
  }
  cache.leave();
}

void pool_state::empty_locked(thread_cache& cache) noexcept {
  cache.enter();
  for (unsigned i = 0; i < size_class_count; ++i) {
    while (pool_block* const block = cache.pop(i)) move_to_bin_locked(cache, *block);
  }
  return_large_blocks_of_entered_locked(cache);
  cache.leave();
}

void pool_state::return_large_blocks_of_entered_locked(thread_cache& entered) noexcept {
  while (pool_block* const block = entered.pop_large()) move_to_bin_locked(entered, *block);
}

void pool_state::return_large_blocks_locked() noexcept {
  for (auto const& cache : caches_) {
    if (cache->large_blocks.load(std::memory_order_relaxed) == 0) continue;
    cache->enter();
    return_large_blocks_of_entered_locked(*cache);
    cache->leave();
  }
}

void pool_state::move_to_bin_locked(thread_cache const& cache, pool_block& block) noexcept {
  count_returned_locked(block);
  cache.bin->unfenced.put(block);
}

void pool_state::empty_caches_locked(bool only_destroyed_streams) noexcept {
  for (auto const& cache : caches_) {
    if (cache->is_used && (!only_destroyed_streams || !cache->stream.is_live())) {
      empty_locked(*cache);
    }
  }
}

pool_block* pool_state::steal_locked(block_request const& request,
                                     stream_id const& stream) noexcept {
  if (!request.is_small) return nullptr;
  for (auto const& cache : caches_) {
    if (!cache->is_used || cache->stream != stream) continue;
    cache->enter();
    pool_block* const block = cache->pop(request.size_class);
    cache->leave();
    if (block == nullptr) continue;
    count_returned_locked(*block);
    return block;
  }
  return nullptr;
}

void pool_state::count_returned_locked(pool_block const& block) noexcept {
  outstanding_bytes_ -= block.bytes();
  --outstanding_blocks_;
}

std::size_t pool_state::current_bytes_locked() {
  std::size_t cached = 0;
  for (auto const& cache : caches_) {
    if (cache->is_used) cached += cache->bytes.load(std::memory_order_relaxed);
  }
  // A block that moves from one cache to another meanwhile may be counted twice.
  return outstanding_bytes_ - std::min(cached, outstanding_bytes_);
}

void pool_state::update_peak() {
  pool_lock const lock(mutex_);
  peak_ = std::max(peak_, current_bytes_locked());
}

memory_statistics pool_state::statistics() {
  pool_lock const lock(mutex_);
  return_large_blocks_locked();  // so that largest_free_bytes and pending_bytes count them
  return statistics_locked();
}

memory_statistics pool_state::statistics_locked() {
  memory_statistics result;
  std::size_t cached_blocks = 0;
  result.allocations = allocations_;
  for (auto const& cache : caches_) {
    cache->enter();
    for (std::uint32_t const count : cache->counts) cached_blocks += count;
    cached_blocks += cache->large_blocks;
    result.allocations += cache->allocations;
    cache->leave();
  }
  result.current_bytes = current_bytes_locked();
  peak_ = std::max(peak_, result.current_bytes);
  result.peak_bytes = peak_;
  result.current_blocks = outstanding_blocks_ - std::min(cached_blocks, outstanding_blocks_);
  result.reserved_bytes = heap_.reserved_bytes();
  result.free_bytes = result.reserved_bytes - result.current_bytes;
  result.pending_bytes = bins_.pending_bytes();
  result.largest_free_bytes =
      std::max(heap_.idle().largest_span_bytes(), bins_.largest_span_bytes());
  return result;
}

void pool_state::throw_out_of_memory_locked(block_request const& request) {
  memory_statistics const now = statistics_locked();
  auto const text = [](std::size_t bytes) { return base::format_bytes(bytes); };
  pool_heap::growth_failure const& failure = heap_.last_failure();
  throw out_of_memory(failure.code,
                      "the pool of device " + std::to_string(device_) + " cannot allocate " +
                          text(request.bytes) + " (in use " + text(now.current_bytes) + " in " +
                          std::to_string(now.current_blocks) + " blocks, free " +
                          text(now.free_bytes) + ", largest free " + text(now.largest_free_bytes) +
                          ", waiting for work " + text(now.pending_bytes) + ", reserved " +
                          text(now.reserved_bytes) + ", peak " + text(now.peak_bytes) + "; " +
                          failure.message + ")" + platform::out_of_memory_advice,
                      failure.call);
}

}  // namespace roc::memory

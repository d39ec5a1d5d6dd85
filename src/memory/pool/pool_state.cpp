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
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"

namespace roc::memory {
namespace {

// Never destroys `pool`, whose blocks are still in use: their owners may still look up its records.
void keep_alive_forever(std::shared_ptr<thread_cache_owner> pool) {
  static auto* const pools = new std::vector<std::shared_ptr<thread_cache_owner>>;
  static std::mutex mutex;
  std::lock_guard const lock(mutex);
  pools->push_back(std::move(pool));
}

// Throws roc::error if the upstream does not name its device.
int device_of(memory_resource const& upstream) {
  if (upstream.device_ordinal() >= 0) return upstream.device_ordinal();
  throw error(std::make_error_code(std::errc::invalid_argument),
              "the upstream of a pool does not name its device: override do_device_ordinal");
}

}  // namespace

pool_state::pool_state(memory_resource& upstream, pool_options const& options)
    : device_(device_of(upstream)), heap_(*this, upstream, options), bins_(heap_, device_) {}

pool_state::~pool_state() = default;

void* pool_state::allocate(std::size_t bytes, stream_ref stream) {
  bool const is_small = bytes <= small_limit;
  thread_cache* const cache = is_small ? cache_of_thread(stream, device_) : nullptr;
  if (cache != nullptr && cache->try_enter()) {
    unsigned const size_class = size_class_of(bytes);
    pool_block* const block = cache->pop(size_class);
    bool is_maximum = false;
    if (block != nullptr) {
      ++cache->allocations;
      is_maximum = cache->count_allocated(size_class_bytes(size_class));
    }
    stream_id const id = cache->stream;
    cache->leave();
    if (is_maximum) update_peak();
    if (block != nullptr) return hand_out(*block, bytes, id, true);
  }
  bool has_prior_work = false;
  stream_id const id = runtime::stream_id_of(stream, device_);
  pool_block* const block = allocate_slow_path(block_request(bytes), id, has_prior_work);
  if (cache != nullptr && cache->try_enter()) {
    cache->count_allocated(block->bytes());
    cache->leave();
  }
  return hand_out(*block, bytes, id, has_prior_work);
}

void* pool_state::hand_out(pool_block& block, std::size_t bytes, stream_id stream,
                           bool has_prior_work) noexcept {
  if (block.used_by_other_streams.load(std::memory_order_relaxed)) block.forget_uses();
  block.allocation_stream = stream;
  block.has_prior_work = has_prior_work;
  block.is_allocated.store(true, std::memory_order_relaxed);
  unpoison_device_memory(block.data, block.bytes());
  // Prior work may still access the rest of the block.
  if (!has_prior_work) poison_device_memory(block.data + bytes, block.bytes() - bytes);
  return block.data;
}

pool_block* pool_state::allocate_slow_path(block_request const& request, stream_id stream,
                                           bool& has_prior_work) {
  pool_lock lock(mutex_);
  pool_block* block = nullptr;
  has_prior_work = true;
  auto const try_take = [&] {
    if (block == nullptr) block = bins_.take(request, stream, has_prior_work);
    return block != nullptr;
  };
  if (!try_take()) block = steal_locked(request, stream);
  if (block == nullptr) {
    empty_caches_locked(true);
    if (bins_.poll()) try_take();
  }
  if (block == nullptr && bins_.reclaim_fitting(request, stream)) try_take();
  if (block == nullptr) {
    empty_caches_locked(false);
    bins_.reclaim_all();
    heap_.merge_free_spans();
    if (!try_take()) block = bins_.grow_and_take(request, stream, has_prior_work);
  }
  if (block == nullptr) {
    // Memory is short: waits for all work that may use deallocated memory, and then tries to
    // exchange idle slabs for a larger one.
    empty_caches_locked(false);
    bins_.wait_for_all(lock);
    heap_.merge_free_spans();
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
    problem = "was given back before: deallocate memory only once";
  } else if (bytes > block->bytes()) {
    block->is_allocated.store(true, std::memory_order_relaxed);
    problem = "has a smaller block: deallocate memory with the bytes it was allocated with";
  }
  if (problem == nullptr) return block;
  char text[200];
  std::snprintf(text, sizeof text, "pool_resource::deallocate(%p, %zu bytes): the address %s", data,
                bytes, problem);
  base::log(text);
  return nullptr;
}

void pool_state::deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept {
  pool_block* const block = checked_block(data, bytes);
  if (block == nullptr) return;
  try {
    bool const has_one_stream = !block->used_by_other_streams.load(std::memory_order_acquire);
    thread_cache* const cache =
        block->bytes() <= small_limit ? cache_of_thread(stream, device_) : nullptr;
    if (cache != nullptr && cache->try_enter()) {
      unsigned const size_class = size_class_of(block->bytes());
      cache->allocated_bytes -= static_cast<std::ptrdiff_t>(block->bytes());
      if (has_one_stream) cache->push(*block, size_class);
      bool const is_full = cache->counts[size_class] > thread_cache::capacity(size_class);
      cache->leave();
      if (is_full) flush_half(*cache, size_class);
      if (has_one_stream) return;
    }
    deallocate_slow_path(*block, runtime::stream_id_of(stream, device_));
  } catch (error const& failure) {
    if (platform::is_runtime_shut_down(failure)) return;
    base::log(failure.what());
    if (platform::log_if_throws(runtime::synchronize_all_devices)) return put_idle(*block);
    base::log(
        "a block of a pool is lost, because the device does not respond and work may still use it");
  } catch (std::exception const& failure) {
    base::log(std::string("a block of a pool is lost: ") + failure.what());
  }
}

void pool_state::deallocate_slow_path(pool_block& block, stream_id stream) {
  std::vector<runtime::shared_event> events = block.events_of_uses(stream);
  if (stream.is_foreign()) {
    // The stream may be destroyed without notice, so an event after its work replaces it.
    if (runtime::shared_event done = runtime::record(stream); done != nullptr && !done->query()) {
      events.push_back(std::move(done));
    }
  }
  if (block.used_by_other_streams.load(std::memory_order_relaxed)) block.forget_uses();
  pool_lock const lock(mutex_);
  count_returned_locked(block);
  if (stream.is_foreign()) stream = {};
  if (events.empty()) return bins_.put(block, stream);
  bins_.put_pending(block, stream, std::move(events));
}

void pool_state::put_idle(pool_block& block) noexcept {
  platform::log_if_throws([&] {
    block.forget_uses();
    pool_lock const lock(mutex_);
    count_returned_locked(block);
    bins_.put(block, {});
  });
}

void pool_state::trim() {
  std::vector<pool_heap::upstream_block> removed;
  {
    pool_lock const lock(mutex_);
    empty_caches_locked(false);
    bins_.poll();
    bins_.fence_all();
    bins_.poll();
    removed = heap_.remove_idle_slabs();
  }
  heap_.return_to_upstream(removed);
}

void pool_state::close() noexcept {
  try {
    pool_lock lock(mutex_);
    closed_ = true;
    empty_caches_locked(false);
    bins_.wait_for_all(lock);
    auto const removed = heap_.remove_idle_slabs();
    std::size_t const blocks = outstanding_blocks_;
    std::size_t const bytes = outstanding_bytes_;
    lock.unlock();
    heap_.return_to_upstream(removed);
    if (blocks == 0) return;
    base::log("pool_resource was destroyed while blocks are in use: " + std::to_string(blocks) +
              " blocks with " + base::format_bytes(bytes) +
              ", which are never freed; destroy the arrays first");
    keep_alive_forever(shared_from_this());
  } catch (std::exception const& error) {
    base::log(error.what());
    keep_alive_forever(shared_from_this());
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

bool pool_state::is_closed() {
  pool_lock const lock(mutex_);
  return closed_;
}

thread_cache& pool_state::acquire_cache(stream_id stream) {
  pool_lock const lock(mutex_);
  thread_cache* found = nullptr;
  for (auto const& cache : caches_) {
    if (!cache->is_used) found = cache.get();
  }
  if (found == nullptr) {
    caches_.push_back(std::make_unique<thread_cache>());
    found = caches_.back().get();
  }
  found->stream = stream;
  found->is_used = true;
  return *found;
}

void pool_state::release_cache(thread_cache& cache) noexcept {
  try {
    pool_lock const lock(mutex_);
    empty_locked(cache);
    cache.is_used = false;
  } catch (std::exception const& error) {
    base::log(error.what());
  }
}

void pool_state::flush_half(thread_cache& cache, unsigned size_class) {
  pool_lock const lock(mutex_);
  free_list& list = bins_.list_of(cache.stream);
  cache.enter();
  for (std::uint32_t i = cache.counts[size_class] / 2; i != 0; --i) {
    pool_block* const block = cache.pop(size_class);
    count_returned_locked(*block);
    list.push(*block);
  }
  cache.leave();
}

void pool_state::empty_locked(thread_cache& cache) {
  free_list& list = bins_.list_of(cache.stream);
  cache.enter();
  for (unsigned i = 0; i < size_class_count; ++i) {
    while (pool_block* const block = cache.pop(i)) {
      count_returned_locked(*block);
      list.push(*block);
    }
  }
  cache.leave();
}

void pool_state::empty_caches_locked(bool only_destroyed_streams) {
  for (auto const& cache : caches_) {
    if (cache->is_used && (!only_destroyed_streams || !cache->stream.is_live())) {
      empty_locked(*cache);
    }
  }
}

pool_block* pool_state::steal_locked(block_request const& request, stream_id stream) {
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
    if (!cache->is_used) continue;
    cache->enter();
    cached += cache->bytes;
    cache->leave();
  }
  return outstanding_bytes_ - cached;
}

void pool_state::update_peak() {
  pool_lock const lock(mutex_);
  peak_ = std::max(peak_, current_bytes_locked());
}

memory_statistics pool_state::statistics() {
  pool_lock const lock(mutex_);
  return statistics_locked();
}

memory_statistics pool_state::statistics_locked() {
  memory_statistics result;
  std::size_t cached_blocks = 0;
  result.allocations = allocations_;
  for (auto const& cache : caches_) {
    cache->enter();
    for (std::uint32_t const count : cache->counts) cached_blocks += count;
    result.allocations += cache->allocations;
    cache->leave();
  }
  result.current_bytes = current_bytes_locked();
  peak_ = std::max(peak_, result.current_bytes);
  result.peak_bytes = peak_;
  result.current_blocks = outstanding_blocks_ - cached_blocks;
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

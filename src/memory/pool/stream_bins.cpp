// SPDX-License-Identifier: MIT
#include "memory/pool/stream_bins.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "base/spin_backoff.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_uses.hpp"

namespace roc::memory {
namespace {

// Releases a lock for a scope.
class unlock_guard {
 public:
  explicit unlock_guard(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
  ~unlock_guard() { lock_.lock(); }
  unlock_guard(unlock_guard const&) = delete;
  unlock_guard& operator=(unlock_guard const&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
};

// Returns true if `stream` may take memory of the bin. Work of a blocking stream is ordered after
// that of its device's default stream by HIP.
bool may_take(stream_bin const& bin, runtime::stream_id const& stream) noexcept {
  return bin.stream == stream || (bin.stream.is_default() && stream.is_blocking() &&
                                  bin.stream.device() == stream.device());
}

}  // namespace

stream_bin& stream_bins::bin_of(stream_id const& stream) {
  for (stream_bin& bin : bins_) {
    if (bin.stream == stream) return bin;
  }
  stream_bin& added = bins_.emplace_back();
  added.stream = stream;
  return added;
}

pool_block* stream_bins::take(block_request const& request, stream_id const& stream,
                              bool& has_prior_work) {
  has_prior_work = true;
  // Before memory is taken, because it may throw. The deallocation will need the bin too.
  stream_bin* const own_bin = stream.is_foreign() ? nullptr : &bin_of(stream);
  for (bool const close_fit : {true, false}) {
    for (stream_bin& bin : bins_) {
      if (!may_take(bin, stream)) continue;
      for (free_list* const list : {&bin.unfenced, &bin.fenced}) {
        pool_block* const block = list->take(request, close_fit);
        if (block == nullptr) continue;
        if (own_bin != nullptr && own_bin != &bin) own_bin->has_default_stream_memory = true;
        return block;
      }
    }
    // Idle memory is preferred to dividing a much larger span of the stream.
    if (pool_block* const block = heap_.idle().take(request, false)) {
      has_prior_work = false;
      return block;
    }
  }
  return nullptr;
}

pool_block* stream_bins::grow_and_take(block_request const& request, stream_id const& stream,
                                       bool& has_prior_work) {
  stream_id const default_stream = runtime::stream_id_of({}, device_);
  free_list& pending = bin_of(default_stream).unfenced;
  if (!heap_.grow(request, pending)) return nullptr;
  if (pool_block* const block = take(request, stream, has_prior_work)) return block;
  // The slab is in the bin of the default stream, for which `stream` does not wait.
  runtime::order_after(stream, default_stream);
  return pending.take(request, false);
}

void stream_bins::merge_free_spans(stream_id const& stream) noexcept {
  heap_.merge_free_spans(heap_.idle());
  for (stream_bin& bin : bins_) {
    if (!may_take(bin, stream)) continue;
    heap_.merge_free_spans(bin.unfenced);
    heap_.merge_free_spans(bin.fenced);
  }
}

void stream_bins::put(pool_block& block) noexcept {
  if (!block.is_used_by_other_streams()) {
    if (block.allocation_stream.is_empty()) return heap_.put_idle(block);
    for (stream_bin& bin : bins_) {
      if (bin.stream == block.allocation_stream) return bin.unfenced.put(block);
    }
  }
  // poll creates the bin, if it is missing: here an exception would lose the block.
  block.next = pending_;
  pending_ = &block;
  pending_block_bytes_ += block.bytes();
}

bool stream_bins::fence(stream_bin& bin) {
  if (bin.fence != nullptr || bin.bytes() == 0) return false;
  bin.fence = runtime::record(bin.stream);
  bin.fenced.take_all(bin.unfenced);
  if (bin.fence != nullptr) return false;
  heap_.move_to_idle(bin.fenced);
  return true;
}

bool stream_bins::fence_all_memory(stream_bin& bin) {
  // An older event does not cover memory that was deallocated later.
  if (bin.unfenced.bytes != 0) bin.fence = nullptr;
  return fence(bin);
}

bool stream_bins::collect(stream_bin& bin) {
  if (bin.fence == nullptr || !bin.fence->query()) return false;
  bin.fence = nullptr;
  bool const had_memory = bin.fenced.bytes != 0;
  heap_.move_to_idle(bin.fenced);
  return had_memory;
}

bool stream_bins::depends_on_default_stream(stream_bin const& bin) noexcept {
  // A blocking stream without work of its own does not wait for the default stream; of one that has
  // ended it is not known whether it took memory from there.
  return bin.stream.is_default() || bin.has_default_stream_memory ||
         (bin.stream.is_blocking() && !bin.stream.is_live());
}

bool stream_bins::is_known_idle(stream_bin const& bin, bool is_default_stream_idle) {
  if (bin.stream.is_replaced()) return true;
  if (depends_on_default_stream(bin) && !is_default_stream_idle) return false;
  if (bin.stream.is_default()) return true;
  hipStream_t const native = bin.stream.native();
  return ROCARRAY_HIP_READY(hipStreamQuery, native);
}

bool stream_bins::query_default_stream() const {
  bool const is_needed = std::any_of(bins_.begin(), bins_.end(), [](stream_bin const& bin) {
    return bin.bytes() != 0 && depends_on_default_stream(bin);
  });
  if (!is_needed) return false;
  runtime::on_device const guard(device_);
  return !runtime::may_be_captured_by_hip({}) && ROCARRAY_HIP_READY(hipStreamQuery, nullptr);
}

bool stream_bins::reclaim(stream_bin& bin, bool may_fence, bool is_default_stream_idle) {
  // No event can be recorded on a stream while it is captured.
  if (bin.bytes() == 0 || runtime::may_be_captured(bin.stream.stream())) return false;
  bool const has_collected = collect(bin);
  if (bin.bytes() == 0) return has_collected;
  // The query of an idle stream tells at once what an event tells later.
  if (is_known_idle(bin, is_default_stream_idle)) {
    bin.fence = nullptr;
    heap_.move_to_idle(bin.unfenced);
    heap_.move_to_idle(bin.fenced);
    return true;
  }
  bool const has_fenced_idle = may_fence && fence(bin);
  return collect(bin) || has_fenced_idle || has_collected;
}

bool stream_bins::reclaim_all() {
  bool changed = false;
  for (stream_bin& bin : bins_) changed = reclaim(bin, !bin.stream.is_default(), false) || changed;
  return changed;
}

bool stream_bins::reclaim_fitting(block_request const& request, stream_id const& stream) {
  bool changed = false;
  for (stream_bin& bin : bins_) {
    if (may_take(bin, stream)) continue;
    if (!bin.unfenced.can_serve(request) && !bin.fenced.can_serve(request)) continue;
    changed = reclaim(bin, true, false) || changed;
  }
  return changed;
}

bool stream_bins::poll_pending() {
  bool changed = false;
  for (pool_block** link = &pending_; *link != nullptr;) {
    pool_block& block = **link;
    if (!block.remove_finished_uses()) {
      link = &block.next;
      continue;
    }
    if (!block.allocation_stream.is_empty()) bin_of(block.allocation_stream);
    *link = block.next;
    pending_block_bytes_ -= block.bytes();
    put(block);
    changed = true;
  }
  return changed;
}

bool stream_bins::poll() {
  bool changed = poll_pending();
  for (auto bin = bins_.begin(); bin != bins_.end();) {
    bool const is_live = bin->stream.is_live();
    if (!is_live) changed = fence(*bin) || changed;
    changed = collect(*bin) || changed;
    bool const is_obsolete =
        !is_live && bin->fence == nullptr && bin->bytes() == 0 && bin->caches == 0;
    bin = is_obsolete ? bins_.erase(bin) : std::next(bin);
  }
  return changed;
}

bool stream_bins::has_unreached_events() const noexcept {
  return pending_ != nullptr || std::any_of(bins_.begin(), bins_.end(), [](stream_bin const& bin) {
           return bin.fence != nullptr;
         });
}

void stream_bins::reclaim_finished(std::unique_lock<std::mutex>& lock) {
  using clock = std::chrono::steady_clock;
  auto const end = clock::now() + std::chrono::milliseconds(10);
  // First all queries: an event that was just recorded makes an idle stream look busy.
  poll_pending();
  bool const is_default_stream_idle = query_default_stream();
  for (stream_bin& bin : bins_) reclaim(bin, false, is_default_stream_idle);
  for (stream_bin& bin : bins_) fence_all_memory(bin);
  base::spin_backoff backoff;
  while (true) {
    // Pending blocks move to the bins of their streams, which are then checked again. Not with the
    // query from above: other threads may have enqueued work on the default stream since.
    if (poll()) {
      for (stream_bin& bin : bins_) {
        reclaim(bin, false, false);
        fence_all_memory(bin);
      }
    }
    if (!has_unreached_events() || clock::now() >= end) return;
    unlock_guard const unlocked(lock);
    backoff.pause();
  }
}

void stream_bins::wait_for_all(std::unique_lock<std::mutex>& lock) {
  poll();
  // First the pending blocks: they move to the bins of their streams and are awaited there again.
  runtime::stream_uses uses;
  for (pool_block* block = pending_; block != nullptr; block = block->next) {
    uses.add_all(block->uses());
  }
  {
    unlock_guard const unlocked(lock);
    uses.wait();
  }
  poll();
  std::vector<runtime::shared_event> fences;
  for (stream_bin& bin : bins_) {
    fence_all_memory(bin);
    if (bin.fence != nullptr) fences.push_back(bin.fence);
  }
  {
    unlock_guard const unlocked(lock);
    for (runtime::shared_event const& fence : fences) fence->synchronize();
  }
  poll();
}

std::size_t stream_bins::pending_bytes() const noexcept {
  std::size_t bytes = pending_block_bytes_;
  for (stream_bin const& bin : bins_) bytes += bin.bytes();
  return bytes;
}

std::size_t stream_bins::largest_span_bytes() const noexcept {
  std::size_t largest = 0;
  for (stream_bin const& bin : bins_) {
    largest =
        std::max({largest, bin.unfenced.largest_span_bytes(), bin.fenced.largest_span_bytes()});
  }
  return largest;
}

}  // namespace roc::memory

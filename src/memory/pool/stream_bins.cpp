// SPDX-License-Identifier: MIT
#include "memory/pool/stream_bins.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::memory {

pool_block* stream_bins::take(block_request const& request, stream_id stream,
                              bool& has_prior_work) {
  has_prior_work = true;
  for (bool const close_fit : {true, false}) {
    for (bin& b : bins_) {
      // Work of a blocking stream is ordered after that of the default stream by HIP.
      bool const is_same_stream = b.stream == stream;
      bool const is_ordered = b.stream.is_default() && stream.is_blocking() && b.stream.is_live();
      if (!is_same_stream && !is_ordered) continue;
      for (free_list* const list : {&b.unfenced, &b.fenced}) {
        pool_block* const block = list->take(request, close_fit);
        if (block == nullptr) continue;
        if (!is_same_stream && !stream.is_foreign()) {
          bin_of(stream).has_default_stream_memory = true;
        }
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

pool_block* stream_bins::grow_and_take(block_request const& request, stream_id stream,
                                       bool& has_prior_work) {
  pool_span* const span = heap_.grow(request);
  if (span == nullptr) return nullptr;
  if (heap_.grows_idle()) {
    heap_.idle().insert(*span);
    return take(request, stream, has_prior_work);
  }
  stream_id const default_stream = runtime::stream_id_of({}, device_);
  bin_of(default_stream).unfenced.insert(*span);
  if (stream.is_blocking()) return take(request, stream, has_prior_work);
  runtime::order_after(stream, default_stream);
  has_prior_work = true;
  return bin_of(default_stream).unfenced.take(request, false);
}

void stream_bins::put(pool_block& block, stream_id stream) {
  if (stream.is_empty()) {
    heap_.put_idle(block);
  } else {
    bin_of(stream).unfenced.put(block);
  }
}

void stream_bins::put_pending(pool_block& block, stream_id stream,
                              std::vector<runtime::shared_event> events) {
  pending_.push_back({&block, stream, std::move(events)});
  pending_block_bytes_ += block.bytes();
}

stream_bins::bin& stream_bins::bin_of(stream_id stream) {
  for (bin& b : bins_) {
    if (b.stream == stream) return b;
  }
  bins_.emplace_back().stream = stream;
  return bins_.back();
}

void stream_bins::fence(bin& b) {
  if (b.fence != nullptr) return;
  if (b.unfenced.bytes == 0 && b.fenced.bytes == 0) return;
  b.fence = runtime::record(b.stream);
  b.fenced.take_all(b.unfenced);
  if (b.fence == nullptr) heap_.move_to_idle(b.fenced);  // the stream and its work have ended
}

bool stream_bins::collect(bin& b) {
  if (b.fence == nullptr || !b.fence->query()) return false;
  b.fence = nullptr;
  bool const had_memory = b.fenced.bytes != 0;
  heap_.move_to_idle(b.fenced);
  return had_memory;
}

bool stream_bins::reclaim(bin& b, bool may_fence) {
  runtime::stream_keepalive keepalive(b.stream);  // another thread may destroy the stream
  if (keepalive && b.unfenced.bytes + b.fenced.bytes != 0) {
    runtime::on_device const guard(b.stream.device());
    hipStream_t const stream = runtime::handle(b.stream.stream());
    // A blocking stream that has no work of its own does not wait for the default stream.
    bool const is_idle =
        ROCARRAY_HIP_READY(hipStreamQuery, stream) &&
        (!b.has_default_stream_memory || ROCARRAY_HIP_READY(hipStreamQuery, nullptr));
    if (is_idle) {
      b.has_default_stream_memory = false;
      b.fence = nullptr;
      heap_.move_to_idle(b.unfenced);
      heap_.move_to_idle(b.fenced);
      return true;
    }
  }
  keepalive.end();
  if (may_fence) fence(b);
  return collect(b);
}

bool stream_bins::reclaim_all() {
  bool changed = false;
  // An event on the default stream would make each stream wait for all others.
  for (bin& b : bins_) changed = reclaim(b, !b.stream.is_default()) || changed;
  return changed;
}

bool stream_bins::reclaim_fitting(block_request const& request, stream_id stream) {
  bool changed = false;
  for (bin& b : bins_) {
    if (b.stream == stream) continue;
    // An event on the default stream would make each stream wait for all others.
    if (b.stream.is_default() && stream.is_blocking()) continue;
    if (!b.unfenced.can_serve(request) && !b.fenced.can_serve(request)) continue;
    changed = reclaim(b, true) || changed;
  }
  return changed;
}

void stream_bins::fence_all() {
  for (bin& b : bins_) fence(b);
}

bool stream_bins::poll() {
  bool changed = false;
  for (auto i = pending_.begin(); i != pending_.end();) {
    bool const is_done = std::all_of(i->events.begin(), i->events.end(),
                                     [](auto const& event) { return event->query(); });
    if (!is_done) {
      ++i;
      continue;
    }
    pending_block const ready = std::move(*i);
    i = pending_.erase(i);
    pending_block_bytes_ -= ready.block->bytes();
    put(*ready.block, ready.stream);
    changed = true;
  }
  for (auto i = bins_.begin(); i != bins_.end();) {
    if (!i->stream.is_live()) fence(*i);
    changed = collect(*i) || changed;
    bool const is_obsolete = !i->stream.is_live() && i->fence == nullptr &&
                             i->unfenced.bytes == 0 && i->fenced.bytes == 0;
    i = is_obsolete ? bins_.erase(i) : std::next(i);
  }
  return changed;
}

void stream_bins::wait_for_all(std::unique_lock<std::mutex>& lock) {
  std::vector<runtime::shared_event> awaited;
  auto const wait = [&] {
    auto const events = std::exchange(awaited, {});
    lock.unlock();
    try {
      for (auto const& event : events) event->synchronize();
    } catch (...) {
      lock.lock();
      throw;
    }
    lock.lock();
    poll();
  };
  // First the pending blocks: they move to the bins of their streams and are awaited there again.
  for (pending_block const& pending : pending_) {
    awaited.insert(awaited.end(), pending.events.begin(), pending.events.end());
  }
  wait();
  for (bin& b : bins_) {
    // An older event does not cover memory that was deallocated later.
    if (b.unfenced.bytes != 0) b.fence = nullptr;
    fence(b);
    if (b.fence != nullptr) awaited.push_back(b.fence);
  }
  wait();
}

std::size_t stream_bins::pending_bytes() const noexcept {
  std::size_t bytes = pending_block_bytes_;
  for (bin const& b : bins_) bytes += b.unfenced.bytes + b.fenced.bytes;
  return bytes;
}

std::size_t stream_bins::largest_span_bytes() const noexcept {
  std::size_t largest = 0;
  for (bin const& b : bins_) {
    largest = std::max({largest, b.unfenced.largest_span_bytes(), b.fenced.largest_span_bytes()});
  }
  return largest;
}

}  // namespace roc::memory

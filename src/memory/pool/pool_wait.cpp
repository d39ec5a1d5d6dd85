// SPDX-License-Identifier: MIT
// A pool's free memory that work enqueued before its free may still use. Events are recorded only
// when another stream wants it.
#include <algorithm>
#include <utility>

#include "memory/pool/pool_state.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"

namespace roc::memory {

// Holding the lock.
pool_state::bin& pool_state::bin_of(stream_id stream) {
  for (bin& each : bins_) {
    if (each.stream == stream) return each;
  }
  bins_.emplace_back().stream = stream;
  return bins_.back();
}

// Holding the lock. Makes an event behind all that was given back so far.
void pool_state::mark(bin& of) {
  if (of.checkpoint != nullptr) return;
  if (of.fresh.bytes == 0 && of.marked.bytes == 0) return;
  of.checkpoint = runtime::record(of.stream);
  of.marked.take_all(of.fresh);
  if (of.checkpoint == nullptr) settle_into_clean(of.marked);  // the stream ended long ago
}

// Holding the lock. Whether memory became free for all.
bool pool_state::settle(bin& of) {
  if (of.checkpoint == nullptr || !of.checkpoint->query()) return false;
  of.checkpoint = nullptr;
  bool const any = of.marked.bytes != 0;
  settle_into_clean(of.marked);
  return any;
}

// Holding the lock. Whether memory became free for all. A stream that is idle needs no event.
bool pool_state::retire(bin& of, bool by_event) {
  runtime::stream_use use(of.stream);  // another thread may destroy it
  if (use && of.fresh.bytes + of.marked.bytes != 0) {
    runtime::on_device const guard(of.stream.device());
    hipStream_t const stream = runtime::handle(of.stream.stream());
    // A blocking stream waits for the default one only when it has work to do.
    bool const ready = ROCARRAY_HIP_READY(hipStreamQuery, stream) &&
                       (!of.behind_default || ROCARRAY_HIP_READY(hipStreamQuery, nullptr));
    if (ready) {
      of.behind_default = false;
      of.checkpoint = nullptr;
      settle_into_clean(of.fresh);
      settle_into_clean(of.marked);
      return true;
    }
  }
  use.end();
  if (by_event) mark(of);
  return settle(of);
}

// Holding the lock. Asks all streams, before the upstream is asked for more.
bool pool_state::retire_others() {
  bool changed = false;
  // An event on the default stream would make every stream wait for every other.
  for (bin& each : bins_) changed = retire(each, !each.stream.is_default()) || changed;
  return changed;
}

// Holding the lock. Whether memory became free, for all or on some stream.
bool pool_state::poll() {
  bool changed = false;
  for (auto place = pending_.begin(); place != pending_.end();) {
    bool const done = std::all_of(place->events.begin(), place->events.end(),
                                  [](auto const& event) { return event->query(); });
    if (!done) {
      ++place;
      continue;
    }
    pending_block const ready = std::move(*place);
    place = pending_.erase(place);
    pending_bytes_ -= ready.block->bytes();
    put(*ready.block, ready.stream);
    changed = true;
  }
  for (auto place = bins_.begin(); place != bins_.end();) {
    if (!place->stream.is_live()) mark(*place);
    changed = settle(*place) || changed;
    bool const gone = !place->stream.is_live() && place->checkpoint == nullptr &&
                      place->fresh.bytes == 0 && place->marked.bytes == 0;
    place = gone ? bins_.erase(place) : std::next(place);
  }
  return changed;
}

// Holding the lock. Asks whether the work on other streams that keeps fitting memory is done.
bool pool_state::mark_others(demand const& wanted, stream_id stream) {
  bool changed = false;
  for (bin& each : bins_) {
    if (each.stream == stream) continue;
    // An event on the default stream would make every stream wait for every other.
    if (each.stream.is_default() && stream.is_blocking()) continue;
    auto const fits = [&](free_list const& store) {
      return (wanted.small && store.small[wanted.which] != nullptr) ||
             store.best_fit(wanted.pages) != nullptr;
    };
    if (!fits(each.fresh) && !fits(each.marked)) continue;
    changed = retire(each, true) || changed;
  }
  return changed;
}

// Waits, without the lock, until all that was given back so far may be used on any stream.
void pool_state::wait_for_pending(lock& held) {
  std::vector<runtime::shared_event> awaited;
  auto const wait = [&] {
    auto const events = std::exchange(awaited, {});
    held.unlock();
    try {
      for (auto const& event : events) event->synchronize();
    } catch (...) {
      held.lock();
      throw;
    }
    held.lock();
    poll();
  };
  // What was pending goes back to the stream that it was freed on, and waits there again.
  for (pending_block const& each : pending_) {
    awaited.insert(awaited.end(), each.events.begin(), each.events.end());
  }
  wait();
  for (bin& each : bins_) {
    // What is behind an older checkpoint needs one of its own.
    if (each.fresh.bytes != 0) each.checkpoint = nullptr;
    mark(each);
    if (each.checkpoint != nullptr) awaited.push_back(each.checkpoint);
  }
  wait();
}

}  // namespace roc::memory

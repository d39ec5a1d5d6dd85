// SPDX-License-Identifier: MIT
#include "memory/pool/pool_state.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <typeinfo>
#include <utility>

#include <roc/memory/hip_resources.hpp>

#include "memory/device/behind_adaptors.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/debug/sanitizer.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "base/error.hpp"

namespace roc::memory {
namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> number = 0;
  return ++number;
}

// What a pool that has gone left in use: its owners may still ask where it belongs.
void keep_for_good(std::shared_ptr<pool_state> state) {
  static auto* const kept = new std::vector<std::shared_ptr<pool_state>>;
  static std::mutex mutex;
  std::lock_guard const lock(mutex);
  kept->push_back(std::move(state));
}

int known_device(memory_resource const& upstream) {
  if (upstream.device_ordinal() >= 0) return upstream.device_ordinal();
  throw error(std::make_error_code(std::errc::invalid_argument),
              "a pool over a resource that does not name its device: give it a device_ordinal");
}

// hipMalloc does: what was freed before, no work uses any more.
bool hands_out_idle_memory(memory_resource const& upstream) {
  return typeid(behind_adaptors(upstream)) == typeid(hip_memory_resource);
}

}  // namespace

pool_state::pool_state(memory_resource& upstream, pool_options const& options)
    : upstream_(upstream),
      device_(known_device(upstream)),
      upstream_is_idle_(hands_out_idle_memory(upstream)),
      number_(next_number()),
      limit_(options.limit),
      chunk_bytes_(options.chunk_bytes / page * page) {}

pool_state::~pool_state() = default;

pool_block* pool_state::allocate_slowly(demand const& wanted, stream_id stream, bool& inherits) {
  lock held(mutex_);
  pool_block* found = nullptr;
  inherits = true;
  auto const try_take = [&] {
    if (found == nullptr) found = take(wanted, stream, inherits);
    return found != nullptr;
  };
  if (!try_take()) found = steal(wanted, stream);
  if (found == nullptr) {
    empty_caches(true);
    if (poll()) try_take();
  }
  if (found == nullptr && mark_others(wanted, stream)) try_take();
  if (found == nullptr) {
    empty_caches(false);
    retire_others();
    join_free_spans();
    if (!try_take() && grow(wanted)) found = take_grown(wanted, stream, inherits);
  }
  if (found == nullptr) {
    // Short of memory: all that was given back, on whatever stream, then what the upstream has.
    empty_caches(false);
    wait_for_pending(held);
    join_free_spans();
    if (!try_take()) {
      auto const idle = take_idle_chunks();
      held.unlock();
      give_back(idle);
      held.lock();
      if (!try_take() && grow(wanted)) found = take_grown(wanted, stream, inherits);
    }
  }
  if (found == nullptr) throw_out_of_memory(wanted);
  ++allocations_;
  ++blocks_out_;
  out_ += found->bytes();
  peak_ = std::max(peak_, current_bytes());
  return found;
}

void pool_state::deallocate_slowly(pool_block& block, stream_id stream) {
  std::vector<runtime::shared_event> events = block.events_of_uses(stream);
  if (stream.is_foreign()) {
    // It may be destroyed without a word: what is behind its work now is kept instead.
    if (runtime::shared_event done = runtime::record(stream); done != nullptr && !done->query()) {
      events.push_back(std::move(done));
    }
  }
  if (block.used_elsewhere.load(std::memory_order_relaxed)) block.forget_uses();
  lock const held(mutex_);
  out_ -= block.bytes();
  --blocks_out_;
  if (stream.is_foreign()) stream = {};
  if (events.empty()) return put(block, stream);
  pending_.push_back({&block, stream, std::move(events)});
  pending_bytes_ += block.bytes();
}

// Holding the lock. `stream`: whose earlier work may use the block; none for no work at all.
void pool_state::put(pool_block& block, stream_id stream) {
  if (stream.is_empty()) close_memory(block.data, block.bytes());
  free_list& to = stream.is_empty() ? clean_ : bin_of(stream).fresh;
  if (block.bytes() <= small_limit) {
    to.push(block);
  } else {
    to.insert(*block.span);
  }
}

void pool_state::trim() {
  std::vector<upstream_block> idle;
  {
    lock const held(mutex_);
    empty_caches(false);
    poll();
    for (bin& each : bins_) mark(each);
    poll();
    idle = take_idle_chunks();
  }
  give_back(idle);
}

void pool_state::close() noexcept {
  try {
    lock held(mutex_);
    closed_ = true;
    empty_caches(false);
    wait_for_pending(held);
    auto const idle = take_idle_chunks();
    std::size_t const blocks = blocks_out_;
    std::size_t const bytes = out_;
    held.unlock();
    give_back(idle);
    if (blocks == 0) return;
    base::log("pool_resource destroyed while " + std::to_string(blocks) + " blocks (" +
                 std::to_string(bytes) +
                 " bytes) are in use: they are never freed; destroy the arrays first");
    keep_for_good(shared_from_this());
  } catch (std::exception const& late) {
    base::log(late.what());
    keep_for_good(shared_from_this());
  }
}

bool pool_state::is_closed() {
  lock const held(mutex_);
  return closed_;
}

std::size_t pool_state::limit() {
  lock const held(mutex_);
  return limit_;
}

void pool_state::set_limit(std::size_t bytes) {
  bool exceeded = false;
  {
    lock const held(mutex_);
    limit_ = bytes;
    exceeded = reserved_ > limit_;
  }
  if (exceeded) trim();
}

// Holding the lock.
std::size_t pool_state::current_bytes() {
  std::size_t kept = 0;
  for (auto const& each : caches_) {
    if (!each->owned) continue;
    each->enter();
    kept += each->bytes;
    each->leave();
  }
  return out_ - kept;
}

void pool_state::count_peak() {
  lock const held(mutex_);
  peak_ = std::max(peak_, current_bytes());
}

memory_statistics pool_state::statistics() {
  lock const held(mutex_);
  return statistics_locked();
}

// Holding the lock.
memory_statistics pool_state::statistics_locked() {
  memory_statistics result;
  std::size_t kept_blocks = 0;
  result.allocations = allocations_;
  for (auto const& each : caches_) {
    each->enter();
    for (std::uint32_t const count : each->counts) kept_blocks += count;
    result.allocations += each->allocations;
    each->leave();
  }
  result.current_bytes = current_bytes();
  peak_ = std::max(peak_, result.current_bytes);
  result.peak_bytes = peak_;
  result.current_blocks = blocks_out_ - kept_blocks;
  result.reserved_bytes = reserved_;
  result.free_bytes = reserved_ - result.current_bytes;
  result.pending_bytes = pending_bytes_;
  auto const look = [&](free_list const& store) {
    if (store.large.empty()) return;
    result.largest_free_bytes =
        std::max(result.largest_free_bytes, (*store.large.rbegin())->bytes());
  };
  look(clean_);
  for (bin const& each : bins_) {
    look(each.fresh);
    look(each.marked);
    result.pending_bytes += each.fresh.bytes + each.marked.bytes;
  }
  return result;
}

void pool_state::throw_out_of_memory(demand const& wanted) {
  memory_statistics const now = statistics_locked();
  auto const text = [](std::size_t number) { return std::to_string(number); };
  throw out_of_memory(
      refusal_code_,
      "no " + text(wanted.bytes) + " bytes in the pool of device " +
          text(static_cast<std::size_t>(device_)) + " (in use " + text(now.current_bytes) +
          " bytes in " + text(now.current_blocks) + " blocks, free " + text(now.free_bytes) +
          ", largest free " + text(now.largest_free_bytes) + ", waiting for work " +
          text(now.pending_bytes) + ", reserved " + text(now.reserved_bytes) + ", peak " +
          text(now.peak_bytes) + "; " + refusal_ + ")" + platform::memory_advice,
      refusal_call_);
}

}  // namespace roc::memory

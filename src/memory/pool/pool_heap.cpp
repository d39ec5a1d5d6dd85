// SPDX-License-Identifier: MIT
// A pool's memory that nothing uses: cut, joined, taken from the upstream and given back to it.
#include <algorithm>
#include <cstring>
#include <utility>

#include "memory/device/allocation_map.hpp"
#include "memory/pool/pool_state.hpp"
#include "memory/debug/sanitizer.hpp"
#include "platform/call.hpp"

namespace roc::memory {
namespace {

constexpr std::size_t first_chunk = std::size_t{2} << 20;

}  // namespace

// Holding the lock. From the stream's own free memory, else from what nothing uses.
pool_block* pool_state::take(demand const& wanted, stream_id stream, bool& inherits) {
  inherits = true;
  for (bool const cautious : {true, false}) {
    for (bin& each : bins_) {
      // Work of blocking streams comes after that of the default stream by itself.
      bool const own = each.stream == stream;
      bool const ordered =
          each.stream.is_default() && stream.is_blocking() && each.stream.is_live();
      if (!own && !ordered) continue;
      for (free_list* const store : {&each.fresh, &each.marked}) {
        pool_block* const found = take_from(*store, wanted, cautious);
        if (found == nullptr) continue;
        if (!own && !stream.is_foreign()) bin_of(stream).behind_default = true;
        return found;
      }
    }
    // A span much too large is cut only where no other fits.
    if (pool_block* const found = take_from(clean_, wanted, false)) {
      inherits = false;
      return found;
    }
  }
  return nullptr;
}

// Holding the lock. After the pool has grown, on the default stream: earlier work there may still
// use what some upstreams hand out.
pool_block* pool_state::take_grown(demand const& wanted, stream_id stream, bool& inherits) {
  if (upstream_is_idle_ || stream.is_blocking()) return take(wanted, stream, inherits);
  stream_id const grown = runtime::mark_of({}, device_);
  runtime::order_after(stream, grown);
  inherits = true;
  return take_from(bin_of(grown).fresh, wanted, false);
}

// Holding the lock. `cautious`: nothing that is much larger than needed.
pool_block* pool_state::take_from(free_list& store, demand const& wanted, bool cautious) {
  if (wanted.small) {
    if (pool_block* const block = store.pop(wanted.which)) return block;
  }
  pool_span* const span = store.best_fit(wanted.pages);
  if (span == nullptr) return nullptr;
  if (cautious && span->pages > wanted.pages + wanted.pages / 4) return nullptr;
  return cut(store, *span, wanted);
}

// Holding the lock. What is left stays in the store.
pool_block* pool_state::cut(free_list& store, pool_span& span, demand const& wanted) {
  store.erase(span);
  if (span.pages > wanted.pages) store.insert(*span.chunk->split(span, wanted.pages));
  span.chunk->cut(span, wanted.small ? class_bytes(wanted.which) : span.bytes());
  for (std::size_t i = span.block_count; i-- > 1;) store.push(span.blocks[i]);
  return &span.blocks[0];
}

void pool_state::close_all(free_list const& store) noexcept {
  for (pool_block const* each : store.small) {
    for (; each != nullptr; each = each->next) close_memory(each->data, each->bytes());
  }
  for (pool_span const* const each : store.large) close_memory(each->data(), each->bytes());
}

// Holding the lock. Nothing uses the store's memory any more.
void pool_state::settle_into_clean(free_list& store) {
  close_all(store);
  clean_.take_all(store);
}

// Holding the lock. Spans of small blocks that are all free become pages again, and free pages next
// to each other one span: what several streams have to wait for stays apart.
void pool_state::join_free_spans() {
  for (pool_block* each : clean_.small) {
    for (; each != nullptr; each = each->next) each->span->idle_blocks = 0;
  }
  for (pool_block* each : clean_.small) {
    for (; each != nullptr; each = each->next) ++each->span->idle_blocks;
  }
  for (pool_block*& head : clean_.small) {
    std::vector<pool_span*> idle;
    for (pool_block** link = &head; *link != nullptr;) {
      pool_block& block = **link;
      if (block.span->idle_blocks != block.span->block_count) {
        link = &block.next;
        continue;
      }
      *link = block.next;
      clean_.bytes -= block.bytes();
      if (&block == &block.span->blocks[0]) idle.push_back(block.span);
    }
    for (pool_span* const span : idle) clean_.insert(*span);
  }
  for (auto const& chunk : chunks_) {
    for (pool_span* span = chunk->first_span(); span != nullptr;) {
      pool_span* const after = span->after;
      bool const both = after != nullptr && clean_.large.contains(span) && span->is_free &&
                        after->is_free && clean_.large.contains(after);
      if (!both) {
        span = after;
        continue;
      }
      clean_.erase(*span);
      clean_.erase(*after);
      chunk->join(*span);
      clean_.insert(*span);
    }
  }
}

// Holding the lock. False where the upstream, or the limit, does not give as much.
bool pool_state::grow(demand const& wanted) {
  std::size_t const needed = wanted.pages * page;
  std::size_t const usual = std::clamp(pages_of(reserved_ / 2) * page, first_chunk,
                                       std::max(first_chunk, chunk_bytes_));
  if (usual > needed && add_chunk(usual)) return true;
  return add_chunk(needed);
}

bool pool_state::add_chunk(std::size_t bytes) {
  if (bytes > limit_ || reserved_ > limit_ - bytes) {
    refusal_ = "the pool's limit is " + std::to_string(limit_) + " bytes";
    refusal_code_ = std::make_error_code(std::errc::not_enough_memory);
    refusal_call_ = "";
    return false;
  }
  void* data = nullptr;
  try {
    data = upstream_.allocate(bytes, {});
  } catch (out_of_memory const& error) {
    refusal_ = error.what();
    // Its advice is that of the whole message, which ends with it.
    if (refusal_.ends_with(platform::memory_advice)) {
      refusal_.resize(refusal_.size() - std::strlen(platform::memory_advice));
    }
    refusal_code_ = error.code();
    refusal_call_ = error.call();
    return false;
  }
  try {
    auto made = std::make_unique<pool_chunk>(*this, static_cast<std::byte*>(data), bytes);
    chunks_.push_back(std::move(made));
    allocation_map::instance().add(data, bytes, chunks_.back().get());
  } catch (...) {
    if (!chunks_.empty() && chunks_.back()->data() == data) chunks_.pop_back();
    upstream_.deallocate(data, bytes, {});
    throw;
  }
  close_memory(data, bytes);
  reserved_ += bytes;
  free_list& to = upstream_is_idle_ ? clean_ : bin_of(runtime::mark_of({}, device_)).fresh;
  to.insert(*chunks_.back()->first_span());
  return true;
}

// Holding the lock, to be given back without it: that may wait for the device.
std::vector<pool_state::upstream_block> pool_state::take_idle_chunks() {
  join_free_spans();
  std::vector<upstream_block> idle;
  std::erase_if(chunks_, [&](std::unique_ptr<pool_chunk> const& chunk) {
    pool_span& first = *chunk->first_span();
    bool const whole = first.after == nullptr && first.is_free && clean_.large.contains(&first);
    if (!whole) return false;
    allocation_map::instance().remove(chunk->data());
    clean_.erase(first);
    reserved_ -= chunk->bytes();
    open_memory(chunk->data(), chunk->bytes());
    idle.push_back({chunk->data(), chunk->bytes()});
    return true;
  });
  return idle;
}

void pool_state::give_back(std::vector<upstream_block> const& blocks) noexcept {
  for (upstream_block const& each : blocks) upstream_.deallocate(each.data, each.bytes, {});
}

}  // namespace roc::memory

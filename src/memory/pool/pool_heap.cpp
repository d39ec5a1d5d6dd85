// SPDX-License-Identifier: MIT
#include "memory/pool/pool_heap.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <roc/error.hpp>

#include "base/format_bytes.hpp"
#include "base/round_up.hpp"
#include "memory/debug/address_sanitizer.hpp"
#include "memory/device/allocation_map.hpp"
#include "platform/call.hpp"

namespace roc::memory {
namespace {

constexpr std::size_t first_slab_bytes = std::size_t{2} << 20;

// Poisons all blocks and spans of the list for AddressSanitizer.
void poison(free_list const& list) noexcept {
  for (pool_block const* block : list.small) {
    for (; block != nullptr; block = block->next) poison_device_memory(block->data, block->bytes());
  }
  for (pool_span const* const span : list.large) poison_device_memory(span->data(), span->bytes());
}

}  // namespace

pool_heap::pool_heap(pool_state& pool, memory_resource& upstream, int device,
                     pool_options const& options)
    : pool_(pool),
      upstream_(upstream),
      device_(device),
      limit_(options.limit),
      slab_bytes_(options.slab_bytes / page_bytes * page_bytes) {}

void pool_heap::put_idle(pool_block& block) noexcept {
  poison_device_memory(block.data, block.bytes());
  idle_.put(block);
}

void pool_heap::move_to_idle(free_list& list) noexcept {
  poison(list);
  idle_.take_all(list);
}

void pool_heap::merge_free_spans(free_list& list) noexcept {
  for (pool_block* block : list.small) {
    for (; block != nullptr; block = block->next) block->span->free_blocks = 0;
  }
  for (pool_block* block : list.small) {
    for (; block != nullptr; block = block->next) ++block->span->free_blocks;
  }
  for (pool_block*& head : list.small) {
    for (pool_block** link = &head; *link != nullptr;) {
      pool_block& block = **link;
      if (block.span->free_blocks != block.span->block_count) {
        link = &block.next;
        continue;
      }
      *link = block.next;
      list.bytes -= block.bytes();
      // The blocks exist until the span is divided again.
      if (&block == &block.span->blocks[0]) list.insert(*block.span);
    }
  }
  for (pool_slab& slab : slabs_) {
    for (pool_span* span = slab.first_span(); span != nullptr;) {
      pool_span* const next = span->next;
      if (next == nullptr || !list.contains(*span) || !list.contains(*next)) {
        span = next;
        continue;
      }
      list.erase(*span);
      list.erase(*next);
      slab.merge_with_next(*span);
      list.insert(*span);
    }
  }
}

bool pool_heap::grow(block_request const& request, free_list& pending) {
  std::size_t const needed = request.pages * page_bytes;
  // Whole regions of the allocation_map, so that look-ups in the slab take no lock.
  std::size_t const preferred =
      std::clamp(base::round_up(reserved_ / 2, first_slab_bytes), first_slab_bytes,
                 std::max(first_slab_bytes, slab_bytes_));
  return (preferred > needed && add_slab(preferred, pending)) || add_slab(needed, pending);
}

bool pool_heap::add_slab(std::size_t bytes, free_list& pending) {
  if (bytes > limit_ || reserved_ > limit_ - bytes) {
    failure_ = {"the pool's limit is " + base::format_bytes(limit_),
                std::make_error_code(std::errc::not_enough_memory), ""};
    return false;
  }
  detail::resource_block source;
  try {
    source = upstream_.allocate_block(bytes, {});
  } catch (out_of_memory const& error) {
    failure_ = {error.what(), error.code(), error.call()};
    // The pool's message, which includes this one, ends with the same advice.
    std::string& message = failure_.message;
    if (message.ends_with(platform::out_of_memory_advice)) {
      message.resize(message.size() - std::strlen(platform::out_of_memory_advice));
    }
    return false;
  }
  std::list<pool_slab> added;
  try {
    bool const is_host_memory = upstream_.host_kind().has_value();
    pool_slab& slab = added.emplace_back(pool_, source, bytes, is_host_memory);
    allocation_map::instance().add(source.data, bytes, &slab, device_);
  } catch (...) {
    upstream_.deallocate_block(source, bytes, {});
    throw;
  }
  (source.has_prior_work ? pending : idle_).insert(*added.front().first_span());
  slabs_.splice(slabs_.end(), added);
  // Work of the default stream may still access memory that is not idle.
  if (!source.has_prior_work) poison_device_memory(source.data, bytes);
  reserved_ += bytes;
  return true;
}

std::list<pool_slab> pool_heap::remove_idle_slabs() noexcept {
  merge_free_spans(idle_);
  std::list<pool_slab> removed;
  for (auto slab = slabs_.begin(); slab != slabs_.end();) {
    auto const next = std::next(slab);
    pool_span& first = *slab->first_span();
    if (first.next == nullptr && idle_.contains(first)) {
      allocation_map::instance().remove(slab->data());
      idle_.erase(first);
      reserved_ -= slab->bytes();
      unpoison_device_memory(slab->data(), slab->bytes());
      removed.splice(removed.end(), slabs_, slab);
    }
    slab = next;
  }
  return removed;
}

void pool_heap::return_to_upstream(std::list<pool_slab> const& removed) noexcept {
  for (pool_slab const& slab : removed) upstream_.deallocate_block(slab.source(), slab.bytes(), {});
}

pool_block* pool_heap::find_block(void const* data) const noexcept {
  for (pool_slab const& slab : slabs_) {
    if (pool_block* const block = slab.record_at(data)) return block;
  }
  return nullptr;
}

}  // namespace roc::memory

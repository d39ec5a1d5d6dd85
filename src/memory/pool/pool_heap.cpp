// SPDX-License-Identifier: MIT
#include "memory/pool/pool_heap.hpp"

#include <algorithm>
#include <cstring>
#include <typeinfo>
#include <utility>

#include <roc/error.hpp>
#include <roc/memory/hip_resources.hpp>

#include "base/format_bytes.hpp"
#include "memory/debug/address_sanitizer.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/innermost_resource.hpp"
#include "platform/call.hpp"

namespace roc::memory {
namespace {

constexpr std::size_t first_slab_bytes = std::size_t{2} << 20;

// hipFree blocks until all work on the device has finished, so that no work uses what hipMalloc
// returns.
bool hands_out_idle_memory(memory_resource const& upstream) {
  return typeid(innermost_resource(upstream)) == typeid(hip_memory_resource);
}

// Poisons all blocks and spans of the list for AddressSanitizer.
void poison(free_list const& list) noexcept {
  for (pool_block const* block : list.small) {
    for (; block != nullptr; block = block->next) poison_device_memory(block->data, block->bytes());
  }
  for (pool_span const* const span : list.large) poison_device_memory(span->data(), span->bytes());
}

}  // namespace

pool_heap::pool_heap(pool_state& pool, memory_resource& upstream, pool_options const& options)
    : pool_(pool),
      upstream_(upstream),
      upstream_is_idle_(hands_out_idle_memory(upstream)),
      limit_(options.limit),
      slab_bytes_(options.slab_bytes / page_bytes * page_bytes) {}

void pool_heap::put_idle(pool_block& block) {
  poison_device_memory(block.data, block.bytes());
  idle_.put(block);
}

void pool_heap::move_to_idle(free_list& list) {
  poison(list);
  idle_.take_all(list);
}

void pool_heap::merge_free_spans() {
  for (pool_block* block : idle_.small) {
    for (; block != nullptr; block = block->next) block->span->idle_blocks = 0;
  }
  for (pool_block* block : idle_.small) {
    for (; block != nullptr; block = block->next) ++block->span->idle_blocks;
  }
  for (pool_block*& head : idle_.small) {
    std::vector<pool_span*> idle_spans;
    for (pool_block** link = &head; *link != nullptr;) {
      pool_block& block = **link;
      if (block.span->idle_blocks != block.span->block_count) {
        link = &block.next;
        continue;
      }
      *link = block.next;
      idle_.bytes -= block.bytes();
      if (&block == &block.span->blocks[0]) idle_spans.push_back(block.span);
    }
    for (pool_span* const span : idle_spans) idle_.insert(*span);
  }
  for (auto const& slab : slabs_) {
    for (pool_span* span = slab->first_span(); span != nullptr;) {
      pool_span* const next = span->next;
      bool const can_merge = next != nullptr && idle_.large.contains(span) && span->is_free &&
                             next->is_free && idle_.large.contains(next);
      if (!can_merge) {
        span = next;
        continue;
      }
      idle_.erase(*span);
      idle_.erase(*next);
      slab->merge_with_next(*span);
      idle_.insert(*span);
    }
  }
}

pool_span* pool_heap::grow(block_request const& request) {
  std::size_t const needed = request.pages * page_bytes;
  std::size_t const preferred = std::clamp(page_count(reserved_ / 2) * page_bytes, first_slab_bytes,
                                           std::max(first_slab_bytes, slab_bytes_));
  if (preferred > needed) {
    if (pool_span* const span = add_slab(preferred)) return span;
  }
  return add_slab(needed);
}

pool_span* pool_heap::add_slab(std::size_t bytes) {
  if (bytes > limit_ || reserved_ > limit_ - bytes) {
    failure_ = {"the pool's limit is " + base::format_bytes(limit_),
                std::make_error_code(std::errc::not_enough_memory), ""};
    return nullptr;
  }
  void* data = nullptr;
  try {
    data = upstream_.allocate(bytes, {});
  } catch (out_of_memory const& error) {
    failure_ = {error.what(), error.code(), error.call()};
    // The pool's message, which includes this one, ends with the same advice.
    std::string& message = failure_.message;
    if (message.ends_with(platform::out_of_memory_advice)) {
      message.resize(message.size() - std::strlen(platform::out_of_memory_advice));
    }
    return nullptr;
  }
  try {
    auto added = std::make_unique<pool_slab>(pool_, static_cast<std::byte*>(data), bytes);
    slabs_.push_back(std::move(added));
    allocation_map::instance().add(data, bytes, slabs_.back().get());
  } catch (...) {
    if (!slabs_.empty() && slabs_.back()->data() == data) slabs_.pop_back();
    upstream_.deallocate(data, bytes, {});
    throw;
  }
  poison_device_memory(data, bytes);
  reserved_ += bytes;
  return slabs_.back()->first_span();
}

std::vector<pool_heap::upstream_block> pool_heap::remove_idle_slabs() {
  merge_free_spans();
  std::vector<upstream_block> removed;
  std::erase_if(slabs_, [&](std::unique_ptr<pool_slab> const& slab) {
    pool_span& first = *slab->first_span();
    bool const is_idle = first.next == nullptr && first.is_free && idle_.large.contains(&first);
    if (!is_idle) return false;
    allocation_map::instance().remove(slab->data());
    idle_.erase(first);
    reserved_ -= slab->bytes();
    unpoison_device_memory(slab->data(), slab->bytes());
    removed.push_back({slab->data(), slab->bytes()});
    return true;
  });
  return removed;
}

void pool_heap::return_to_upstream(std::vector<upstream_block> const& blocks) noexcept {
  for (upstream_block const& block : blocks) upstream_.deallocate(block.data, block.bytes, {});
}

pool_block* pool_heap::find_block(void const* data) const noexcept {
  for (auto const& slab : slabs_) {
    if (pool_block* const block = slab->record_at(data)) return block;
  }
  return nullptr;
}

}  // namespace roc::memory

// SPDX-License-Identifier: MIT
#include "memory/device/pool_slab.hpp"

#include <utility>

namespace roc::memory {

pool_span::pool_span(pool_slab* owner, std::size_t first, std::size_t count)
    : slab(owner), first_page(first), pages(count) {
  span_set set;
  set.insert(this);
  node = set.extract(set.begin());
}

pool_slab::pool_slab(pool_state& pool, detail::resource_block const& source, std::size_t bytes,
                     bool is_host_memory)
    : pool_(pool),
      source_(source),
      data_(static_cast<std::byte*>(source.data)),
      bytes_(bytes),
      is_host_memory_(is_host_memory),
      pages_(bytes / page_bytes) {
  first_ = new pool_span(this, 0, bytes / page_bytes);
}

pool_slab::~pool_slab() {
  while (first_ != nullptr) {
    pool_span* const next = first_->next;
    delete first_;
    first_ = next;
  }
}

void pool_slab::map_pages(pool_span const& span, pool_span* value) noexcept {
  for (std::size_t i = span.first_page; i < span.first_page + span.pages; ++i) {
    pages_[i].store(value, std::memory_order_release);
  }
}

void pool_slab::remove_blocks(pool_span& span) noexcept {
  if (span.blocks != nullptr) {
    map_pages(span, nullptr);
    wait_for_map_readers();
    span.blocks = nullptr;
  }
  span.block_bytes = 0;
  span.block_count = 0;
}

pool_span* pool_slab::divide(pool_span& span, std::size_t pages, std::size_t block_bytes) {
  // Reuses an earlier division into the same size: large blocks are then freed and allocated
  // without a write to the page table.
  bool const is_divided =
      span.pages == pages && span.block_bytes == block_bytes && span.blocks != nullptr;
  std::size_t const count = pages * page_bytes / block_bytes;
  // Everything that may throw comes first.
  auto blocks = is_divided ? nullptr : std::make_unique<pool_block[]>(count);
  auto rest = span.pages == pages
                  ? nullptr
                  : std::make_unique<pool_span>(this, span.first_page + pages, span.pages - pages);
  span.is_free = false;
  if (is_divided) return nullptr;
  remove_blocks(span);
  if (rest != nullptr) {
    rest->previous = &span;
    rest->next = span.next;
    if (span.next != nullptr) span.next->previous = rest.get();
    span.next = rest.get();
    span.pages = pages;
  }
  for (std::size_t i = 0; i < count; ++i) {
    blocks[i].pool = &pool_;
    blocks[i].span = &span;
    blocks[i].data = span.data() + i * block_bytes;
    blocks[i].is_host_memory = is_host_memory_;
  }
  span.blocks = std::move(blocks);
  span.block_bytes = block_bytes;
  span.block_count = count;
  map_pages(span, &span);
  return rest.release();
}

void pool_slab::merge_with_next(pool_span& span) {
  pool_span* const next = span.next;
  remove_blocks(span);
  remove_blocks(*next);
  span.pages += next->pages;
  span.next = next->next;
  if (span.next != nullptr) span.next->previous = &span;
  delete next;
}

}  // namespace roc::memory

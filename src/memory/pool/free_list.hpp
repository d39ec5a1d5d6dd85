// SPDX-License-Identifier: MIT
// Free blocks and spans of a pool that have the same to wait for.
#pragma once

#include <array>
#include <cstddef>
#include <set>

#include "memory/pool/pool_chunk.hpp"
#include "memory/pool/size_class.hpp"

namespace roc::memory {

struct free_list {
  struct by_size {
    using is_transparent = void;
    bool operator()(pool_span const* a, std::size_t pages) const noexcept {
      return a->pages < pages;
    }
    bool operator()(std::size_t pages, pool_span const* a) const noexcept {
      return pages < a->pages;
    }
    bool operator()(pool_span const* a, pool_span const* b) const noexcept {
      return a->pages != b->pages ? a->pages < b->pages : a->data() < b->data();
    }
  };

  std::array<pool_block*, class_count> small{};
  std::set<pool_span*, by_size> large;
  std::size_t bytes = 0;

  void push(pool_block& block) noexcept {
    pool_block*& head = small[class_of(block.bytes())];
    block.next = head;
    head = &block;
    bytes += block.bytes();
  }
  pool_block* pop(unsigned which) noexcept {
    pool_block* const block = small[which];
    if (block == nullptr) return nullptr;
    small[which] = block->next;
    bytes -= block->bytes();
    return block;
  }
  void insert(pool_span& span) {
    span.is_free = true;
    large.insert(&span);
    bytes += span.bytes();
  }
  void erase(pool_span& span) noexcept {
    large.erase(&span);
    bytes -= span.bytes();
  }
  /// The smallest span of `pages` or more, which stays; null where there is none.
  pool_span* best_fit(std::size_t pages) const {
    auto const place = large.lower_bound(pages);
    return place == large.end() ? nullptr : *place;
  }
  void take_all(free_list& other) {
    for (unsigned which = 0; which < class_count; ++which) {
      while (pool_block* const block = other.pop(which)) push(*block);
    }
    for (pool_span* const span : other.large) insert(*span);
    other.large.clear();
    other.bytes = 0;
  }
};

}  // namespace roc::memory

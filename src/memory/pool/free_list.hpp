// SPDX-License-Identifier: MIT
// Free blocks and spans of a pool.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "memory/device/pool_slab.hpp"
#include "memory/pool/size_class.hpp"

namespace roc::memory {

/// The memory that an allocation needs: a block of a size class, or a large block of whole pages.
struct block_request {
  explicit block_request(std::size_t requested_bytes)
      : bytes(requested_bytes),
        is_small(bytes <= small_limit),
        size_class(is_small ? size_class_of(bytes) : 0),
        pages(is_small ? span_pages(size_class) : page_count(bytes)) {}

  std::size_t bytes;  // as the user requested
  bool is_small;
  unsigned size_class;  // if is_small
  std::size_t pages;    // of a large block, or of the span that a small block is taken from
};

/// Free blocks and spans, all of which become reusable after the same work. Not thread-safe: the
/// caller of every member holds the mutex of the pool. No member calls HIP. Only take allocates
/// host memory.
struct free_list {
  std::array<pool_block*, size_class_count> small{};  // linked lists of blocks by size class
  span_set large;                                     // free spans
  std::size_t bytes = 0;                              // of all blocks and spans

  /// Adds a small block.
  void push(pool_block& block) noexcept {
    pool_block*& head = small[size_class_of(block.bytes())];
    block.next = head;
    head = &block;
    bytes += block.bytes();
  }
  /// Removes and returns a block of the size class; null if there is none.
  pool_block* pop(unsigned size_class) noexcept {
    pool_block* const block = small[size_class];
    if (block == nullptr) return nullptr;
    small[size_class] = block->next;
    bytes -= block->bytes();
    return block;
  }
  /// Adds a span, which is in no list, and marks it as free.
  void insert(pool_span& span) noexcept {
    span.is_free = true;
    large.insert(std::move(span.node));
    bytes += span.bytes();
  }
  /// Removes a span of the list.
  void erase(pool_span& span) noexcept {
    span.node = large.extract(&span);
    bytes -= span.bytes();
  }
  /// Returns true if the span is in the list.
  bool contains(pool_span& span) const noexcept { return span.is_free && large.contains(&span); }
  /// Adds a deallocated block, small or large.
  void put(pool_block& block) noexcept {
    if (block.bytes() <= small_limit) {
      push(block);
    } else {
      insert(*block.span);
    }
  }
  /// Moves everything from `other` to this list.
  void take_all(free_list& other) noexcept {
    for (unsigned i = 0; i < size_class_count; ++i) {
      while (pool_block* const block = other.pop(i)) push(*block);
    }
    large.merge(other.large);
    bytes += std::exchange(other.bytes, 0);
  }

  /// Returns the bytes of the largest span; 0 if there is none.
  std::size_t largest_span_bytes() const noexcept {
    return large.empty() ? 0 : (*large.rbegin())->bytes();
  }
  /// Returns true if take with `close_fit` false would succeed.
  bool can_serve(block_request const& request) const {
    return (request.is_small && small[request.size_class] != nullptr) ||
           best_fit(request.pages) != nullptr;
  }
  /// Removes and returns a block for the request: a block of its size class, or the beginning of
  /// the smallest span that is large enough. The rest of that span stays in the list. With
  /// `close_fit`, a span more than a quarter larger than needed is not divided. Returns null if
  /// nothing fits. Throws std::bad_alloc; the list is then unchanged.
  pool_block* take(block_request const& request, bool close_fit) {
    if (request.is_small) {
      if (pool_block* const block = pop(request.size_class)) return block;
    }
    pool_span* const span = best_fit(request.pages);
    if (span == nullptr) return nullptr;
    if (close_fit && span->pages > request.pages + request.pages / 4) return nullptr;
    return divide(*span, request);
  }

 private:
  /// Returns the smallest span of at least `pages`, which stays in the list; null if there is none.
  pool_span* best_fit(std::size_t pages) const {
    auto const found = large.lower_bound(pages);
    return found == large.end() ? nullptr : *found;
  }
  /// Divides a span of the list and returns its first block; everything else stays in the list.
  /// Throws std::bad_alloc; the list is then unchanged.
  pool_block* divide(pool_span& span, block_request const& request) {
    std::size_t const block_bytes =
        request.is_small ? size_class_bytes(request.size_class) : request.pages * page_bytes;
    erase(span);
    pool_span* rest = nullptr;
    try {
      rest = span.slab->divide(span, request.pages, block_bytes);
    } catch (...) {
      insert(span);
      throw;
    }
    if (rest != nullptr) insert(*rest);
    for (std::size_t i = span.block_count; i-- > 1;) push(span.blocks[i]);
    return &span.blocks[0];
  }
};

}  // namespace roc::memory

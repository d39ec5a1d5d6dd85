// SPDX-License-Identifier: MIT
// A slab: memory that a pool took from its upstream in one allocation. A slab is divided into spans
// of pages, and a span into blocks, each with its allocation record. allocation_map finds the
// record of an address here; pool/ decides how slabs are divided.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include <roc/memory/memory_resource.hpp>

#include "memory/device/allocation_record.hpp"

namespace roc::memory {

class pool_slab;
struct pool_span;

/// Calls allocation_map::wait_for_readers, before blocks are destroyed. Defined with the map.
void wait_for_map_readers() noexcept;

/// Spans, and so large blocks, are multiples of a page.
inline constexpr std::size_t page_bytes = std::size_t{64} << 10;

/// Memory that a pool hands out in one allocation. Owned by its span.
struct pool_block : allocation_record {
  std::byte* data = nullptr;
  pool_span* span = nullptr;
  pool_block* next = nullptr;  // in the list that holds the block while it is free
  /// Allocated by a user, and not yet deallocated.
  std::atomic<bool> is_allocated = false;
  /// In a pool of host memory. The host table then tells what arrays there are in the block; only
  /// in a pool of managed memory may it be a device array.
  bool is_host_memory = false;

  std::size_t bytes() const noexcept;
};

/// Orders spans by their number of pages, then by address.
struct fewer_pages {
  using is_transparent = void;
  bool operator()(pool_span const* a, std::size_t pages) const noexcept;
  bool operator()(std::size_t pages, pool_span const* a) const noexcept;
  bool operator()(pool_span const* a, pool_span const* b) const noexcept;
};
using span_set = std::set<pool_span*, fewer_pages>;

/// Adjacent pages of a slab: free, or one large block, or blocks of one size class. Owned by its
/// slab; guarded by the mutex of the pool, except for what record_at reads, and the size of an
/// allocated or cached span, which is constant.
struct pool_span {
  /// Creates a free span, which is in no free_list. Throws std::bad_alloc.
  pool_span(pool_slab* owner, std::size_t first, std::size_t count);

  pool_slab* slab = nullptr;
  std::size_t first_page = 0;  // index in the slab
  std::size_t pages = 0;
  pool_span* previous = nullptr;  // adjacent spans of the slab, in address order
  pool_span* next = nullptr;
  std::unique_ptr<pool_block[]> blocks;
  std::size_t block_bytes = 0;
  std::size_t block_count = 0;
  std::size_t free_blocks = 0;  // scratch variable of pool_heap::merge_free_spans
  bool is_free = true;          // in a free_list as a whole
  span_set::node_type node;     // this span's element of a span_set, while it is in none

  std::byte* data() const noexcept;
  std::size_t bytes() const noexcept { return pages * page_bytes; }
};

/// One allocation of a pool from its upstream, which the slab does not own. The caller of every
/// member function holds the mutex of the pool, except for record_at. None calls HIP.
class pool_slab {
 public:
  /// Describes `bytes` of `source`, an allocation of the upstream, as one free span. A remainder of
  /// `bytes` smaller than a page is not used. The blocks of the slab will refer to `pool`;
  /// `is_host_memory` tells the kind of its memory. Throws std::bad_alloc.
  pool_slab(pool_state& pool, detail::resource_block const& source, std::size_t bytes,
            bool is_host_memory);
  ~pool_slab();
  pool_slab(pool_slab const&) = delete;
  pool_slab& operator=(pool_slab const&) = delete;

  /// Returns the allocation of the upstream.
  detail::resource_block const& source() const noexcept { return source_; }
  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  bool is_host_memory() const noexcept { return is_host_memory_; }
  pool_span* first_span() const noexcept { return first_; }

  /// Returns the block that contains `address`, free or not; null if the address is outside the
  /// slab or in a span that is not divided into blocks. Lock-free; the caller guarantees that the
  /// slab, and the block if there is one, stay alive.
  pool_block* record_at(void const* address) const noexcept;

  /// Shortens a free span to its first `pages` pages, and divides these into blocks of
  /// `block_bytes`. Returns a new free span of the other pages, or null if there are none. Both
  /// spans are in no free_list. Throws std::bad_alloc; the span is then unchanged.
  pool_span* divide(pool_span& span, std::size_t pages, std::size_t block_bytes);
  /// Merges the span that follows `span` into it and deletes the former. Both spans are free and in
  /// no free_list. Deletes their blocks, so that record_at returns null there.
  void merge_with_next(pool_span& span);

 private:
  /// Sets the entries of pages_ for the pages of `span` to `value`, which may be null.
  void map_pages(pool_span const& span, pool_span* value) noexcept;
  /// Deletes the blocks of a free span, so that record_at returns null there.
  void remove_blocks(pool_span& span) noexcept;

  pool_state& pool_;
  detail::resource_block const source_;
  std::byte* const data_;
  std::size_t const bytes_;
  bool const is_host_memory_;
  pool_span* first_ = nullptr;
  std::vector<std::atomic<pool_span*>> pages_;  // the divided span of each page, or null
};

inline std::size_t pool_block::bytes() const noexcept { return span->block_bytes; }
inline std::byte* pool_span::data() const noexcept {
  return slab->data() + first_page * page_bytes;
}

inline pool_block* pool_slab::record_at(void const* address) const noexcept {
  auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(address) - data_);
  if (offset >= bytes_) return nullptr;
  pool_span* const span = pages_[offset / page_bytes].load(std::memory_order_acquire);
  if (span == nullptr) return nullptr;
  if (span->block_count == 1) return &span->blocks[0];
  // Both fit in 32 bits, because blocks of a size class have at most 1 MiB.
  auto const offset_in_span = static_cast<std::uint32_t>(offset - span->first_page * page_bytes);
  std::uint32_t const index = offset_in_span / static_cast<std::uint32_t>(span->block_bytes);
  return index < span->block_count ? &span->blocks[index] : nullptr;
}

inline bool fewer_pages::operator()(pool_span const* a, std::size_t pages) const noexcept {
  return a->pages < pages;
}
inline bool fewer_pages::operator()(std::size_t pages, pool_span const* a) const noexcept {
  return pages < a->pages;
}
inline bool fewer_pages::operator()(pool_span const* a, pool_span const* b) const noexcept {
  return a->pages != b->pages ? a->pages < b->pages : a->data() < b->data();
}

}  // namespace roc::memory

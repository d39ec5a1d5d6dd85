// SPDX-License-Identifier: MIT
// One piece of memory from a pool's upstream, and how it is cut: into spans of pages, and those
// into blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/device/allocation_record.hpp"
#include "memory/pool/size_class.hpp"

namespace roc::memory {

class pool_chunk;
struct pool_span;

/// What a pool hands out.
struct pool_block : allocation_record {
  std::byte* data = nullptr;
  pool_span* span = nullptr;
  pool_block* next = nullptr;     // in the list that holds it while it is free
  std::atomic<bool> live = false;  // handed out

  std::size_t bytes() const noexcept;
};

/// Pages next to each other: free, one large block, or blocks of one class.
struct pool_span {
  pool_chunk* chunk = nullptr;
  std::size_t first = 0;  // page in the chunk
  std::size_t pages = 0;
  pool_span* before = nullptr;  // neighbours in the chunk
  pool_span* after = nullptr;
  std::unique_ptr<pool_block[]> blocks;
  std::size_t block_bytes = 0;  // all pages: one large block
  std::size_t block_count = 0;
  std::size_t idle_blocks = 0;  // scratch of reclaiming
  bool is_free = true;          // in a store of free spans, not cut

  std::byte* data() const noexcept;
  std::size_t bytes() const noexcept { return pages * page; }
};

class pool_chunk {
 public:
  /// `data` with a number of bytes that came from the upstream; one free span to begin with.
  pool_chunk(pool_state& pool, std::byte* data, std::size_t bytes);
  ~pool_chunk();

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  pool_span* first_span() const noexcept { return first_; }

  /// The block that an address lies in, as far as the chunk is cut there.
  pool_block* record_at(void const* address) const noexcept;

  /// Makes blocks of `block_bytes` of a free span, which is in no store any more.
  void cut(pool_span& span, std::size_t block_bytes);
  /// Takes `pages` off the beginning of a free span; the rest becomes a free span of its own.
  pool_span* split(pool_span& span, std::size_t pages);
  /// Joins a free span with the one behind it, which ends to exist.
  void join(pool_span& span);

 private:
  void map(pool_span const& from, pool_span* to) noexcept;

  pool_state& pool_;
  std::byte* const data_;
  std::size_t const bytes_;
  pool_span* first_ = nullptr;
  std::vector<std::atomic<pool_span*>> pages_;  // the cut span of every page
};

inline std::size_t pool_block::bytes() const noexcept { return span->block_bytes; }
inline std::byte* pool_span::data() const noexcept { return chunk->data() + first * page; }

}  // namespace roc::memory

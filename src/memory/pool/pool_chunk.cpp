// SPDX-License-Identifier: MIT
#include "memory/pool/pool_chunk.hpp"

namespace roc::memory {

pool_chunk::pool_chunk(pool_state& pool, std::byte* data, std::size_t bytes)
    : pool_(pool), data_(data), bytes_(bytes), pages_(bytes / page) {
  first_ = new pool_span;
  first_->chunk = this;
  first_->pages = bytes / page;
}

pool_chunk::~pool_chunk() {
  while (first_ != nullptr) {
    pool_span* const after = first_->after;
    delete first_;
    first_ = after;
  }
}

pool_block* pool_chunk::record_at(void const* address) const noexcept {
  auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(address) - data_);
  if (offset >= bytes_) return nullptr;
  pool_span* const span = pages_[offset / page].load(std::memory_order_acquire);
  if (span == nullptr) return nullptr;
  if (span->block_count == 1) return &span->blocks[0];
  // Both fit in 32 bits: a class is no larger than 1 MiB.
  auto const within = static_cast<std::uint32_t>(offset - span->first * page);
  std::uint32_t const index = within / static_cast<std::uint32_t>(span->block_bytes);
  return index < span->block_count ? &span->blocks[index] : nullptr;
}

void pool_chunk::map(pool_span const& from, pool_span* to) noexcept {
  for (std::size_t i = from.first; i < from.first + from.pages; ++i) {
    pages_[i].store(to, std::memory_order_release);
  }
}

void pool_chunk::cut(pool_span& span, std::size_t block_bytes) {
  span.is_free = false;
  // What was cut so before needs nothing new: large blocks come and go without a look at their
  // pages.
  if (span.block_bytes == block_bytes && span.blocks != nullptr) return;
  std::size_t const count = span.bytes() / block_bytes;
  auto blocks = std::make_unique<pool_block[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    blocks[i].pool = &pool_;
    blocks[i].span = &span;
    blocks[i].data = span.data() + i * block_bytes;
  }
  span.blocks = std::move(blocks);
  span.block_bytes = block_bytes;
  span.block_count = count;
  map(span, &span);
}

pool_span* pool_chunk::split(pool_span& span, std::size_t pages) {
  auto rest = std::make_unique<pool_span>();
  if (span.blocks != nullptr) map(span, nullptr);
  span.blocks = nullptr;
  span.block_bytes = 0;
  rest->chunk = this;
  rest->first = span.first + pages;
  rest->pages = span.pages - pages;
  rest->before = &span;
  rest->after = span.after;
  if (span.after != nullptr) span.after->before = rest.get();
  span.after = rest.get();
  span.pages = pages;
  return rest.release();
}

void pool_chunk::join(pool_span& span) {
  pool_span* const gone = span.after;
  if (span.blocks != nullptr) map(span, nullptr);
  if (gone->blocks != nullptr) map(*gone, nullptr);
  span.blocks = nullptr;
  span.block_bytes = 0;
  span.pages += gone->pages;
  span.after = gone->after;
  if (span.after != nullptr) span.after->before = &span;
  delete gone;
}

}  // namespace roc::memory

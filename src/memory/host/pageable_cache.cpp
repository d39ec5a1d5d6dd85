// SPDX-License-Identifier: MIT
#include "memory/host/pageable_cache.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <system_error>

#include <roc/error.hpp>

#include "base/format_bytes.hpp"
#include "base/no_destructor.hpp"
#include "base/options.hpp"
#include "memory/debug/address_sanitizer.hpp"
#include "memory/host/huge_pages.hpp"

namespace roc::memory {
namespace {

std::size_t pageable_limit() { return base::options().pageable_cache; }

bool is_large(std::size_t bytes) { return bytes >= huge_page_bytes; }

// Rounds up large sizes to huge pages and to one of eight sizes for each power of two, so that
// arrays of similar sizes can share blocks. The size of a block follows from that of its array.
std::size_t pageable_block_bytes(std::size_t bytes) {
  if (!is_large(bytes)) return bytes;
  std::size_t const grain = std::max(huge_page_bytes, std::bit_floor(bytes) / 8);
  if (bytes > std::numeric_limits<std::size_t>::max() - grain) return bytes;
  return (bytes + grain - 1) / grain * grain;
}

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{is_large(bytes) ? huge_page_bytes : 256};
}

void free_pageable(void* data, std::size_t block_bytes) noexcept {
  unpoison_host_memory(data, block_bytes);
  ::operator delete(data, alignment_of(block_bytes));
}

}  // namespace

pageable_cache& pageable_cache::instance() noexcept {
  static base::no_destructor<pageable_cache> cache;
  return *cache;
}

pageable_cache::free_block* pageable_cache::remove_locked(free_block*& link) noexcept {
  free_block* const removed = link;
  link = removed->next;
  if (link == nullptr) end_ = &link;
  bytes_ -= removed->bytes;
  --blocks_;
  return removed;
}

void* pageable_cache::take(std::size_t bytes) noexcept {
  std::lock_guard const lock(mutex_);
  free_block** newest = nullptr;
  for (auto* link = &oldest_; *link != nullptr; link = &(*link)->next) {
    if ((*link)->bytes == bytes) newest = link;
  }
  if (newest == nullptr) return nullptr;
  ++reused_;
  return remove_locked(*newest);
}

void* pageable_cache::allocate(std::size_t bytes) {
  std::size_t const block_bytes = pageable_block_bytes(bytes);
  std::align_val_t const alignment = alignment_of(bytes);
  void* data = is_large(bytes) ? take(block_bytes) : nullptr;
  if (data == nullptr) {
    data = ::operator new(block_bytes, alignment, std::nothrow);
    if (data == nullptr && information().blocks != 0) {
      trim_to(0);
      data = ::operator new(block_bytes, alignment, std::nothrow);
    }
    if (data == nullptr) {
      throw out_of_memory(std::make_error_code(std::errc::not_enough_memory),
                          "host memory is exhausted: " + base::format_bytes(bytes) +
                              " requested; free arrays, or use smaller ones");
    }
    if (is_large(bytes)) {
      advise_huge_pages(base::byte_range::of(data, block_bytes));
      std::lock_guard const lock(mutex_);
      ++allocated_;
    }
  }
  // Accesses beyond the array are errors although they are within the block.
  unpoison_host_memory(data, bytes);
  poison_host_memory(static_cast<std::byte*>(data) + bytes, block_bytes - bytes);
  return data;
}

void pageable_cache::deallocate(void* data, std::size_t bytes) noexcept {
  std::size_t const block_bytes = pageable_block_bytes(bytes);
  if (!is_large(bytes) || block_bytes > pageable_limit()) return free_pageable(data, block_bytes);
  // The list must stay readable for the leak check of AddressSanitizer too.
  auto* const block = ::new (data) free_block{nullptr, block_bytes};
  poison_host_memory(block + 1, block_bytes - sizeof *block);
  {
    std::lock_guard const lock(mutex_);
    bytes_ += block_bytes;
    ++blocks_;
    *end_ = block;
    end_ = &block->next;
  }
  trim_to(pageable_limit());
}

void pageable_cache::trim_to(std::size_t keep) noexcept {
  for (;;) {
    free_block* removed = nullptr;
    {
      std::lock_guard const lock(mutex_);
      if (bytes_ <= keep) return;
      removed = remove_locked(oldest_);
    }
    free_pageable(removed, removed->bytes);
  }
}

pageable_cache_information pageable_cache::information() {
  std::lock_guard const lock(mutex_);
  return {bytes_, blocks_, pageable_limit(), reused_, allocated_};
}

}  // namespace roc::memory

namespace roc {

pageable_cache_information pageable_cache() {
  return memory::pageable_cache::instance().information();
}

void trim_pageable_cache(std::size_t keep) noexcept {
  memory::pageable_cache::instance().trim_to(keep);
}

}  // namespace roc

// SPDX-License-Identifier: MIT
#include "memory/host/pinned_cache.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/no_destructor.hpp"
#include "base/options.hpp"
#include "memory/debug/address_sanitizer.hpp"
#include "memory/debug/leaks.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"

namespace roc::memory {
namespace {

std::size_t limit() { return base::options().pinned_cache; }

// Rounds up to one of eight sizes for each power of two, and to whole pages, so that arrays of
// similar sizes can share blocks. Blocks that cannot be cached are not rounded.
std::size_t rounded(std::size_t bytes) {
  if (bytes > limit()) return bytes;
  std::size_t const grain = std::max<std::size_t>(4096, std::bit_floor(bytes) / 8);
  return (bytes + grain - 1) / grain * grain;
}

// Returns false for a block that is more than a quarter too large: a larger array may need it.
bool fits(std::size_t block_bytes, std::size_t bytes) {
  return block_bytes >= bytes && block_bytes - bytes <= bytes / 4;
}

bool has_finished(pinned_block const& block) {
  return block.uses == nullptr || block.uses->have_finished();
}

// Blocks until the uses of the block have finished and frees its memory. Leaks it if that cannot be
// waited for. Logs errors.
void free_pinned(std::unique_ptr<pinned_block> block) noexcept {
  if (block->uses != nullptr && !block->uses->wait_quietly()) {
    log_leaked_host_memory(block->data, block->bytes);
    return;
  }
  unpoison_host_memory(block->data, block->bytes);
  platform::retry_then_log([&] { ROCARRAY_HIP(hipHostFree, block->data); });
}

}  // namespace

pinned_cache& pinned_cache::instance() noexcept {
  static base::no_destructor<pinned_cache> cache;
  return *cache;
}

std::unique_ptr<pinned_block> pinned_cache::remove_locked(
    std::unique_ptr<pinned_block>& link) noexcept {
  auto removed = std::move(link);
  link = std::move(removed->next);
  bytes_ -= removed->bytes;
  --blocks_;
  return removed;
}

std::unique_ptr<pinned_block> pinned_cache::find_locked(pinned_block const& wanted) noexcept {
  std::unique_ptr<pinned_block>* best = nullptr;
  for (auto* link = &oldest_; *link != nullptr; link = &(*link)->next) {
    pinned_block const& block = **link;
    if (block.flags != wanted.flags || block.device != wanted.device) continue;
    if (!fits(block.bytes, wanted.bytes)) continue;
    if (best != nullptr && block.bytes >= (*best)->bytes) continue;
    bool is_idle = false;
    platform::log_if_throws([&] { is_idle = has_finished(block); });
    if (is_idle) best = link;
  }
  return best == nullptr ? nullptr : remove_locked(*best);
}

std::unique_ptr<pinned_block> pinned_cache::take(std::size_t bytes, unsigned flags) {
  bool const is_portable = (flags & hipHostMallocPortable) != 0;
  int const device = is_portable ? -1 : runtime::current_device();
  auto block = std::make_unique<pinned_block>(pinned_block{nullptr, rounded(bytes), flags, device});
  {
    std::unique_lock lock(mutex_);
    if (auto found = find_locked(*block)) {
      ++reused_;
      lock.unlock();
      unpoison_host_memory(found->data, found->bytes);
      found->uses = nullptr;
      return found;
    }
  }
  hipError_t const result = ROCARRAY_HIP_CODE(hipHostMalloc, &block->data, block->bytes, flags);
  if (result == hipErrorOutOfMemory && information().blocks != 0) {
    trim(0);
    ROCARRAY_HIP(hipHostMalloc, &block->data, block->bytes, flags);
  } else if (result != hipSuccess) {
    platform::detail::fail(platform::call::call_hipHostMalloc, result,
                           std::source_location::current());
  }
  std::lock_guard const lock(mutex_);
  ++pinned_;
  return block;
}

void pinned_cache::put(std::unique_ptr<pinned_block> block) noexcept {
  // Mapped memory is not cached, because kernels may still use it.
  bool const can_cache = block->bytes <= limit() && (block->flags & hipHostMallocMapped) == 0;
  // The events come before later work of the streams that use the block.
  bool const is_recorded = can_cache && platform::log_if_throws([&] {
                             if (block->uses != nullptr) block->uses->record_events();
                             // A pending copy must not be reported as an access by the program.
                             if (has_finished(*block))
                               poison_host_memory(block->data, block->bytes);
                           });
  if (!is_recorded) return free_pinned(std::move(block));
  {
    std::lock_guard const lock(mutex_);
    bytes_ += block->bytes;
    ++blocks_;
    auto* end = &oldest_;
    while (*end != nullptr) end = &(*end)->next;
    *end = std::move(block);
  }
  trim(limit());
}

void pinned_cache::trim(std::size_t keep) noexcept {
  for (;;) {
    std::unique_ptr<pinned_block> removed;
    {
      std::lock_guard const lock(mutex_);
      if (bytes_ <= keep) return;
      removed = remove_locked(oldest_);
    }
    free_pinned(std::move(removed));
  }
}

pinned_cache_information pinned_cache::information() {
  std::lock_guard const lock(mutex_);
  return {bytes_, blocks_, limit(), reused_, pinned_};
}

}  // namespace roc::memory

roc::pinned_cache_information roc::pinned_cache() {
  return memory::pinned_cache::instance().information();
}

void roc::trim_pinned_cache(std::size_t keep) noexcept {
  memory::pinned_cache::instance().trim(keep);
}

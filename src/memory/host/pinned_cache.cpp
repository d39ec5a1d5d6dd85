// SPDX-License-Identifier: MIT
#include "memory/host/pinned_cache.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

#include <roc/error.hpp>

#include "base/error.hpp"
#include "base/options.hpp"
#include "memory/debug/address_sanitizer.hpp"
#include "platform/call.hpp"
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

// Frees the block after the uses have finished; blocks until then. Logs errors.
void free_pinned(pinned_block const& block, pending_uses& pending) noexcept {
  try {
    pending.wait();
  } catch (std::exception const& error) {
    base::log(error.what());
  }
  unpoison_host_memory(block.data, block.bytes);
  ROCARRAY_HIP_QUIET(hipHostFree, block.data);
}

}  // namespace

// Leaked on purpose: arrays with static lifetime are freed after every other static object.
pinned_cache& pinned_cache::instance() {
  static auto* const cache = new pinned_cache;
  return *cache;
}

bool pinned_cache::find_locked(std::size_t bytes, unsigned flags, int device, pinned_block& found) {
  auto best = blocks_.end();
  for (auto i = blocks_.begin(); i != blocks_.end(); ++i) {
    pinned_block const& block = i->block;
    if (block.flags != flags || block.device != device || !fits(block.bytes, bytes)) continue;
    if (best != blocks_.end() && block.bytes >= best->block.bytes) continue;
    if (i->pending.has_finished()) best = i;
  }
  if (best == blocks_.end()) return false;
  found = best->block;
  bytes_ -= found.bytes;
  blocks_.erase(best);
  return true;
}

pinned_block pinned_cache::take(std::size_t bytes, unsigned flags) {
  bool const is_portable = (flags & hipHostMallocPortable) != 0;
  int const device = is_portable ? -1 : runtime::current_device();
  pinned_block block{nullptr, rounded(bytes), flags, device};
  {
    std::lock_guard const lock(mutex_);
    if (find_locked(block.bytes, flags, block.device, block)) {
      ++reused_;
      unpoison_host_memory(block.data, block.bytes);
      return block;
    }
  }
  hipError_t const result = ROCARRAY_HIP_CODE(hipHostMalloc, &block.data, block.bytes, flags);
  if (result == hipErrorOutOfMemory && information().blocks != 0) {
    trim(0);
    ROCARRAY_HIP(hipHostMalloc, &block.data, block.bytes, flags);
  } else if (result != hipSuccess) {
    platform::detail::fail(platform::call::call_hipHostMalloc, result,
                           std::source_location::current());
  }
  std::lock_guard const lock(mutex_);
  ++pinned_;
  return block;
}

void pinned_cache::put(pinned_block const& block, pending_uses pending) noexcept {
  // Mapped memory is not cached, because kernels may still use it.
  bool const can_cache = block.bytes <= limit() && (block.flags & hipHostMallocMapped) == 0;
  if (!can_cache) return free_pinned(block, pending);
  try {
    pending.record_events();
    // A pending copy must not be reported as an access by the program.
    if (pending.has_finished()) poison_host_memory(block.data, block.bytes);
    std::list<cached_block> added;
    added.push_back({block, std::move(pending)});
    std::lock_guard const lock(mutex_);
    blocks_.splice(blocks_.end(), added);
    bytes_ += block.bytes;
  } catch (std::exception const& error) {
    base::log(error.what());
    return free_pinned(block, pending);
  }
  trim(limit());
}

void pinned_cache::trim(std::size_t keep) noexcept {
  std::list<cached_block> removed;
  {
    std::lock_guard const lock(mutex_);
    while (bytes_ > keep) {
      bytes_ -= blocks_.front().block.bytes;
      removed.splice(removed.end(), blocks_, blocks_.begin());
    }
  }
  for (cached_block& item : removed) free_pinned(item.block, item.pending);
}

pinned_cache_information pinned_cache::information() {
  std::lock_guard const lock(mutex_);
  return {bytes_, blocks_.size(), limit(), reused_, pinned_};
}

}  // namespace roc::memory

roc::pinned_cache_information roc::pinned_cache() {
  return memory::pinned_cache::instance().information();
}

void roc::trim_pinned_cache(std::size_t keep) noexcept {
  memory::pinned_cache::instance().trim(keep);
}

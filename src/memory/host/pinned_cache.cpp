// SPDX-License-Identifier: MIT
#include "memory/host/pinned_cache.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

#include <roc/error.hpp>

#include "memory/debug/address_sanitizer.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "base/error.hpp"
#include "base/options.hpp"

namespace roc::memory {
namespace {

std::size_t limit() { return base::options().pinned_cache; }

// Eight sizes for each power of two, whole pages at least: so that arrays of like sizes share.
std::size_t rounded(std::size_t bytes) {
  if (bytes > limit()) return bytes;  // not kept anyway
  std::size_t const grain = std::max<std::size_t>(4096, std::bit_floor(bytes) / 8);
  return (bytes + grain - 1) / grain * grain;
}

// A block that is too large by more than a quarter is for somebody else.
bool fits(std::size_t block, std::size_t bytes) {
  return block >= bytes && block - bytes <= bytes / 4;
}

void free_pinned(pinned_block const& block, pending_uses& pending) noexcept {
  try {
    pending.wait();
  } catch (std::exception const& late) {
    base::log(late.what());
  }
  allow_access(block.data, block.bytes);
  ROCARRAY_HIP_QUIET(hipHostFree, block.data);
}

}  // namespace

// Leaked on purpose: arrays with static lifetime are freed after every other static object.
pinned_cache& pinned_cache::instance() {
  static auto* const made = new pinned_cache;
  return *made;
}

// Holding the lock. The tightest of those whose copies are done.
bool pinned_cache::find(std::size_t bytes, unsigned flags, int device, pinned_block& found) {
  auto best = kept_.end();
  for (auto place = kept_.begin(); place != kept_.end(); ++place) {
    pinned_block const& block = place->block;
    if (block.flags != flags || block.device != device || !fits(block.bytes, bytes)) continue;
    if (best != kept_.end() && block.bytes >= best->block.bytes) continue;
    if (place->pending.done()) best = place;
  }
  if (best == kept_.end()) return false;
  found = best->block;
  bytes_ -= found.bytes;
  kept_.erase(best);
  return true;
}

pinned_block pinned_cache::take(std::size_t bytes, unsigned flags) {
  bool const for_all = (flags & hipHostMallocPortable) != 0;
  pinned_block block{nullptr, rounded(bytes), flags, for_all ? -1 : runtime::current_device()};
  {
    std::lock_guard const lock(mutex_);
    if (find(block.bytes, flags, block.device, block)) {
      ++reused_;
      allow_access(block.data, block.bytes);
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

void pinned_cache::give(pinned_block const& block, pending_uses pending) noexcept {
  bool const may_be_kept = block.bytes <= limit() && (block.flags & hipHostMallocMapped) == 0;
  if (!may_be_kept) return free_pinned(block, pending);
  try {
    pending.settle();
    // A copy on its way must not be taken for an access by the program.
    if (pending.done()) forbid_access(block.data, block.bytes);
    std::list<kept> fresh;
    fresh.push_back({block, std::move(pending)});
    std::lock_guard const lock(mutex_);
    kept_.splice(kept_.end(), fresh);
    bytes_ += block.bytes;
  } catch (std::exception const& late) {
    base::log(late.what());
    return free_pinned(block, pending);
  }
  trim(limit());
}

void pinned_cache::trim(std::size_t keep) noexcept {
  std::list<kept> leaving;
  {
    std::lock_guard const lock(mutex_);
    while (bytes_ > keep) {
      bytes_ -= kept_.front().block.bytes;
      leaving.splice(leaving.end(), kept_, kept_.begin());
    }
  }
  for (kept& each : leaving) free_pinned(each.block, each.pending);
}

pinned_cache_information pinned_cache::information() {
  std::lock_guard const lock(mutex_);
  return {bytes_, kept_.size(), limit(), reused_, pinned_};
}

}  // namespace roc::memory

roc::pinned_cache_information roc::pinned_cache() {
  return memory::pinned_cache::instance().information();
}

void roc::trim_pinned_cache(std::size_t keep) noexcept {
  memory::pinned_cache::instance().trim(keep);
}

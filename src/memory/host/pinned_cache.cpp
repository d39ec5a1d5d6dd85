// SPDX-License-Identifier: MIT
#include "memory/host/pinned_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include <roc/error.hpp>

#include "base/error.hpp"
#include "base/no_destructor.hpp"
#include "base/options.hpp"
#include "memory/debug/address_sanitizer.hpp"
#include "memory/debug/leaks.hpp"
#include "memory/device/memory_kind.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {
namespace {

std::size_t pinned_limit() { return base::options().pinned_cache; }

// Rounds up to one of eight sizes for each power of two, and to whole pages, so that arrays of
// similar sizes can share blocks. Blocks that cannot be cached are not rounded.
std::size_t pinned_block_bytes(std::size_t bytes) {
  if (bytes > pinned_limit()) return bytes;
  std::size_t const grain = std::max<std::size_t>(4096, std::bit_floor(bytes) / 8);
  return (bytes + grain - 1) / grain * grain;
}

// Returns false for a block that is more than a quarter too large: a larger array may need it.
bool fits(std::size_t block_bytes, std::size_t bytes) {
  return block_bytes >= bytes && block_bytes - bytes <= bytes / 4;
}

// Returns true if no work uses the block: no recorded one, and none of failed calls.
bool has_finished(pinned_block& block) {
  return block.remove_finished_uses() && !runtime::has_abandoned_work();
}

// Blocks until the uses of the block have finished and frees its memory. Leaks it if that cannot be
// waited for. Logs errors.
void free_pinned(std::unique_ptr<pinned_block> block) noexcept {
  bool const is_idle = block->take_uses().wait_quietly();
  if (!runtime::wait_for_abandoned_work() || !is_idle) {
    log_leaked_host_memory(block->data, block->bytes);
    return;
  }
  unpoison_host_memory(block->data, block->bytes);
  platform::retry_then_log([&] { ROCARRAY_HIP(hipHostFree, block->data); });
}

}  // namespace

pinned_cache& pinned_cache::instance() {
  static base::no_destructor<pinned_cache> cache;
  return *cache;
}

std::unique_ptr<pinned_block> pinned_cache::remove_locked(
    std::unique_ptr<pinned_block>& link) noexcept {
  auto removed = std::move(link);
  link = std::move(removed->next);
  if (link == nullptr) end_ = &link;
  bytes_ -= removed->bytes;
  --blocks_;
  return removed;
}

std::unique_ptr<pinned_block> pinned_cache::find_locked(pinned_block const& wanted) noexcept {
  std::unique_ptr<pinned_block>* best = nullptr;
  for (auto* link = &oldest_; *link != nullptr; link = &(*link)->next) {
    pinned_block& block = **link;
    if (block.flags != wanted.flags || block.device != wanted.device) continue;
    if (!fits(block.bytes, wanted.bytes)) continue;
    if (best != nullptr && block.bytes >= (*best)->bytes) continue;
    bool is_idle = false;
    platform::log_if_throws([&] { is_idle = has_finished(block); });
    if (is_idle) best = link;
  }
  return best == nullptr ? nullptr : remove_locked(*best);
}

detail::resource_block pinned_cache::take(std::size_t bytes, unsigned flags) {
  bool const is_portable = (flags & hipHostMallocPortable) != 0;
  int const device = is_portable ? -1 : runtime::current_device();
  auto block = std::make_unique<pinned_block>(pinned_block_bytes(bytes), flags, device);
  bool is_reused = false;
  {
    std::lock_guard const lock(mutex_);
    if (auto found = find_locked(*block)) {
      block = std::move(found);
      is_reused = true;
    }
  }
  if (is_reused) {
    unpoison_host_memory(block->data, block->bytes);
  } else {
    hipError_t const result = ROCARRAY_HIP_CODE(hipHostMalloc, &block->data, block->bytes, flags);
    if (result == hipErrorOutOfMemory && information().blocks != 0) {
      trim_to(0);
      ROCARRAY_HIP(hipHostMalloc, &block->data, block->bytes, flags);
    } else if (result != hipSuccess) {
      platform::detail::fail(platform::call::call_hipHostMalloc, result,
                             std::source_location::current());
    }
  }
  pinned_block& taken = *block;
  try {
    std::lock_guard const lock(mutex_);
    ++(is_reused ? reused_ : pinned_);
    used_.emplace(taken.data, nullptr).first->second.swap(block);
    ++allocations_;
    used_bytes_ += taken.bytes;
    peak_ = std::max(peak_, used_bytes_);
  } catch (...) {
    put(std::move(block));
    throw;
  }
  return {taken.data, &taken, false};
}

std::unique_ptr<pinned_block> pinned_cache::remove_used(void const* data) noexcept {
  std::lock_guard const lock(mutex_);
  auto node = used_.extract(data);
  if (node.empty()) return nullptr;
  used_bytes_ -= node.mapped()->bytes;
  return std::move(node.mapped());
}

void pinned_cache::put(std::unique_ptr<pinned_block> block) noexcept {
  // Mapped memory is not cached, because kernels may still use it.
  bool const can_cache =
      block->bytes <= pinned_limit() && (block->flags & hipHostMallocMapped) == 0;
  // has_finished records an event for each use now, so that later work of its stream is not waited
  // for.
  bool const is_recorded = can_cache && platform::log_if_throws([&] {
                             // A pending copy must not be reported as an access by the program.
                             if (has_finished(*block))
                               poison_host_memory(block->data, block->bytes);
                           });
  if (!is_recorded) return free_pinned(std::move(block));
  {
    std::lock_guard const lock(mutex_);
    bytes_ += block->bytes;
    ++blocks_;
    *end_ = std::move(block);
    end_ = &(*end_)->next;
  }
  trim_to(pinned_limit());
}

void pinned_cache::trim_to(std::size_t keep) noexcept {
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
  return {bytes_, blocks_, pinned_limit(), reused_, pinned_};
}

memory_resource& pinned_cache::resource() {
  std::lock_guard const lock(mutex_);
  memory_resource* const current = current_.get();
  return current == nullptr ? *this : *current;
}

memory_resource& pinned_cache::set_resource(memory_resource* resource) {
  std::lock_guard const lock(mutex_);
  memory_resource* const previous = current_.get();
  current_ = resource == nullptr ? detail::weak_resource_ref() : resource->weak_ref();
  return previous == nullptr ? *this : *previous;
}

void* pinned_cache::do_allocate(std::size_t bytes, stream_ref stream) {
  return do_allocate_block(bytes, stream).data;
}

detail::resource_block pinned_cache::do_allocate_block(std::size_t bytes, stream_ref) {
  return take(bytes, hipHostMallocPortable);
}

void pinned_cache::do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept {
  do_deallocate_block({data}, bytes, stream);
}

void pinned_cache::do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                                       stream_ref stream) noexcept {
  auto removed = remove_used(block.data);
  if (removed == nullptr) {
    char text[240];
    std::snprintf(
        text, sizeof text,
        "pinned_resource().deallocate(%p, %zu bytes): the address was not allocated by "
        "this resource, or was deallocated before: deallocate memory once, with the resource "
        "that allocated it",
        block.data, bytes);
    return base::log_error(text);
  }
  bool const is_recorded = !block.has_prior_work || platform::log_if_throws([&] {
    if (block.record == nullptr) removed->finish_use(runtime::stream_id_of(stream));
    // Set if an adaptor has moved the record to a stream and enqueued work there.
    if (!removed->allocation_stream.is_empty()) removed->finish_use(removed->allocation_stream);
  });
  removed->allocation_stream = {};
  if (!is_recorded && !runtime::synchronize_all_devices_quietly()) {
    return log_leaked_host_memory(removed->data, removed->bytes);
  }
  put(std::move(removed));
}

std::optional<host_memory> pinned_cache::do_host_kind() const noexcept {
  return host_memory::pinned;
}

memory_statistics pinned_cache::do_statistics() const {
  std::lock_guard const lock(mutex_);
  memory_statistics result;
  result.current_bytes = used_bytes_;
  result.peak_bytes = peak_;
  result.current_blocks = used_.size();
  result.allocations = allocations_;
  result.reserved_bytes = used_bytes_ + bytes_;
  result.free_bytes = bytes_;
  for (pinned_block const* block = oldest_.get(); block != nullptr; block = block->next.get()) {
    result.largest_free_bytes = std::max(result.largest_free_bytes, block->bytes);
    if (block->is_used_by_other_streams()) result.pending_bytes += block->bytes;
  }
  return result;
}

void pinned_cache::do_trim() { trim_to(0); }

}  // namespace roc::memory

namespace roc {

memory_resource& pinned_resource() { return memory::pinned_cache::instance().resource(); }

memory_resource* set_pinned_resource(memory_resource* resource, detail::caller at) {
  detail::call_scope const call(__func__, at);
  std::optional<host_memory> const kind =
      resource == nullptr ? host_memory::pinned : resource->host_kind();
  if (kind != host_memory::pinned) {
    throw error(
        std::make_error_code(std::errc::invalid_argument),
        std::string("the memory resource allocates ") + (kind ? memory::name_of(*kind) : "device") +
            " memory, but pinned arrays need memory that is pinned and not mapped; use a resource "
            "of such memory, for example hip_pinned_memory_resource");
  }
  return &memory::pinned_cache::instance().set_resource(resource);
}

pinned_cache_information pinned_cache() { return memory::pinned_cache::instance().information(); }

void trim_pinned_cache(std::size_t keep) noexcept {
  // The first use may fail to create the cache, which is empty then.
  platform::log_if_throws([&] { memory::pinned_cache::instance().trim_to(keep); });
}

}  // namespace roc

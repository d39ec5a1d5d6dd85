// SPDX-License-Identifier: MIT
// The cache of freed pinned memory; see roc/memory/pinned_cache.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <roc/memory/memory_resource.hpp>
#include <roc/memory/pinned_cache.hpp>

#include "memory/device/allocation_record.hpp"

namespace roc::memory {

/// One allocation of hipHostMalloc. Its destructor does not free the memory. It is also the node of
/// the cache's list, so that giving memory back does not allocate.
struct pinned_block final : allocation_record {
  pinned_block(std::size_t block_bytes, unsigned hip_flags, int pinned_device) noexcept
      : bytes(block_bytes), flags(hip_flags), device(pinned_device) {}

  void* data = nullptr;
  std::size_t bytes;
  unsigned flags;  // of hipHostMalloc
  int device;      // the device that the memory is pinned for; -1: all devices

  std::unique_ptr<pinned_block> next = {};  // in the cache
};

/// The default resource of pinned arrays. Its blocks have records: pending work may still use a
/// block that is deallocated, which is reused or freed only after that work. Members are safe to
/// call from any thread.
class pinned_cache final : public memory_resource {
 public:
  /// Returns the one cache of the process, which is never destroyed. The first call allocates, and
  /// throws std::bad_alloc.
  static pinned_cache& instance();

  /// Returns a block of at least `bytes` with these flags of hipHostMalloc: a cached one whose uses
  /// have finished, or a new one. No work uses it. deallocate_block takes it back. Does not wait
  /// for cached blocks unless pinned memory is exhausted; then frees all cached blocks, which
  /// blocks until their uses have finished. Throws out_of_memory, roc::error, std::bad_alloc.
  detail::resource_block take(std::size_t bytes, unsigned flags);
  /// Frees the oldest blocks until at most `keep` bytes are left. Blocks until their uses have
  /// finished. Errors go to the log hook. Memory whose uses could not be waited for is leaked.
  void trim_to(std::size_t keep) noexcept;
  pinned_cache_information information();

  /// Returns the resource of pinned arrays: the one that was set, if it still exists, or this.
  memory_resource& resource();
  /// Sets the resource of pinned arrays; null: this. Returns the previous one.
  memory_resource& set_resource(memory_resource* resource);

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                           stream_ref stream) noexcept override;
  std::optional<host_memory> do_host_kind() const noexcept override;
  memory_statistics do_statistics() const override;
  void do_trim() override;

  /// Takes back a block and its memory, which uses in its record may still use. Caches it, without
  /// blocking; if it cannot be cached, blocks until the uses have finished and frees it. May free
  /// other blocks to stay within the limit, which blocks. Errors go to the log hook. Memory whose
  /// uses could not be waited for is leaked.
  void put(std::unique_ptr<pinned_block> block) noexcept;
  /// Removes a block in use; null if `data` is not the address of one.
  std::unique_ptr<pinned_block> remove_used(void const* data) noexcept;

  // The caller of the functions that end in _locked holds mutex_.

  /// Removes and returns the smallest block that matches `wanted` and whose uses have finished;
  /// null if there is none. Does not block; calls HIP.
  std::unique_ptr<pinned_block> find_locked(pinned_block const& wanted) noexcept;
  /// Removes and returns the block of a link of the list.
  std::unique_ptr<pinned_block> remove_locked(std::unique_ptr<pinned_block>& link) noexcept;

  mutable std::mutex mutex_;              // guards everything below
  std::unique_ptr<pinned_block> oldest_;  // the head of the list of cached blocks
  std::unique_ptr<pinned_block>* end_ = &oldest_;  // the null link at the end of the list
  std::size_t blocks_ = 0;                // in the list
  std::size_t bytes_ = 0;                 // of the blocks in the list
  std::size_t reused_ = 0;                // blocks taken from the cache
  std::size_t pinned_ = 0;                // blocks taken from HIP
  std::size_t allocations_ = 0;           // both, without those that could not be handed out
  std::unordered_map<void const*, std::unique_ptr<pinned_block>> used_;  // by address
  std::size_t used_bytes_ = 0;                                           // of the blocks in used_
  std::size_t peak_ = 0;                                                 // of used_bytes_
  detail::weak_resource_ref current_;  // the resource that was set
};

}  // namespace roc::memory

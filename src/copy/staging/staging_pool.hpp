// SPDX-License-Identifier: MIT
// Bounded memory for pieces of copies in flight: pinned staging memory, and scratch on the device.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <roc/event.hpp>
#include <roc/stream.hpp>

namespace roc::memory {

/// Blocks of one size, cut into leases. A block is used again when the work that was enqueued with
/// its leases is done. At most `max_blocks` exist; then acquiring waits for the oldest.
class staging_pool {
  struct block;

 public:
  /// Who takes leases: copies behind a user's work, whose blocks come back when that is done, or
  /// copies to the device or from it on streams of the library's own, whose blocks always come back
  /// soon. They have pools of their own, so that the latter, which a user's stream may wait for,
  /// never wait for the former.
  enum class holder { behind_work, uploading, downloading };
  /// Who touches a lease's memory: the CPU too, at any time, or work in the order of its stream
  /// alone. That one may have a block again while its earlier work there is pending.
  enum class access { any_time, stream_order };

  /// Allocates a block or throws.
  using allocate_function = void* (*)(std::size_t bytes);

  staging_pool(std::size_t block_bytes, std::size_t max_blocks, holder by,
             allocate_function allocate);
  ~staging_pool();

  /// Part of a block, for work that is enqueued on one stream. Its end records an event there.
  class lease {
   public:
    lease(staging_pool& pool, block& from, std::byte* data, stream_ref stream) noexcept
        : pool_(pool), block_(from), data_(data), stream_(stream) {}
    ~lease();
    lease(lease const&) = delete;
    lease& operator=(lease const&) = delete;

    std::byte* data() const noexcept { return data_; }

   private:
    staging_pool& pool_;
    block& block_;
    std::byte* data_;
    stream_ref stream_;
  };

  /// `bytes` <= block_bytes(). The device of the stream must be current. May wait for other leases'
  /// work and ends: who holds a lease must not call this. Throws out_of_memory only where not even
  /// one block can be had, roc::error for what HIP reports.
  std::unique_ptr<lease> acquire(std::size_t bytes, stream_ref stream,
                                 access how = access::any_time);
  /// The same, but null where it would have to wait.
  std::unique_ptr<lease> try_acquire(std::size_t bytes, stream_ref stream,
                                     access how = access::any_time);

  std::size_t block_bytes() const noexcept { return block_bytes_; }

  /// Staging memory of the current device, and scratch memory on it.
  static staging_pool& staging(holder by);
  static staging_pool& scratch(holder by);

 private:
  struct use {
    stream_ref stream;
    event done;
  };
  struct block {
    std::byte* data = nullptr;
    std::size_t used = 0;
    unsigned leases = 0;     // not ended yet
    bool lost = false;       // its last work could not be marked: never used again
    std::vector<use> uses;   // the last work of every stream since the block was empty
    std::optional<stream_ref> only_of;  // that has it again while earlier work there is pending
  };

  std::unique_ptr<lease> lease_of(block& from, std::size_t bytes, stream_ref stream);
  block* find(std::size_t bytes, stream_ref stream, access how);
  block* grow();
  void wait_for_one(std::unique_lock<std::mutex>& lock);
  void give_back(block& from, stream_ref stream) noexcept;

  std::size_t const block_bytes_;
  std::size_t const max_blocks_;
  holder const by_;
  allocate_function const allocate_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::list<block> blocks_;  // oldest use first
};

}  // namespace roc::memory

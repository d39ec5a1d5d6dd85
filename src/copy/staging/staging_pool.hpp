// SPDX-License-Identifier: MIT
// Pools of bounded memory for the chunks of copies: pinned staging memory, and scratch memory on
// the device.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include <roc/stream.hpp>

#include "memory/device/graph_memory.hpp"
#include "runtime/stream_uses.hpp"

namespace roc::transfer {

class staging_buffer;
using staging_buffer_ptr = std::unique_ptr<staging_buffer>;

/// Memory in blocks of one size, which are divided into buffers. A block is reused after the work
/// that was enqueued with its buffers has finished. If options::staging_limit allows no more
/// blocks, acquire waits for the block that was used longest ago. All functions are thread-safe.
class staging_pool {
 public:
  /// The kind of code that acquires buffers. A device has one pool of each memory for each client.
  /// Buffers used on a user's stream become free when the user's earlier work is done, which may be
  /// never; buffers of the internal streams always become free soon. The pools are separate so that
  /// transfers on internal streams never wait for a user's stream, and that a transfer in one
  /// direction is not slowed down by those in the other one that hold most of the memory.
  enum class client { user_upload, user_download, internal_upload, internal_download };
  /// The client of work within a device or between two.
  static constexpr client device_work = client::user_upload;

  /// How a buffer is accessed. With `immediate` the caller's thread may access it as soon as
  /// acquire returns. With `stream_ordered` only work enqueued on the buffer's stream does, so the
  /// pool may return a block that earlier work of the same stream still uses.
  enum class access { immediate, stream_ordered };

  /// Allocates one block on the current device. Throws out_of_memory or roc::error.
  using allocate_function = void* (*)(std::size_t bytes);

  /// Creates an empty pool; allocates nothing.
  staging_pool(std::size_t block_bytes, client pool_client, allocate_function allocate);
  /// Does not free the blocks. The library's own pools are never destroyed.
  ~staging_pool();

  /// Returns a buffer for work that is enqueued on `stream`. If the stream is captured, the buffer
  /// is memory that belongs to the graph, not to the pool, and the limit does not apply; one buffer
  /// serves all work of the stream that uses it with access::stream_ordered. Blocks until enough
  /// memory is free: until work with other buffers is done, and until other threads release theirs.
  /// To avoid deadlock, a thread that holds a buffer of this pool must not call this.
  /// @param bytes at most block_bytes().
  /// Precondition: the device of `stream` is current. May call HIP, also with the pool's lock held.
  /// Throws out_of_memory if the pool has no usable block and cannot allocate one, and roc::error
  /// for other errors of HIP.
  staging_buffer_ptr acquire(std::size_t bytes, stream_ref stream, access mode = access::immediate);
  /// Does what acquire does, but returns null instead of blocking.
  staging_buffer_ptr try_acquire(std::size_t bytes, stream_ref stream,
                                 access mode = access::immediate);

  /// Returns the bytes of a block, which is the maximum size of a buffer.
  std::size_t block_bytes() const noexcept { return block_bytes_; }

  /// Returns the bytes of all blocks, in use or free. Takes the lock.
  std::size_t size_bytes();
  /// Blocks until the work is done that uses the blocks of all pools of the library, and returns
  /// the number of blocks that cannot be reused after that. For tests. Precondition: no copy runs.
  static std::size_t count_lost_blocks();

  /// Returns the pool of pinned host memory of the current device, with blocks of
  /// options::staging_block bytes. Created by the first call, never destroyed.
  static staging_pool& pinned(client pool_client);
  /// Returns the pool of memory on the current device, with blocks of options::staging_block bytes.
  /// Created by the first call, never destroyed.
  static staging_pool& device_scratch(client pool_client);

 private:
  friend class staging_buffer;

  struct block {
    std::byte* data = nullptr;
    std::size_t used_bytes = 0;           // allocated to buffers since the block was last empty
    unsigned live_buffers = 0;            // buffers not yet released
    bool is_abandoned = false;            // work that is not in `uses` may be pending
    runtime::stream_uses uses;            // by released buffers
    runtime::stream_id exclusive_stream;  // set if reused while work of this stream is pending
  };

  // Returns the most blocks that the options of the calling thread allow.
  std::size_t max_blocks() const noexcept;

  // Returns memory that the graph keeps, for its work. Throws out_of_memory, roc::error.
  staging_buffer_ptr make_graph_buffer(memory::graph_memory& graph, std::size_t bytes,
                                       stream_ref stream, access mode);

  // The functions ending in _locked need mutex_ held.
  // Allocates the next `bytes` of the block, which must be free.
  staging_buffer_ptr make_buffer_locked(block& parent, std::size_t bytes, stream_ref stream);
  // Returns a block with `bytes` free, or null. Polls events; does not block.
  block* find_block_locked(std::size_t bytes, stream_ref stream, access mode);
  // Allocates a block; releases `lock` meanwhile. Returns null if the pool is at its limit, or if
  // memory is exhausted and a block exists that can be waited for.
  block* add_block(std::unique_lock<std::mutex>& lock);
  // Blocks until a block may have become free; releases `lock` while it blocks. Throws
  // out_of_memory if all blocks are abandoned and the devices do not become idle.
  void wait_for_block(std::unique_lock<std::mutex>& lock);
  // Does what count_lost_blocks does, for this pool.
  std::size_t count_lost();
  // See staging_buffer::abandon. Takes the lock.
  void abandon(block& parent) noexcept;
  // Returns a buffer's memory: records an event on `stream` after the buffer's work. Called by the
  // buffer's destructor; takes the lock and calls HIP. Logs errors; if the work could not be
  // recorded, blocks until the stream is idle, and abandons the block if that fails too.
  void release(block& parent, stream_ref stream) noexcept;

  std::size_t const block_bytes_;
  client const client_;
  allocate_function const allocate_;
  std::mutex mutex_;                  // guards the members below
  std::condition_variable released_;  // a block may have become free
  std::list<block> blocks_;           // the block used longest ago comes first
  std::size_t blocks_in_allocation_ = 0;
};

/// Part of a block of a staging_pool, for work on one stream. The destructor records an event on
/// that stream and returns the memory to the pool; it does not block. If the stream is captured,
/// the graph owns the memory, and later work that is captured on the stream may use it.
class staging_buffer {
 public:
  /// Only staging_pool creates buffers: of its own memory, of memory that work on a captured stream
  /// shares, and of memory that nothing else uses.
  staging_buffer(staging_pool& pool, staging_pool::block& parent, std::byte* data,
                 stream_ref stream) noexcept
      : pool_(&pool), block_(&parent), data_(data), stream_(stream) {}
  staging_buffer(memory::graph_memory& graph, memory::graph_memory::scratch& scratch) noexcept
      : graph_(&graph), scratch_(&scratch), data_(scratch.data) {}
  explicit staging_buffer(std::byte* data) noexcept : data_(data) {}
  ~staging_buffer() {
    if (block_ != nullptr) pool_->release(*block_, stream_);
    if (scratch_ != nullptr) graph_->release_scratch(*scratch_);
  }
  staging_buffer(staging_buffer const&) = delete;
  staging_buffer& operator=(staging_buffer const&) = delete;

  std::byte* data() const noexcept { return data_; }
  /// Keeps the buffer's block from being used again while runtime::has_abandoned_work() returns
  /// true: work of other streams may still use the buffer. Precondition: a wait for that work has
  /// failed and was counted in runtime::abandoned_waits. Does not block.
  void abandon() noexcept {
    if (block_ != nullptr) pool_->abandon(*block_);
  }

 private:
  staging_pool* pool_ = nullptr;
  staging_pool::block* block_ = nullptr;  // null if a graph owns the memory
  memory::graph_memory* graph_ = nullptr;
  memory::graph_memory::scratch* scratch_ = nullptr;  // null if the memory is not shared
  std::byte* data_;
  stream_ref stream_;
};

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
// The interface of work that moves through staging memory in chunks: one large copy, or many small
// ones.
#pragma once

#include <cstddef>

#include <roc/stream.hpp>

namespace roc::transfer {

/// The memory of one chunk, and the stream of its device work. Kernels can access the pinned
/// memory. Does not own the memory.
struct staging_slot {
  std::byte* description;  // the kernel's instructions; description_bytes(chunk) bytes, pinned
  std::byte* data;         // the packed bytes; data_bytes(chunk) bytes, pinned
  std::byte* scratch;      // scratch_bytes(chunk) bytes on the device; may be null if that is 0
  stream_ref stream;
  std::size_t item_count = 0;  // items in the description
};

/// A transfer in chunks between host memory and the device. The CPU's work on a chunk is divided
/// into tasks, which several threads may run at the same time.
///
/// The order of calls for one chunk to the device: write_description, pack for every task,
/// enqueue_device_step. From the device: write_description, enqueue_device_step, and after that
/// step is done, unpack for every task. All functions are const and thread-safe for different
/// chunks and tasks. They are called by the thread that submits the copy, by threads of
/// thread_pool, and (pack and unpack only) by host functions of streams and by the thread of
/// staging_driver, where HIP must not be called.
class staged_work {
 public:
  virtual ~staged_work() = default;

  /// Returns the number of chunks, which is not 0.
  virtual std::size_t chunk_count() const noexcept = 0;
  /// Returns the bytes of staging memory for the packed bytes of a chunk.
  virtual std::size_t data_bytes(std::size_t chunk) const noexcept = 0;
  /// Returns the bytes of staging memory for the description of a chunk, which must stay unchanged
  /// until the device work of the chunk is done. Description and data of a chunk together fit into
  /// one block of the staging pool.
  virtual std::size_t description_bytes(std::size_t chunk) const noexcept = 0;
  /// Returns the bytes of scratch memory that the device's step of a chunk needs, at most one block
  /// of the staging pool.
  virtual std::size_t scratch_bytes(std::size_t) const noexcept { return 0; }
  /// Returns the number of tasks into which packing or unpacking a chunk is divided.
  virtual std::size_t task_count(std::size_t chunk) const noexcept = 0;

  /// Returns true if the device executes a kernel for each chunk.
  virtual bool has_kernels() const noexcept = 0;

  /// Writes the description of a chunk to `slot.description` and returns its number of items, which
  /// the caller stores in the slot. A separate step, so that it runs without the lock under which
  /// the device work is enqueued. Calls no HIP function.
  virtual std::size_t write_description(std::size_t, staging_slot const&) const { return 0; }
  /// Runs one task: copies its bytes of the chunk from host memory to `data`, the slot's data.
  /// Calls no HIP function and takes no lock.
  virtual void pack(std::size_t chunk, std::size_t task, std::byte* data) const noexcept = 0;
  /// Runs one task: copies its bytes of the chunk from `data`, the slot's data, to host memory.
  /// Calls no HIP function and takes no lock.
  virtual void unpack(std::size_t chunk, std::size_t task,
                      std::byte const* data) const noexcept = 0;
  /// Enqueues the device's step: the transfer of a packed chunk from staging memory to the device,
  /// or of a chunk from the device to staging memory. Throws roc::error.
  virtual void enqueue_device_step(std::size_t chunk, staging_slot const& slot) const = 0;
};

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
// What goes through staging memory, chunk by chunk: one large copy, or many small ones.
#pragma once

#include <cstddef>

#include <roc/stream.hpp>

#include "copy/staging/staging_pool.hpp"

namespace roc::transfer {

/// Where a chunk is staged: its bytes, and what the device is told about them. Both in pinned
/// memory that kernels reach too.
struct stage {
  std::byte* description;
  std::byte* data;
  stream_ref stream;
  memory::staging_pool::holder by;
  std::size_t items = 0;  // that the description tells of
};

/// All functions may be called by several threads at once, for different chunks or shares.
class staged_work {
 public:
  virtual ~staged_work() = default;
  virtual std::size_t chunks() const noexcept = 0;
  /// Bytes of staging memory that a chunk needs: for its data, and for its description, which must
  /// stay while the work of `send` or `fetch` may read it. Both together fit into one block.
  virtual std::size_t data_bytes(std::size_t chunk) const noexcept = 0;
  virtual std::size_t description_bytes(std::size_t chunk) const noexcept = 0;
  /// Parts of a chunk that the CPU may pack or unpack at the same time.
  virtual std::size_t shares(std::size_t chunk) const noexcept = 0;
  /// Writes the description of a chunk, and returns of how many items it tells: before `send` or
  /// `fetch`, beside which others call HIP.
  virtual std::size_t describe(std::size_t, stage const&) const { return 0; }
  /// Collects a share from host memory.
  virtual void pack(std::size_t chunk, std::size_t share, std::byte* data) const noexcept = 0;
  /// Spreads a share over host memory.
  virtual void unpack(std::size_t chunk, std::size_t share,
                      std::byte const* data) const noexcept = 0;
  /// Enqueues the way from staging memory to the device. False where it needs more memory, there is
  /// none, and it must not wait.
  virtual bool send(std::size_t chunk, stage const& at, bool may_wait) const = 0;
  /// Enqueues the way from the device to staging memory.
  virtual void fetch(std::size_t chunk, stage const& at) const = 0;
};

}  // namespace roc::transfer

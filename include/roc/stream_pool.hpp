// SPDX-License-Identifier: MIT
// A fixed number of streams, handed out in turn.
#pragma once

#include <cstddef>
#include <vector>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Streams made once and used by turns, for work that is to run side by side (rmm:
/// `cuda_stream_pool`). Thread-safe: any thread may take any of them.
///
/// The pool owns the streams: what `get` gives must not be used after the pool has gone. Its
/// destructor does not wait; pending work is still done.
class ROCARRAY_API stream_pool {
 public:
  /// `count` streams on the current device of the calling thread. Throws roc::error for 0, and what
  /// making a stream throws.
  explicit stream_pool(std::size_t count, int priority = 0);
  /// The same, of streams that are not ordered with the legacy default stream by HIP.
  stream_pool(std::size_t count, non_blocking_t, int priority = 0);
  stream_pool(stream_pool const&) = delete;
  stream_pool& operator=(stream_pool const&) = delete;

  /// The next stream, in turn.
  stream_ref get() noexcept;
  /// Stream number `index`, counted round: get(size()) is get(0).
  stream_ref get(std::size_t index) const noexcept;
  /// How many streams.
  std::size_t size() const noexcept { return streams_.size(); }

  /// Waits for every stream of the pool. Throws what stream_ref::synchronize throws; what other
  /// streams' host functions threw is kept for the next call.
  void synchronize() const;

 private:
  std::vector<stream> streams_;
  std::size_t next_ = 0;  // taken through std::atomic_ref
};

}  // namespace roc

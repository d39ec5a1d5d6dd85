// SPDX-License-Identifier: MIT
// A fixed number of streams that are used in turn.
#pragma once

#include <cstddef>
#include <source_location>
#include <vector>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Streams that are created once and used in turn, for work that can run concurrently (rmm:
/// `cuda_stream_pool`). Thread-safe: any thread may use any stream.
///
/// The pool owns its streams: they must not be used after its destruction. The destructor does not
/// block, and pending work is still done.
class ROCARRAY_API stream_pool {
 public:
  /// Creates `count` streams on the current device of the calling thread. Throws roc::error if
  /// `count` is 0, and what the constructor of stream throws.
  explicit stream_pool(std::size_t count, int priority = 0,
                       detail::caller at = std::source_location::current());
  /// Creates `count` streams that HIP does not order with the legacy default stream.
  stream_pool(std::size_t count, non_blocking_t, int priority = 0,
              detail::caller at = std::source_location::current());
  stream_pool(stream_pool const&) = delete;
  stream_pool& operator=(stream_pool const&) = delete;

  /// Returns the next stream, in turn.
  stream_ref get() noexcept;
  /// Returns stream number `index` modulo size().
  stream_ref get(std::size_t index) const noexcept;
  /// Returns the number of streams.
  std::size_t size() const noexcept { return streams_.size(); }

  /// Blocks until the work of every stream has finished. Throws what stream_ref::synchronize
  /// throws; exceptions of other streams' host functions are kept for the next call.
  void synchronize(detail::caller at = std::source_location::current()) const;

 private:
  std::vector<stream> streams_;
  std::size_t next_ = 0;  // accessed through std::atomic_ref
};

}  // namespace roc

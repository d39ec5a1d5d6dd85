// SPDX-License-Identifier: MIT
// The memory that the work of a graph uses.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_range.hpp"
#include "memory/device/allocation_record.hpp"
#include "memory/device/allocation_watch.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_uses.hpp"

namespace roc::memory {

class host_uses;

/// The memory that the calls use which a capture has recorded. Each launch of the graph is a use of
/// it. The graph does not keep arrays of the program alive: a launch fails if one has been freed.
/// Members are safe to call from any thread.
class graph_memory final : public runtime::stream_capture {
 public:
  /// Creates the memory of a graph on a device. The last owner blocks until all launches have
  /// finished, because they use what the graph keeps alive. If that fails, the memory is never
  /// freed. Throws std::bad_alloc.
  static std::shared_ptr<graph_memory> make(int device);

  /// Adds the allocation that contains `address`. Ignores null and unknown addresses. Throws
  /// std::bad_alloc.
  void add_device(void const* address);
  /// Adds the allocation of a record, which is alive or has ended as `token` tells. Does not access
  /// the record. Throws std::bad_alloc.
  void add_device(allocation_record* record, void const* address, allocation_token token);

  struct host_use {
    base::byte_range range;           // as the copy or fill accesses it
    std::weak_ptr<host_uses> memory;  // of the array or registration
    bool is_write;
  };
  /// Adds a use of an array or registration. Throws std::bad_alloc.
  void add_host(host_use added);
  /// Adds host memory that the host table does not know, because other code has pinned it: nothing
  /// is known of its lifetime. Throws std::bad_alloc.
  void add_untracked(base::byte_range range, bool is_write);

  /// Memory for copies that are captured on one stream, one after the other. The graph keeps it.
  struct scratch {
    detail::native_stream* stream;
    void const* kind;  // identifies the kind of memory
    std::size_t bytes;
    std::byte* data;
    bool is_in_use;
  };
  /// Returns scratch memory of the captured stream with at least `bytes` that no call is using, for
  /// work that comes after all captured work that used it. Null if there is none. The caller calls
  /// release_scratch after it has enqueued the work.
  scratch* try_acquire_scratch(detail::native_stream* stream, void const* kind, std::size_t bytes);
  /// Adds scratch memory, which the caller uses until it calls release_scratch. Throws
  /// std::bad_alloc.
  scratch& add_scratch(scratch const& added);
  void release_scratch(scratch& released) noexcept;

  /// Throws lifetime_error if memory of the graph has been freed.
  void check_alive() const;
  /// Returns the records of the device memory; check_alive must have succeeded.
  std::vector<allocation_record*> records() const;
  std::vector<host_use> host() const;
  std::vector<base::byte_range> untracked(bool are_written) const;

  /// Calls `launch`, which enqueues the graph on `stream`, and records the launch, which the last
  /// owner waits for. The stream waits for earlier launches first, which use the same memory: not
  /// every runtime orders the launches on several streams, and none orders those of several
  /// graph_execs of one graph. Calls HIP with the mutex held. Throws what `launch` and stream_uses
  /// throw.
  template <class F>
  void add_launch(runtime::stream_id const& stream, F const& launch) {
    std::lock_guard const lock(mutex_);
    launches_.order_before(stream);
    launches_.begin(stream);  // before the launch: if anything throws after it, it is recorded
    launch();
    // With an event, so that later work of the stream is not waited for.
    runtime::stream_uses last;  // comes after all others
    last.add_with_event(stream);
    launches_ = std::move(last);
  }
  /// Blocks until all launches have finished. Throws roc::error if they may be pending.
  void wait_for_launches();
  /// Blocks until all launches have finished. Returns false, after it has logged errors, if they
  /// may be pending: what they use must then never be freed.
  bool wait_for_launches_quietly() noexcept;

 private:
  using stream_capture::stream_capture;

  struct device_memory {
    void const* address;
    allocation_token is_alive;
  };

  mutable std::mutex mutex_;  // guards the members below
  std::map<allocation_record*, device_memory> device_;
  std::map<std::weak_ptr<host_uses>, host_use, std::owner_less<>> host_;
  std::vector<base::byte_range> untracked_reads_;
  std::vector<base::byte_range> untracked_writes_;
  std::list<scratch> scratch_;
  runtime::stream_uses launches_;
};

/// Returns the memory of the capture that the stream belongs to, or null; see capture_of.
inline graph_memory* captured_memory_of(stream_ref stream) {
  return static_cast<graph_memory*>(runtime::capture_of(stream));
}

}  // namespace roc::memory

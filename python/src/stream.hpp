// SPDX-License-Identifier: MIT
// Streams, events, and the Python objects that pending work uses.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <roc/c.h>

#include "call.hpp"

namespace roc::python {

/// Owns a handle of a stream. Shared by the Python object and by the memory that was allocated on
/// the stream, which is freed in its order.
class stream_handle {
 public:
  /// Takes over a handle; ROCARRAY_DEFAULT_STREAM stands for the default stream.
  explicit stream_handle(roc_stream stream) noexcept : value_(stream) {}
  stream_handle(stream_handle const&) = delete;
  stream_handle& operator=(stream_handle const&) = delete;
  ~stream_handle() {  // does not block
    call_quietly([this] { roc_stream_destroy(value_); });
  }

  roc_stream get() const noexcept { return value_; }

 private:
  roc_stream value_;
};

/// Owns a handle of an event.
class event_handle {
 public:
  /// Creates an event on a device; -1: the current one. Throws.
  explicit event_handle(int device = -1, bool is_timed = false);
  event_handle(event_handle&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  event_handle& operator=(event_handle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~event_handle() {  // does not block
    if (value_ != nullptr) call_quietly([this] { roc_event_destroy(value_); });
  }

  roc_event get() const noexcept { return value_; }

 private:
  roc_event value_ = nullptr;
};

/// Makes later work of `after` wait for the work enqueued so far on `before`, a stream of `device`.
/// Does not block. Throws, as the Python function `name`.
void order_streams(char const* name, roc_stream before, roc_stream after, int device);

/// Python's Stream.
class stream {
 public:
  explicit stream(std::shared_ptr<stream_handle> handle) noexcept : handle_(std::move(handle)) {}
  /// Creates a stream on the current device. Throws.
  static stream create(int priority, bool is_non_blocking);
  static stream default_stream();
  static stream per_thread_stream();
  /// Borrows a stream that other code created.
  static stream external(std::uintptr_t native);

  /// Returns the handle. Throws ValueError after close().
  std::shared_ptr<stream_handle> const& handle() const;
  void close() noexcept { handle_.reset(); }
  void synchronize() const;
  bool query() const;
  std::uintptr_t native() const;
  int device() const;

 private:
  std::shared_ptr<stream_handle> handle_;
};

/// The argument `stream` of a function: a Stream, or None or 0 for a call without a stream. Throws
/// TypeError for other objects, and ValueError for a stream that was closed.
class stream_argument {
 public:
  explicit stream_argument(py::handle object);
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// Returns the handle of the stream; that of the default stream if there is none.
  roc_stream get() const noexcept {
    return handle_ == nullptr ? ROCARRAY_DEFAULT_STREAM : handle_->get();
  }
  std::shared_ptr<stream_handle> const& handle() const noexcept { return handle_; }

 private:
  std::shared_ptr<stream_handle> handle_;  // null without a stream
};

/// Keeps Python objects alive until the work that uses them has finished, and tells other libraries
/// when that is. One object for the process; the GIL guards it, and is released for calls of HIP.
class pending_work {
 public:
  static pending_work& instance();

  /// Calls enqueue(stream), which enqueues work that uses the owners and returns a status, without
  /// the GIL. The owners live until that work has finished. Throws, as the Python function `name`.
  template <class F>
  void enqueue(char const* name, std::shared_ptr<stream_handle> const& stream,
               std::vector<py::object> owners, F enqueue) {
    release_finished();
    roc_stream const target = stream->get();
    // Added first: after the work was enqueued, nothing may fail. If the interpreter ends, this
    // thread may also be stopped in status_of: the entry then keeps the owners alive.
    identity const added = add(name, stream, std::move(owners));
    progress reached = progress::finished;  // nothing was enqueued
    roc_status const status = status_of(name, [&] {
      roc_status result = enqueue(target);
      if (result != ROCARRAY_SUCCESS) return result;
      result = roc_event_record(added.done, target);
      if (result == ROCARRAY_SUCCESS) {
        reached = progress::pending;
      } else if (roc_stream_synchronize(target) != ROCARRAY_SUCCESS) {
        reached = progress::unknown;
      }
      return result;
    });
    auto const removed = end_call(added, reached);  // destroyed after the error was read
    check(status);
  }

  /// Releases the objects of work that has finished. Does not block. If earlier work of the same
  /// stream is pending, objects of later work may be kept until a call after it has finished.
  void release_finished();
  /// Makes later work of `consumer`, a valid handle, wait for all pending work. Does not block.
  /// Throws, as the Python function `name`.
  void order_before(char const* name, roc_stream consumer);
  /// Blocks until the work enqueued so far has finished, and releases its objects. Called when the
  /// interpreter ends.
  void wait_all();

 private:
  struct entry {
    event_handle done;
    std::shared_ptr<stream_handle> stream;
    std::vector<py::object> owners;
    bool is_recorded = false;  // false during the call that enqueues the work
  };
  using serial_number = std::uint64_t;
  using queue = std::map<serial_number, entry>;
  // The native stream and its device: every device has its own default stream. Not the handle of
  // the stream: a program may make a new one for each call.
  using queue_key = std::pair<void*, int>;

  enum class progress { pending, finished, unknown };
  /// Names an entry without referring to it: other threads may remove it while a call of HIP runs
  /// without the GIL. The library does not reuse the handle `done` for another event.
  struct identity {
    queue_key key;
    serial_number serial;
    roc_event done;
    progress reached = progress::pending;
  };
  using nodes = std::vector<queue::node_type>;

  /// Adds an entry that is not recorded.
  identity add(char const* name, std::shared_ptr<stream_handle> const& stream,
               std::vector<py::object> owners);
  /// Marks an added entry as recorded if its work is pending. Otherwise removes it, and returns it
  /// if its work has finished. Does not throw.
  queue::node_type end_call(identity const& added, progress reached) noexcept;
  /// Returns the recorded entries of all queues: of each queue, at most the first `limit`.
  std::vector<identity> recorded(std::size_t limit) const;
  /// Removes an entry from its queue. Returns an empty node if another thread has done it.
  queue::node_type extract(identity const& item) noexcept;
  /// Removes the entries that are not pending, and appends those that have finished to `finished`,
  /// whose destruction may run Python code. `finished` has the capacity. Returns true if there were
  /// such entries.
  bool remove(std::vector<identity> const& items, nodes& finished) noexcept;
  /// Asks HIP how far an entry's work is. Called without the GIL.
  static progress query(roc_event done) noexcept;

  // The entries of a queue need not be in the order of the stream: several threads may enqueue to
  // it. So an entry is known to have finished only by its own event.
  std::map<queue_key, queue> queues_;
  // Entries of which HIP does not tell when their work has finished, because it was captured in a
  // graph that may be launched at any time, or because HIP has failed. Never released.
  queue unknown_;
  serial_number last_serial_ = 0;
};

/// Adds the classes and functions of this file to the module.
void define_streams(py::module_& module);

}  // namespace roc::python

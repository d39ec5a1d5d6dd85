// SPDX-License-Identifier: MIT
// Streams, events, and the Python objects that pending work uses.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <deque>
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
  ~stream_handle() { roc_stream_destroy(value_); }  // does not block

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
  ~event_handle() { roc_event_destroy(value_); }  // does not block

  roc_event get() const noexcept { return value_; }

 private:
  roc_event value_ = nullptr;
};

/// Makes later work of `after` wait for the work enqueued so far on `before`, a stream of `device`.
/// Does not block. Throws.
void order_streams(roc_stream before, roc_stream after, int device);

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
/// when that is. One object for the process; the GIL guards it.
class pending_work {
 public:
  static pending_work& instance();

  /// Calls enqueue(stream), which enqueues work that uses the owners and returns a status, without
  /// the GIL. The owners live until that work has finished. Throws, as the Python function `name`.
  template <class F>
  void enqueue(char const* name, std::shared_ptr<stream_handle> const& stream,
               std::vector<py::object> owners, F enqueue) {
    // Created first: after the work was enqueued, nothing but the record may fail.
    roc_stream const target = stream->get();
    int const device = device_of(target);
    entry added{event_handle(device), stream, std::move(owners)};
    roc_event const done = added.done.get();
    call(name, [&] {
      roc_status const status = enqueue(target);
      if (status != ROCARRAY_SUCCESS) return status;
      roc_status const recorded = roc_event_record(done, target);
      // Without the event nothing would keep the objects alive long enough.
      if (recorded != ROCARRAY_SUCCESS) roc_stream_synchronize(target);
      return recorded;
    });
    add(device, std::move(added));
  }

  /// Releases the objects of work that has finished. Does not block. Objects of work that was
  /// entered after work that is pending may be kept until that has finished, too.
  void release_finished();
  /// Makes later work of `consumer` wait for all pending work. Does not block. Throws.
  void order_before(roc_stream consumer);
  /// Blocks until all work has finished and releases its objects. Called when the interpreter ends.
  void wait_all();

 private:
  struct entry {
    event_handle done;
    std::shared_ptr<stream_handle> stream;
    std::vector<py::object> owners;
  };
  using queue = std::deque<entry>;

  static int device_of(roc_stream stream);
  void add(int device, entry added);
  /// Moves the entries whose work has finished to `finished`, whose destruction may run Python
  /// code.
  static void take_finished(queue& entries, std::vector<entry>& finished);

  // Every device has its own default stream. The entries of a queue need not be in the order of the
  // stream: several threads may enqueue to it, and a thread enters its work after it has enqueued
  // it. So an entry is known to have finished only by its own event.
  std::map<std::pair<roc_stream, int>, queue> queues_;
};

/// Adds the classes and functions of this file to the module.
void define_streams(py::module_& module);

}  // namespace roc::python

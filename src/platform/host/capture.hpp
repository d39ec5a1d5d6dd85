// SPDX-License-Identifier: MIT
// Captures: while a stream is captured, its work is not run but becomes nodes of a graph.
//
// A capture begins with one stream. Another stream joins it by waiting for an event that was
// recorded in the capture, and must be joined back by an event before the capture ends. A call that
// a capture does not allow invalidates it, as on a device. There are no memory nodes:
// stream-ordered allocation on a captured stream is not supported.
//
// Under the rules of ROCm, a capture that is invalid or not joined does not end: its streams stay
// captured. If it is invalid, another capture that begins with the same stream, and ends, ends it.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "platform/host/access_checker.hpp"
#include "platform/host/accessed_memory.hpp"
#include "platform/host/api.hpp"

namespace roc::host_hip {

/// Thrown by a function that the capture of a stream does not allow; api_call returns the code.
struct capture_error {
  hipError_t code;
};

/// The operations of a capture, in an order in which they can run one after the other. Constant
/// after the capture has ended.
struct graph_object {
  struct node {
    char const* kind;                       // such as "copy"
    std::function<void()> work;             // runs at each launch
    std::vector<std::size_t> dependencies;  // indices of earlier nodes
  };
  struct access {
    char const* kind;
    accessed_memory memory;
  };
  std::vector<node> nodes;
  std::vector<access> accesses;  // by the nodes, if the access checker is on

  /// Runs all nodes.
  void run() const;
};

/// A capture that has begun. The mutex of stream_captures protects all members.
struct stream_capture;

/// A position in a capture: that of a recorded event.
struct captured_point {
  std::shared_ptr<stream_capture> capture;
  std::vector<std::size_t> nodes;  // the last ones before the event
};

/// A stream as the captures know it.
struct captured_stream {
  void const* key;  // identifies the stream
  int device;
  bool is_blocking;  // synchronizes with the legacy default stream
};

/// All captures of the process. Members are safe to call from any thread; none blocks on work.
class stream_captures {
 public:
  static stream_captures& instance();

  /// Returns true if any stream is captured. Takes no lock.
  bool is_any_active() const noexcept { return active_.load(std::memory_order_relaxed) != 0; }
  hipError_t begin(captured_stream const& stream, hipStreamCaptureMode mode);
  /// Ends the capture that began with the stream, and sets `graph` if it is valid. Under the rules
  /// of ROCm, a capture that is not valid does not end, and must not be ended again.
  hipError_t end(void const* key, std::shared_ptr<graph_object const>& graph);

  struct information {
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    unsigned long long id = 0;
    bool has_failed_to_end = false;  // under the rules of ROCm: must not be ended again
  };
  information query(void const* key);
  /// Returns true if a stream of the device is captured that synchronizes with the legacy default
  /// stream, whose state cannot be queried then.
  bool is_default_stream_ordered(int device);

  /// Adds an operation of a captured stream, and returns true; returns false if the stream is not
  /// captured. Throws capture_error if the capture is invalid, std::bad_alloc.
  bool add(void const* key, char const* kind, std::function<void()> work);
  /// Does what track_work does for work that is about to be enqueued on a stream. If the stream is
  /// captured, the launches of the graph track the work, and the result is null.
  tracked_work track(void const* key, char const* kind, hipStream_t stream,
                     std::initializer_list<accessed_memory> memory = {});
  /// Returns the position of a captured stream, or null if the stream is not captured.
  std::shared_ptr<captured_point const> point(void const* key);
  /// Makes a stream wait for a position: it joins that capture. Throws capture_error if the capture
  /// has ended, or the stream belongs to another one.
  void join(captured_stream const& stream, captured_point const& awaited);
  /// To be called when a stream is destroyed: another one may get its key. If it is captured, it
  /// leaves the capture, which becomes invalid. If the capture began with it, the capture ends.
  void forget(void const* key) noexcept;

  // The following throw capture_error, after invalidating the capture.

  /// If the stream is captured: the call is not allowed for it, for example a synchronization.
  void refuse(void const* key, hipError_t code = hipErrorStreamCaptureUnsupported);
  /// If a blocking stream of the device is captured: the call would order it with the legacy
  /// default stream.
  void refuse_implicit(int device);
  /// If any stream of the device is captured; under the rules of ROCm 6, of any device.
  void refuse_device(int device);
  /// If the mode of a capture does not allow calls in this thread that may synchronize, such as
  /// hipMalloc.
  void refuse_unsafe_call();
  /// If the position is in a capture: threads cannot wait for it.
  static void refuse_wait(captured_point const* point);

 private:
  struct participant {
    captured_stream stream;
    std::shared_ptr<stream_capture> capture;
    std::vector<std::size_t> last;  // nodes
  };

  std::mutex mutex_;
  std::map<void const*, participant> streams_;
  std::atomic<unsigned> active_ = 0;  // the size of streams_
  unsigned long long next_id_ = 1;
};

}  // namespace roc::host_hip

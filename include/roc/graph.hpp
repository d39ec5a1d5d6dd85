// SPDX-License-Identifier: MIT
// Graphs: work that is captured once and launched many times, at the cost of one call.
#pragma once

#include <memory>
#include <source_location>
#include <utility>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace memory {
class graph_memory;
}

namespace detail {

struct native_graph;       // a hipGraph_t points to one
struct native_graph_exec;  // a hipGraphExec_t points to one

class graph_capture;

}  // namespace detail

/// Work that roc::capture has recorded (hipGraph_t). Move-only. It cannot be launched itself: make
/// a graph_exec of it.
///
/// *Lifetime:* may be destroyed before the graph_execs that were made of it.
class ROCARRAY_API graph {
 public:
  ~graph();
  /// Takes over the graph of `other`; any further use of `other` throws lifetime_error.
  graph(graph&& other) noexcept;
  /// Destroys the current graph and takes over that of `other`.
  graph& operator=(graph&& other) noexcept;

  /// Returns the handle that native converts. Throws lifetime_error if the graph was moved from.
  detail::native_graph* handle() const;

 private:
  friend class detail::graph_capture;
  friend class graph_exec;
  graph(detail::native_graph* handle, std::shared_ptr<memory::graph_memory> memory) noexcept
      : handle_(handle), memory_(std::move(memory)) {}

  detail::native_graph* handle_;
  std::shared_ptr<memory::graph_memory> memory_;
};

/// A graph that is ready to be launched, any number of times (hipGraphExec_t). Move-only. Distinct
/// objects may be used from any thread.
///
/// *Lifetime:* a graph does not keep arrays of the program alive: a launch throws lifetime_error if
/// one of them has been freed, or deregistered. It keeps what was allocated during the capture: the
/// staging memory of copies, the functions that run on the host, and arrays and images made on the
/// captured stream, whose memory stays allocated until the graph and its graph_execs are destroyed.
/// The destructor blocks until all launches have finished, but not for later work of their streams.
class ROCARRAY_API graph_exec {
 public:
  /// Instantiates `source` (hipGraphInstantiate). Throws roc::error, out_of_memory, lifetime_error.
  /// Not allowed in host functions of streams, and neither are launch and update.
  explicit graph_exec(graph const& source, detail::caller at = std::source_location::current());
  ~graph_exec();
  /// Takes over the graph of `other`; any further use of `other` throws lifetime_error.
  graph_exec(graph_exec&& other) noexcept;
  /// Destroys the current graph, as the destructor does, and takes over that of `other`.
  graph_exec& operator=(graph_exec&& other) noexcept;

  /// Runs the graph after all work enqueued earlier on its device and on the devices of its arrays,
  /// and after pending uses of its host memory; blocks until it is complete.
  ///
  /// @throws lifetime_error if memory that the graph uses has been freed; nothing was enqueued then
  /// @throws roc::error for errors of HIP
  /// @throws what a host function of the graph threw
  void launch(detail::caller at = std::source_location::current());
  /// Enqueues the graph on `stream`, which belongs to the device of the capture (hipGraphLaunch).
  /// The launch reads and writes the arrays as the captured calls would: copies move the bytes that
  /// the arrays have when the launch runs. Launches of the graph_execs of one graph run one after
  /// the other.
  ///
  /// An exception of a host function of the graph is thrown by the next synchronization of the
  /// stream.
  ///
  /// @throws lifetime_error if memory that the graph uses has been freed; nothing was enqueued then
  /// @throws roc::error for errors of HIP, and if `stream` is captured
  void launch(stream_ref stream, detail::caller at = std::source_location::current());

  /// Makes later launches run `source`, for example the same calls with other arrays and other
  /// values. Blocks until pending launches have finished. If the runtime can change the nodes in
  /// place (hipGraphExecUpdate), this costs less than a new graph_exec; else `source` is
  /// instantiated anew: always on AMD, and if the graphs consist of different calls.
  ///
  /// @throws roc::error for errors of HIP, out_of_memory, lifetime_error; the graph_exec is then
  ///   unchanged
  void update(graph const& source, detail::caller at = std::source_location::current());

  /// Returns the handle that native converts. Throws lifetime_error if this was moved from.
  detail::native_graph_exec* handle() const;

 private:
  void launch_on(stream_ref const* stream);
  void destroy() noexcept;

  detail::native_graph_exec* handle_ = nullptr;
  std::shared_ptr<memory::graph_memory> memory_;
};

namespace detail {

/// A capture in progress. The destructor ends and discards it if `end` was not called.
class ROCARRAY_API graph_capture {
 public:
  /// Begins to capture a new non-blocking stream of the current device. Throws roc::error.
  explicit graph_capture(caller at);
  ~graph_capture();
  graph_capture(graph_capture const&) = delete;
  graph_capture& operator=(graph_capture const&) = delete;

  stream_ref stream() const noexcept;
  /// Ends the capture, after it has joined all streams that joined it by roc::stream_ref::wait.
  /// Throws roc::error if a call has invalidated the capture, or if another stream was not joined.
  graph end(caller at);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace detail

/// Calls `function(stream)` and returns a graph of the work that it enqueues on `stream`, and on
/// non-blocking streams that wait for events recorded there. The work is not run. When `function`
/// returns or throws, the other streams leave the capture; their last work need not be joined back.
///
/// Copies, fills, batches, for_each, kernels and host functions can be captured; of host memory,
/// only what is pinned, registered, mapped or managed. What cannot be captured throws roc::error in
/// `function` and leaves the capture valid. If `function` throws, the capture is discarded.
///
/// `stream` belongs to the library and is valid until `function` returns. It is a non-blocking
/// stream of the current device, so that other threads may use the device, with and without
/// streams, meanwhile. It can neither be synchronized nor queried, and calls of `function` without
/// a stream throw.
///
/// @param function called once, with a stream_ref
/// @throws roc::error if a call has invalidated the capture, if `function` caught the error of a
///   call of which a part had been captured, or if a stream joined by calls of HIP alone and was
///   not joined back
/// @throws what `function` throws
///
/// *Lifetime:* a stream that has joined the capture and was not made by the library must not be
/// destroyed before `function` returns.
///
/// (hipStreamBeginCapture, hipStreamEndCapture; torch: `torch.cuda.graph`)
template <class F>
[[nodiscard]] graph capture(F&& function, detail::caller at = std::source_location::current()) {
  detail::graph_capture recording(at);
  std::forward<F>(function)(recording.stream());
  return recording.end(at);
}

}  // namespace roc

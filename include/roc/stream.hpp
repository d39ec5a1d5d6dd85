// SPDX-License-Identifier: MIT
// Streams: owning (stream), borrowed (stream_ref), and a guard that synchronizes at scope end.
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>

namespace roc {

class event_base;
class stream_ref;

namespace detail {

struct native_stream;  // a hipStream_t points to one; roc/native.hpp converts

/// How a stream is ordered with the legacy default stream.
enum class stream_kind : unsigned char {
  default_stream,  // the legacy default stream of the device that is current at the time of use
  blocking,        // ordered with the legacy default stream by HIP
  non_blocking,    // not ordered with it: the library keeps an event of its last work there
  none,            // moved from
};

/// A function without its type. `run` and `destroy` are called with `closure`, once each, on a
/// thread of the runtime.
struct host_function {
  void (*run)(void* closure);
  void (*destroy)(void* closure) noexcept;
  void* closure;
};

template <class F>
host_function make_host_function(F&& function) {
  using closure_type = std::decay_t<F>;
  static_assert(std::is_invocable_v<closure_type&>,
                "rocarray: a host function is called without arguments");
  return {[](void* closure) { (*static_cast<closure_type*>(closure))(); },
          [](void* closure) noexcept { delete static_cast<closure_type*>(closure); },
          new closure_type(std::forward<F>(function))};
}

/// Enqueues the function. Takes ownership of it, also if this throws. Throws roc::error and
/// std::bad_alloc.
ROCARRAY_API void launch_host_function(stream_ref stream, host_function function);

/// Blocks until the work enqueued on `stream` so far has finished; if it is known to have been
/// destroyed, until all devices are idle. `device` is that of the default stream. Exceptions of
/// host functions stay with the stream. Throws roc::error, after it has tried every wait of HIP.
ROCARRAY_API void wait_for_stream(stream_ref stream, int device);

}  // namespace detail

/// Synchronizes a stream at the end of a scope, also while an exception unwinds it. Returned by
/// stream_ref::auto_synchronize (numba: `stream.auto_synchronize`). Move-only.
///
/// The destructor blocks until the work of the stream has finished. It never throws: errors, and
/// exceptions that host functions of the stream threw, go to the log hook. `synchronize` does the
/// same early and can throw; the destructor then does nothing.
class [[nodiscard]] ROCARRAY_API synchronize_guard {
 public:
  /// Guards `stream`, which must outlive the guard. The default stream is that of the device that
  /// is current when the guard waits.
  explicit synchronize_guard(stream_ref stream) noexcept;
  /// Takes over the guard; the moved-from guard does nothing.
  synchronize_guard(synchronize_guard&& other) noexcept;
  synchronize_guard& operator=(synchronize_guard&&) = delete;
  ~synchronize_guard();

  /// Blocks until the work of the stream has finished. Throws roc::error, and what a host function
  /// of the stream threw.
  void synchronize(detail::caller at = std::source_location::current());

 private:
  detail::native_stream* handle_;
  int device_;
  detail::stream_kind kind_;
};

/// A borrowed stream, or the legacy default stream. A value that is cheap to copy.
///
/// Work enqueued on one stream runs in order. Members throw roc::error (errors of HIP) and
/// lifetime_error (a moved-from stream, or a roc::stream that was destroyed recently).
class ROCARRAY_API stream_ref {
 public:
  /// Refers to the legacy default stream of the device that is current at the time of use.
  constexpr stream_ref() noexcept = default;
  /// Refers to a stream of HIP. Users call roc::from_native of roc/native.hpp instead.
  constexpr stream_ref(detail::native_stream* handle, int device, detail::stream_kind kind) noexcept
      : handle_(handle), device_(device), kind_(kind) {}

  /// Blocks until all work enqueued so far has finished (hipStreamSynchronize). Throws the first
  /// exception that a host function of this stream threw since the last synchronization, once; and
  /// the error of a collective operation of this stream (roc/interop/collectives.hpp), once.
  void synchronize(detail::caller at = std::source_location::current()) const;
  /// Returns true if all work enqueued so far has finished. Does not block (hipStreamQuery).
  [[nodiscard]] bool query(detail::caller at = std::source_location::current()) const;
  /// Makes work enqueued from now on wait for the last record of `event`. Does not block the
  /// calling thread (hipStreamWaitEvent).
  void wait(event_base const& event, detail::caller at = std::source_location::current()) const;
  /// Enqueues `function()`, which runs on a thread of the runtime after all work enqueued earlier
  /// (hipLaunchHostFunc; numba.cuda: `add_callback`). Work enqueued later waits for it.
  ///
  /// `function` is copied or moved, and destroyed on that thread. Neither it nor its destructor may
  /// call HIP, so it should not use or own arrays, streams or events; views of host memory are
  /// fine. Such calls of this library throw roc::error there, with code 800 of hip_category(). On
  /// AMD a host function costs the stream two barriers, and the host functions of all streams run
  /// on one thread: one that blocks delays all others, and the destruction of idle streams. After
  /// an error of the device it may never run.
  ///
  /// An exception of `function` is thrown by the next synchronize() of this stream, of a guard of
  /// it, or of the device, and by a call without a stream that waits for the default stream if this
  /// is the default stream. A second exception before that goes to the log hook, as does one that
  /// is still pending when the stream is destroyed.
  ///
  /// @throws roc::error
  /// @throws std::bad_alloc if there is no memory for the function
  template <class F>
  void launch_host_function(F&& function,
                            detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    detail::launch_host_function(*this, detail::make_host_function(std::forward<F>(function)));
  }
  /// Returns a guard that synchronizes this stream at the end of its scope.
  synchronize_guard auto_synchronize(detail::caller at = std::source_location::current()) const;

  /// Returns the priority: streams with lower numbers run first, 0 is the default
  /// (hipStreamGetPriority).
  int priority(detail::caller at = std::source_location::current()) const;

  /// Returns the ordinal of the stream's device; -1 for the default stream, which follows the
  /// current device.
  int device_ordinal() const noexcept { return device_; }
  /// Returns the handle that roc/native.hpp converts; null for the default stream.
  detail::native_stream* handle() const noexcept { return handle_; }
  /// Returns how the stream is ordered with the legacy default stream.
  detail::stream_kind kind() const noexcept { return kind_; }

  /// Returns true if both refer to the same stream.
  friend bool operator==(stream_ref const&, stream_ref const&) noexcept = default;

 protected:
  detail::native_stream* handle_ = nullptr;                         ///< see handle
  int device_ = -1;                                                 ///< see device_ordinal
  detail::stream_kind kind_ = detail::stream_kind::default_stream;  ///< see kind
};

/// Returns the calling thread's own default stream on the current device (hipStreamPerThread;
/// numba.cuda: `per_thread_default_stream`). HIP destroys it when its thread ends; timed events
/// recorded on it must not be used after that.
///
/// Use the result in this thread only: HIP has one handle for these streams of all threads, which
/// refers to the stream of the thread that uses it. The stream is ordered with the legacy default
/// stream, as class stream is. Throws roc::error.
ROCARRAY_API stream_ref per_thread_stream(detail::caller at = std::source_location::current());

/// Selects streams that HIP does not order with the legacy default stream.
struct non_blocking_t {
  explicit non_blocking_t() = default;
};
inline constexpr non_blocking_t non_blocking{};  ///< see non_blocking_t

/// An owned stream on the device that is current when it is created. Move-only.
///
/// It is ordered with the legacy default stream. Calls of the library without a stream use the
/// legacy default stream, so they come after all earlier work of every stream. The destructor does
/// not wait for pending work, which is still done. The native stream is not destroyed: once it is
/// idle, a later stream of the same device, kind and priority may get it.
class ROCARRAY_API stream : public stream_ref {
 public:
  /// Creates a stream of priority 0. Throws roc::error.
  stream(detail::caller at = std::source_location::current());
  /// Creates a stream with a priority: lower numbers run first. A value outside the device's range
  /// is clamped (hipStreamCreateWithPriority). Throws roc::error.
  explicit stream(int priority, detail::caller at = std::source_location::current());
  /// Creates a stream that is concurrent with the legacy default stream (hipStreamNonBlocking).
  /// Calls of the library without a stream still come after the work that the library enqueued on
  /// this stream. They do not wait for other work on it, such as kernels that you launch: you must
  /// synchronize with that. Throws roc::error.
  explicit stream(non_blocking_t, int priority = 0,
                  detail::caller at = std::source_location::current());
  ~stream();
  /// Takes over the stream of `other`; any further use of `other` throws lifetime_error.
  stream(stream&& other) noexcept;
  /// Destroys the current stream and takes over that of `other`. Does not block.
  stream& operator=(stream&& other) noexcept;

  /// Returns a guard that synchronizes this stream at the end of its scope. The stream must outlive
  /// the guard.
  synchronize_guard auto_synchronize(detail::caller at = std::source_location::current()) const& {
    return stream_ref::auto_synchronize(at);
  }
  synchronize_guard auto_synchronize(detail::caller at = std::source_location::current()) && =
      delete;  // the guard would outlive the stream

 private:
  void begin(detail::stream_kind kind, int priority);
  void destroy() noexcept;
};

}  // namespace roc

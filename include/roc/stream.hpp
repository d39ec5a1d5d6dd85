// SPDX-License-Identifier: MIT
// Streams: owning (stream), borrowed (stream_ref), and the guard that waits at the end of a scope.
#pragma once

#include <utility>

#include <roc/config.hpp>
#include <roc/detail/host_function.hpp>

namespace roc {

class event_base;
class stream_ref;

namespace detail {

struct native_stream;  // what a hipStream_t points to; roc/native.hpp converts

enum class stream_kind : unsigned char {
  default_stream,  // the legacy default stream of the device that is current when it is used
  blocking,        // ordered with the legacy default stream
  non_blocking,    // not ordered with it: the library keeps an event of its last work there
  none,            // moved from
};

}  // namespace detail

/// Waits for a stream at the end of a scope, also while an exception unwinds it; from
/// stream_ref::auto_synchronize (numba: `stream.auto_synchronize`).
///
/// The destructor never throws: an error it meets, and what a host function of the stream threw,
/// goes to the log hook. `synchronize` waits early, throws what it meets, and leaves nothing for
/// the destructor to do.
class [[nodiscard]] ROCARRAY_API synchronize_guard {
 public:
  /// The stream must outlive it.
  explicit synchronize_guard(stream_ref stream) noexcept;
  /// The other waits for nothing then.
  synchronize_guard(synchronize_guard&& other) noexcept;
  synchronize_guard& operator=(synchronize_guard&&) = delete;
  ~synchronize_guard();

  /// Waits now. Throws roc::error, and what a host function of the stream threw.
  void synchronize();

 private:
  detail::native_stream* handle_;
  int device_;
  detail::stream_kind kind_;
};

/// A stream that someone else owns, or the legacy default stream. A value; cheap to copy.
///
/// Work enqueued on one stream runs in order. Members throw roc::error (what HIP reports) and
/// lifetime_error (moved-from stream; destroyed stream, where the library destroyed it lately).
class ROCARRAY_API stream_ref {
 public:
  /// The legacy default stream of the device that is current when it is used.
  constexpr stream_ref() noexcept = default;
  /// What roc/native.hpp's from_native and class stream use.
  constexpr stream_ref(detail::native_stream* handle, int device,
                       detail::stream_kind kind) noexcept
      : handle_(handle), device_(device), kind_(kind) {}

  /// Waits until everything enqueued so far is done (hipStreamSynchronize). Throws what a host
  /// function of this stream threw: the first exception since the last time, once.
  void synchronize() const;
  /// Whether everything enqueued so far is done; does not wait (hipStreamQuery).
  [[nodiscard]] bool query() const;
  /// Work enqueued from now on waits for the event's last record; the caller does not
  /// (hipStreamWaitEvent).
  void wait(event_base const& event) const;
  /// Enqueues `function()`: it runs on a thread of the runtime when the work enqueued before is
  /// done, and work enqueued later waits for it (hipLaunchHostFunc; numba.cuda: `add_callback`).
  ///
  /// `function` is copied or moved, and destroyed on that thread. Neither it nor what it destroys
  /// may call HIP, so it should neither use nor own arrays, streams or events (views of host memory
  /// are good): such calls of this library throw roc::error there, with the code 800 of
  /// hip_category(). What it throws is thrown by the next synchronize() of this stream, of a guard
  /// of it, or of the device, and by a call without a stream that waits for the default stream if
  /// that is this one; a second exception before that, and one that nobody waits for before the
  /// stream is destroyed, goes to the log hook. After an error of the device the function may never
  /// run. On AMD it costs the stream two barriers. Throws roc::error, and std::bad_alloc where
  /// there is no memory for the function.
  template <class F>
  void launch_host_function(F&& function) const {
    detail::launch_host_function(*this, detail::make_host_function(std::forward<F>(function)));
  }
  /// A guard that waits for this stream at the end of its scope.
  synchronize_guard auto_synchronize() const;

  /// Lower numbers run first; 0 is the default (hipStreamGetPriority).
  int priority() const;

  /// The device of the stream; -1 for the default stream, which follows the current device.
  int device_ordinal() const noexcept { return device_; }
  /// What roc/native.hpp turns into HIP's; null for the default stream.
  detail::native_stream* handle() const noexcept { return handle_; }
  /// How it is ordered with the legacy default stream.
  detail::stream_kind kind() const noexcept { return kind_; }

  /// Whether both are one stream.
  friend bool operator==(stream_ref const&, stream_ref const&) noexcept = default;

 protected:
  detail::native_stream* handle_ = nullptr;                         ///< see handle
  int device_ = -1;                                                 ///< see device_ordinal
  detail::stream_kind kind_ = detail::stream_kind::default_stream;  ///< see kind
};

/// The calling thread's own default stream on the current device (hipStreamPerThread; numba.cuda:
/// `per_thread_default_stream`). It needs no making and is never destroyed.
///
/// HIP has one handle for all of them, which means the stream of the thread that uses it: use the
/// result in this thread only. It is ordered with the legacy default stream, as class stream is.
/// Throws roc::error.
ROCARRAY_API stream_ref per_thread_stream();

/// Chooses streams that HIP does not order with the legacy default stream.
struct non_blocking_t {
  explicit non_blocking_t() = default;
};
inline constexpr non_blocking_t non_blocking{};  ///< see non_blocking_t

/// An owned stream, made on the current device of the calling thread. Move-only.
///
/// It is ordered with the legacy default stream, so that calls without a stream, which the library
/// makes there, come after all earlier work of every stream. Destroying it while work is pending
/// loses nothing: the work is still done, and nobody waits.
class ROCARRAY_API stream : public stream_ref {
 public:
  stream();  ///< of priority 0; throws roc::error
  /// `priority`: lower numbers run first; outside the device's range it is brought to the nearest
  /// end (hipStreamCreateWithPriority).
  explicit stream(int priority);
  /// A stream that runs beside the legacy default stream (hipStreamNonBlocking). Calls of the
  /// library without a stream still come after the work that the library enqueued here; work of
  /// others, such as kernels that you launch, does not hold them up and must be waited for.
  explicit stream(non_blocking_t, int priority = 0);
  ~stream();
  /// The other is no stream then.
  stream(stream&& other) noexcept;
  /// Destroys the stream that it had.
  stream& operator=(stream&& other) noexcept;

  /// A guard that waits for this stream at the end of its scope, which the stream must outlive.
  synchronize_guard auto_synchronize() const& { return stream_ref::auto_synchronize(); }
  synchronize_guard auto_synchronize() && = delete;  // the guard would outlive the stream

 private:
  void begin(unsigned flags, int priority);
  void destroy() noexcept;
};

}  // namespace roc

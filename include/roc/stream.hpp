// SPDX-License-Identifier: MIT
// Streams: owning (stream), borrowed (stream_ref), and the guard that waits at the end of a scope.
#pragma once

#include <roc/config.hpp>

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
/// The destructor never throws: an error it meets goes to the log hook. `synchronize` waits early,
/// throws what it meets, and leaves nothing for the destructor to do.
class [[nodiscard]] ROC_API synchronize_guard {
 public:
  explicit synchronize_guard(stream_ref stream) noexcept;
  synchronize_guard(synchronize_guard&& other) noexcept;
  synchronize_guard& operator=(synchronize_guard&&) = delete;
  ~synchronize_guard();

  /// Waits now. Throws roc::error.
  void synchronize();

 private:
  detail::native_stream* handle_;
  int device_;
  detail::stream_kind kind_;
};

/// A stream that someone else owns, or the legacy default stream. A value; cheap to copy.
///
/// Work enqueued on one stream runs in order. Members throw roc::error (what HIP reports) and
/// lifetime_error (moved-from stream).
class ROC_API stream_ref {
 public:
  /// The legacy default stream of the device that is current when it is used.
  constexpr stream_ref() noexcept = default;
  /// What roc/native.hpp's from_native and class stream use.
  constexpr stream_ref(detail::native_stream* handle, int device,
                       detail::stream_kind kind) noexcept
      : handle_(handle), device_(device), kind_(kind) {}

  /// Waits until everything enqueued so far is done (hipStreamSynchronize).
  void synchronize() const;
  /// Whether everything enqueued so far is done; does not wait (hipStreamQuery).
  [[nodiscard]] bool query() const;
  /// Work enqueued from now on waits for the event's last record; the caller does not
  /// (hipStreamWaitEvent).
  void wait(event_base const& event) const;
  /// A guard that waits for this stream at the end of its scope.
  synchronize_guard auto_synchronize() const;

  /// The device of the stream; -1 for the default stream, which follows the current device.
  int device_ordinal() const noexcept { return device_; }
  detail::native_stream* handle() const noexcept { return handle_; }
  detail::stream_kind kind() const noexcept { return kind_; }

  friend bool operator==(stream_ref const&, stream_ref const&) noexcept = default;

 protected:
  detail::native_stream* handle_ = nullptr;
  int device_ = -1;
  detail::stream_kind kind_ = detail::stream_kind::default_stream;
};

/// An owned stream, made on the current device of the calling thread. Move-only.
///
/// It is ordered with the legacy default stream, so that calls without a stream, which the library
/// makes there, come after all earlier work of every stream. Destroying it while work is pending
/// loses nothing: the work is still done, and nobody waits.
class ROC_API stream : public stream_ref {
 public:
  stream();
  /// `priority`: lower numbers run first; outside the device's range it is brought to the nearest
  /// end (hipStreamCreateWithPriority).
  explicit stream(int priority);
  ~stream();
  stream(stream&& other) noexcept;
  stream& operator=(stream&& other) noexcept;

  synchronize_guard auto_synchronize() const& { return stream_ref::auto_synchronize(); }
  synchronize_guard auto_synchronize() && = delete;  // the guard would outlive the stream

 private:
  void destroy() noexcept;
};

}  // namespace roc

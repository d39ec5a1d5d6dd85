// SPDX-License-Identifier: MIT
// Exceptions thrown by host functions of streams (stream_ref::launch_host_function), and errors of
// copies that have ended without their device. The next synchronization of the stream rethrows
// them.
#pragma once

#include <exception>
#include <memory>
#include <mutex>

#include <roc/stream.hpp>

namespace roc::runtime {

/// The kind of work that has failed.
enum class host_error_source : unsigned char { host_function, copy };

/// Holds the first exception of host functions of one stream, or of its copies that have ended
/// without their device, since the last synchronization. All this pending work shares the slot, so
/// that it outlives the stream. Thread-safe.
class host_error_slot {
 public:
  explicit host_error_slot(int device) : device_(device) {}
  /// Logs the exception that nobody has taken.
  ~host_error_slot();
  host_error_slot(host_error_slot const&) = delete;
  host_error_slot& operator=(host_error_slot const&) = delete;

  /// Stores the exception, or logs it if the slot already holds one or has been detached.
  void store(std::exception_ptr exception,
             host_error_source source = host_error_source::host_function) noexcept;
  /// Returns the stored exception and empties the slot; null if it was empty.
  std::exception_ptr take() noexcept;
  /// Logs the stored exception, and those that are stored later: no stream can rethrow them.
  void detach() noexcept;
  int device() const noexcept { return device_; }

 private:
  int const device_;
  std::mutex mutex_;
  std::exception_ptr exception_;
  host_error_source source_ = host_error_source::host_function;  // of exception_
  bool detached_ = false;
};

/// Returns the slot of `stream`, which runs on `device`. Creates it if the stream has none.
std::shared_ptr<host_error_slot> host_error_slot_of(stream_ref stream, int device);

/// Rethrows the exception in the slot of `stream`, if there is one, and forgets it. Call it after
/// the stream has been synchronized.
void rethrow_host_error(stream_ref stream);
/// Blocks until the stream is idle, and then rethrows an error of its watchers or the exception in
/// its slot, if there is one. Throws roc::error.
void synchronize(stream_ref stream);
/// Rethrows one exception in the slot of any stream of `device`, if there is one, and forgets it.
/// Exceptions of other streams are kept.
void rethrow_host_error(int device);

/// Logs the exception in the slot of `stream`, which is about to be destroyed, and those that are
/// stored later.
void detach_host_errors(stream_ref stream) noexcept;

/// Passes an exception to the log hook.
void log_host_error(std::exception_ptr exception,
                    host_error_source source = host_error_source::host_function) noexcept;

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
// What host functions of streams threw, until someone waits for the stream.
#pragma once

#include <exception>
#include <memory>
#include <mutex>

#include <roc/stream.hpp>

namespace roc::runtime {

/// What the host functions of one stream threw. They share it, so that it outlives the stream.
class host_outcome {
 public:
  explicit host_outcome(int device) : device_(device) {}

  /// The first exception stays here; others, and all once it is abandoned, go to the log hook.
  void keep(std::exception_ptr thrown) noexcept;
  /// What was kept, once.
  std::exception_ptr take() noexcept;
  std::exception_ptr abandon() noexcept;
  int device() const noexcept { return device_; }

 private:
  int const device_;
  std::mutex mutex_;
  std::exception_ptr first_;
  bool abandoned_ = false;
};

/// Where a host function of `stream`, on `device`, leaves what it throws.
std::shared_ptr<host_outcome> host_outcome_of(stream_ref stream, int device);

/// Throws what a host function of `stream`, which has just been synchronised, threw; once.
void rethrow_host_error(stream_ref stream);
/// The same for one of the streams of a device; the others' are kept.
void rethrow_host_error(int device);

/// The stream is about to be destroyed: what its host functions threw and throw goes to the log
/// hook.
void abandon_host_errors(stream_ref stream) noexcept;

/// Hands the exception of a host function to the log hook.
void log_host_error(std::exception_ptr thrown) noexcept;

}  // namespace roc::runtime

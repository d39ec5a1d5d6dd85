// SPDX-License-Identifier: MIT
// The interface between cases and measurement: an experiment prepares, runs and checks its work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <roc/stream.hpp>

#include "injection_site.hpp"

namespace rocbench {

/// The clock that times an experiment.
enum class timing_method : unsigned char {
  device_events,  ///< events before and after the work that run() enqueues on stream()
  wall_clock,     ///< the host's steady clock; run() returns after the work has finished
};

/// Thrown if the device, or a case, does not support the request; what() names the reason.
struct case_not_supported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The work of a case, and the memory that it uses on the current device. Errors of HIP are thrown
/// as roc::error.
class experiment {
 public:
  virtual ~experiment() = default;

  virtual timing_method timing() const = 0;
  /// Returns the payload in bytes; the case rounds the requested size to what it can copy.
  virtual std::size_t bytes() const = 0;
  /// Returns the bytes that one execution counts towards the rate.
  virtual std::size_t counted_bytes() const = 0;
  /// Returns the name of the path that the work takes, for tables and result files.
  virtual std::string path() = 0;
  /// Returns the stream that run() enqueues on.
  virtual roc::stream_ref stream() const = 0;

  /// Writes the pattern of `sample` to the source and poison to the destination. Blocks until both
  /// are written.
  virtual void prepare(std::uint64_t sample) = 0;
  /// Returns the largest number of executions that run() supports after one prepare().
  virtual std::size_t max_batch() const { return std::size_t{1} << 16; }
  /// Executes the work `times` times in sequence; this part is timed. Blocks until the work has
  /// finished if timing() is wall_clock, else only enqueues it.
  virtual void run(std::size_t times) = 0;
  /// Compares the destination, its gaps and guard bands with what the sample prepared last must
  /// leave there. Returns a description of the first difference, or nothing if there is none.
  /// Corrupts one byte at `inject` before the comparison; throws case_not_supported if the case
  /// has no such byte.
  virtual std::optional<std::string> check(std::uint64_t sample, injection_site inject) = 0;
};

}  // namespace rocbench

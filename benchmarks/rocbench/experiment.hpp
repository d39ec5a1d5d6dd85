// SPDX-License-Identifier: MIT
// The interface between cases and measurement: an experiment prepares, runs and checks its work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <roc/stream.hpp>

namespace rocbench {

/// The place at which --inject corrupts a byte, to show that verification finds it.
enum class injection_site : unsigned char {
  none,
  data,    ///< the middle of the payload
  gap,     ///< between rows, or between the copies of a batch
  before,  ///< the last byte of the guard band before the payload
  after,   ///< the first byte of the guard band after the payload
};

/// The clock that times an experiment.
enum class timing_method : unsigned char {
  device_events,  ///< events before and after the work that run() enqueues on stream()
  wall_clock,     ///< the host's steady clock; run() returns after the work has finished
};

/// Thrown if the device, or a case, does not support the request; what() names the reason.
struct case_not_supported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What an experiment measures, and how.
struct experiment_properties {
  timing_method timing;
  std::size_t bytes;          ///< payload; the case rounds the requested size to what it can copy
  std::size_t counted_bytes;  ///< bytes that one execution counts towards the rate
  std::string path;           ///< path that the work takes, for tables and result files
  std::size_t max_batch = std::size_t{1} << 16;  ///< executions that run() supports per prepare()
};

/// The work of a case, and the memory that it uses on the current device. Errors of HIP are thrown
/// as roc::error.
class experiment {
 public:
  explicit experiment(experiment_properties properties) : properties_(std::move(properties)) {}
  virtual ~experiment() = default;

  experiment_properties const& properties() const { return properties_; }
  /// Returns the stream that run() enqueues on.
  virtual roc::stream_ref stream() const { return {}; }

  /// Writes the pattern of `sample` to the source and poison to the destination. Blocks until both
  /// are written.
  virtual void prepare(std::uint64_t sample) = 0;
  /// Executes the work `times` times in sequence; this part is timed. Blocks until the work has
  /// finished if the timing is wall_clock, else only enqueues it.
  virtual void run(std::size_t times) = 0;
  /// Compares the destination, its gaps and guard bands with what the sample prepared last must
  /// leave there. Returns a description of the first difference, or nothing if there is none.
  /// Corrupts one byte at `inject` before the comparison; throws case_not_supported if the case
  /// has no such byte.
  virtual std::optional<std::string> check(std::uint64_t sample, injection_site inject) = 0;

 protected:
  experiment_properties properties_;
};

}  // namespace rocbench

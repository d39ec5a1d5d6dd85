// SPDX-License-Identifier: MIT
// What a case is to the part that measures: something to prepare, to run and to check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <roc/stream.hpp>

#include "inject.hpp"

namespace rocbench {

/// What takes the time of a run.
enum class timing : unsigned char {
  device_events,  ///< events around work that is enqueued on stream()
  wall_clock,     ///< the host's clock around a run that ends synchronised
};

/// Thrown by what makes an experiment that this device cannot do; the text says why.
struct not_possible : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A case with its memory, on the current device. Errors of HIP are thrown as roc::error.
class experiment {
 public:
  virtual ~experiment() = default;

  virtual timing timed_by() const = 0;
  /// The bytes that are copied or written, as near to those asked for as the case can.
  virtual std::size_t bytes() const = 0;
  /// The bytes that one execution counts.
  virtual std::size_t counted_bytes() const = 0;
  /// The way that the work takes, as the table says it.
  virtual std::string path() = 0;
  virtual roc::stream_ref stream() const = 0;

  /// Gives the source a pattern of this sample and poisons the destination; done on return.
  virtual void prepare(std::uint64_t sample) = 0;
  /// The most executions that run() may be asked for behind one prepare().
  virtual std::size_t most_at_once() const { return std::size_t{1} << 16; }
  /// The timed part: executes the work `times` times, one after the other.
  virtual void run(std::size_t times) = 0;
  /// Whether the prepared sample arrived whole and nothing beside it was touched: nothing, or what
  /// is wrong. `inject` corrupts one byte first; not_possible where the case has no such place.
  virtual std::optional<std::string> check(std::uint64_t sample, inject_place inject) = 0;
};

}  // namespace rocbench

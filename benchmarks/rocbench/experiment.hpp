// SPDX-License-Identifier: MIT
// What a case is to the part that measures: something to prepare, to run and to check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <roc/stream.hpp>

namespace rocbench {

/// Which bytes a rate counts.
enum class accounting : unsigned char {
  payload,  ///< the bytes that were copied, once
  traffic,  ///< the bytes that were read and the bytes that were written
};
char const* to_string(accounting counted) noexcept;

/// What takes the time of a run.
enum class timing : unsigned char {
  device_events,  ///< events around work that is enqueued on stream()
  wall_clock,     ///< the host's clock around a run that ends synchronised
};

/// A case with its memory, on the current device. Errors of HIP are thrown as roc::error.
class experiment {
 public:
  virtual ~experiment() = default;

  virtual timing timed_by() const = 0;
  /// The bytes that one execution counts.
  virtual std::size_t counted_bytes() const = 0;
  /// The way that the work takes, as the table says it.
  virtual std::string path() = 0;
  virtual roc::stream_ref stream() const = 0;

  /// Gives the source a pattern of this sample and poisons the destination; done on return.
  virtual void prepare(std::uint64_t sample) = 0;
  /// The timed part: executes the work `times` times, one after the other.
  virtual void run(std::size_t times) = 0;
  /// Whether the prepared sample arrived whole and nothing beside it was touched: nothing, or what
  /// is wrong. `inject` corrupts one byte first.
  virtual std::optional<std::string> check(std::uint64_t sample, bool inject) = 0;
};

/// A case that can be asked for by name.
struct benchmark_case {
  std::string name;
  std::string description;
  accounting counted;
  /// Makes the experiment for `bytes` of payload.
  std::function<std::unique_ptr<experiment>(std::size_t bytes)> make;
};

}  // namespace rocbench

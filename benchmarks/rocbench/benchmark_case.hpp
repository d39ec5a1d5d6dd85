// SPDX-License-Identifier: MIT
// A benchmark case: its name, how its rate is counted and limited, and how its experiment is made.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "experiment.hpp"

namespace rocbench {

/// Which bytes a rate counts.
enum class accounting : unsigned char {
  payload,  ///< each copied or written byte once
  traffic,  ///< bytes read plus bytes written
  time,     ///< no bytes: the case reports the time of one execution
};
/// Returns the name that tables and result files use.
char const* to_string(accounting counted) noexcept;

/// The hardware resource that bounds the rate of a case.
enum class limiting_resource : unsigned char {
  link,                 ///< link between host and device, one direction
  link_bidirectional,   ///< link between host and device, both directions at once
  device_memory,        ///< device memory, reads and writes
  device_memory_reads,  ///< device memory, almost only reads
  none,                 ///< bounded by software
};

/// The API that a case measures.
enum class api_kind : unsigned char {
  library,  ///< rocarray
  raw,      ///< HIP's own call, synchronized if rocarray's call synchronizes too
};

/// The sizes that a case is measured with.
struct case_parameters {
  std::size_t bytes = 0;     ///< payload
  std::size_t row = 4096;    ///< bytes per row of strided cases and per copy of batch cases
  std::size_t pitch = 4608;  ///< bytes from one row to the next; not less than `row`
  std::size_t element = 4;   ///< bytes per element of permutations: 1, 2, 4, 8 or 16
};

/// A case that the command line can select by name.
struct benchmark_case {
  std::string name;
  std::string description;
  accounting counted;
  limiting_resource limited_by;
  bool by_default;  ///< true: measured if the command line names no case
  /// Allocates the experiment's memory on the current device. Throws case_not_supported if the
  /// device cannot run the case, roc::error if a HIP call fails.
  std::function<std::unique_ptr<experiment>(case_parameters const&)> make_experiment;
};

}  // namespace rocbench

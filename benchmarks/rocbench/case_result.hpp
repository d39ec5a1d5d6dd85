// SPDX-License-Identifier: MIT
// The result of one case at one size.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "benchmark_case.hpp"
#include "measure.hpp"
#include "rate_limit.hpp"

namespace rocbench {

enum class outcome : unsigned char {
  measured,  ///< has samples; if measured.mismatch is set, the data was wrong
  skipped,   ///< this device does not support the case
  failed,    ///< an error ended the case
};

struct case_result {
  std::string name;
  std::size_t bytes = 0;  ///< payload
  accounting counted = accounting::payload;
  std::string path;
  rate_limit physical_limit;
  outcome status = outcome::measured;
  std::string reason;  ///< why the case was skipped or failed
  measurement measured;

  /// Returns the reported rate divided by the physical limit; empty if the case was not measured
  /// or the limit is unknown.
  std::optional<double> efficiency() const {
    if (status != outcome::measured || !physical_limit.rate) return std::nullopt;
    return measured.reported_rate() / *physical_limit.rate;
  }
};

}  // namespace rocbench

// SPDX-License-Identifier: MIT
// What is known of a case when its measuring has ended.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cases.hpp"
#include "limits.hpp"
#include "measure.hpp"

namespace rocbench {

enum class outcome : unsigned char {
  measured,  ///< with samples, the last of which may be wrong: measured.mismatch
  skipped,   ///< this device cannot do it
  failed,    ///< an error ended it
};

struct case_result {
  std::string name;
  std::size_t bytes = 0;  ///< of payload
  accounting counted = accounting::payload;
  std::string path;
  limit physical;
  outcome ended = outcome::measured;
  std::string problem;  ///< of a skipped or failed case
  measurement measured;

  /// The share of the physical limit that the shown rate has; nothing where that is unknown.
  std::optional<double> efficiency() const {
    if (ended != outcome::measured || !physical.rate) return std::nullopt;
    return measured.shown_rate() / *physical.rate;
  }
};

}  // namespace rocbench

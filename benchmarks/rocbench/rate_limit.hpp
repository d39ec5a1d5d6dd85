// SPDX-License-Identifier: MIT
// A physical limit of a rate, and its source.
#pragma once

#include <optional>
#include <string>

namespace rocbench {

struct rate_limit {
  std::optional<double> rate;  ///< bytes per second; empty if the limit is unknown
  std::string origin;          ///< the source of the limit, or the reason why it is unknown
};

}  // namespace rocbench

// SPDX-License-Identifier: MIT
// What a command measures where the command line does not say.
#pragma once

#include <cstdint>
#include <vector>

#include "cases.hpp"
#include "measure.hpp"
#include "options.hpp"

namespace rocbench {

/// The cases asked for, or the command's own; none where no case has such a name.
std::vector<benchmark_case> planned_cases(options const& chosen);

/// Bytes of BabelStream's arrays: 2^28 doubles.
inline constexpr std::uint64_t babelstream_bytes = std::uint64_t{1} << 31;

/// The sizes asked for, or the command's own, none above `largest`; or those of another tool,
/// BabelStream's not above `fitting`.
std::vector<std::uint64_t> planned_sizes(options const& chosen, std::uint64_t largest,
                                         std::uint64_t fitting);

measure_options planned_measuring(options const& chosen);

}  // namespace rocbench

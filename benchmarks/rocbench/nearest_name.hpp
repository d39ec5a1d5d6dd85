// SPDX-License-Identifier: MIT
// Suggestions for misspelt names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rocbench {

/// Returns the candidate with the smallest edit distance to `name`, the first of several. Returns
/// an empty view if more than a third of the longer name's characters would have to change.
std::string_view nearest_name(std::string_view name, std::span<std::string_view const> candidates);

/// Returns "; did you mean 'NEAREST'?", or an empty string if `nearest` is empty.
std::string suggestion(std::string_view nearest);

}  // namespace rocbench

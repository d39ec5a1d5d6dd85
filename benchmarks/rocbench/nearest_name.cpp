// SPDX-License-Identifier: MIT
#include "nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace rocbench {
namespace {

// The number of insertions, deletions, substitutions and swaps of adjacent characters that turn
// `first` into `second` (optimal string alignment).
std::size_t edit_distance(std::string_view first, std::string_view second) {
  std::vector<std::size_t> before_last(second.size() + 1);
  std::vector<std::size_t> last(second.size() + 1);
  std::vector<std::size_t> current(second.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= first.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= second.size(); ++j) {
      bool const equal = first[i - 1] == second[j - 1];
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (equal ? 0u : 1u)});
      bool const swapped =
          i > 1 && j > 1 && first[i - 1] == second[j - 2] && first[i - 2] == second[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last.back();
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<std::string_view const> candidates) {
  std::string_view nearest;
  std::size_t smallest = std::string_view::npos;
  for (std::string_view const candidate : candidates) {
    std::size_t const distance = edit_distance(name, candidate);
    std::size_t const allowed = std::max(name.size(), candidate.size()) / 3;
    if (distance > allowed || distance >= smallest) continue;
    smallest = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string suggestion(std::string_view nearest) {
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "compare_verdict.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "format.hpp"

namespace rocbench {
namespace {

constexpr std::size_t max_names = 5;  // the table lists all cases

std::size_t count(comparison const& runs, change verdict) {
  return static_cast<std::size_t>(std::ranges::count(runs.cases, verdict, &compared_case::verdict));
}

// Returns the name of a case, with its size if the runs have several sizes.
std::string name_of(compared_case const& compared, comparison const& runs) {
  std::size_t const bytes = compared.after->bytes;
  bool const has_one_size = std::ranges::all_of(
      runs.cases, [&](compared_case const& candidate) { return candidate.after->bytes == bytes; });
  std::string const& name = compared.after->name;
  return has_one_size ? name : name + " at " + format_size(static_cast<double>(bytes));
}

// Appends for example "slower: 2 of 27 (h2d/pinned, d2d/copy)" if any case has this verdict.
void add_part(std::vector<std::string>& parts, comparison const& runs, change verdict,
              char const* qualifier = "") {
  std::size_t const number = count(runs, verdict);
  if (number == 0) return;
  std::string names;
  std::size_t listed = 0;
  for (compared_case const& compared : runs.cases) {
    if (compared.verdict != verdict || listed == max_names) continue;
    names += (listed++ == 0 ? "" : ", ") + name_of(compared, runs);
  }
  if (number > listed) names += fmt::format(" and {} more", number - listed);
  parts.push_back(fmt::format("{}{}: {} of {} ({})", to_string(verdict), qualifier, number,
                              runs.cases.size(), names));
}

}  // namespace

std::string compare_verdict(comparison const& runs, double tolerance, std::size_t below) {
  std::vector<std::string> parts;
  add_part(parts, runs, change::wrong_data);
  if (below != 0) {
    parts.push_back(fmt::format("below {} threshold{}", below, below == 1 ? "" : "s"));
  }
  char const* const qualifier =
      runs.same_system ? "" : ", on a different device, driver or runtime";
  add_part(parts, runs, change::slower, qualifier);
  add_part(parts, runs, change::faster, qualifier);
  std::size_t const total = runs.cases.size();
  std::size_t const unclear = count(runs, change::unclear);
  bool const any_same = count(runs, change::same) != 0;
  if (parts.empty() && any_same) parts.emplace_back("same: nothing is slower or faster");
  if (unclear != 0) {
    parts.push_back(fmt::format("{}{} of {} too noisy or too close to {:g} % for a verdict",
                                parts.empty() ? "unclear: " : "", unclear, total, 100 * tolerance));
  }
  if (std::size_t const unmeasured = count(runs, change::not_measured); unmeasured != 0) {
    parts.push_back(fmt::format("{}{} of {} not measured", parts.empty() ? "unclear: " : "",
                                unmeasured, total));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace rocbench

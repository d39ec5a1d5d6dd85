// SPDX-License-Identifier: MIT
#include "compare_verdict.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "format.hpp"

namespace rocbench {
namespace {

constexpr std::size_t most_names = 5;  // the table has them all

std::size_t count(comparison const& runs, change what) {
  return static_cast<std::size_t>(std::ranges::count(runs.cases, what, &compared_case::what));
}

// Sizes are said where the runs have several.
std::string name_of(compared_case const& of, comparison const& runs) {
  std::size_t const bytes = of.after->bytes;
  bool const one_size = std::ranges::all_of(
      runs.cases, [&](compared_case const& each) { return each.after->bytes == bytes; });
  std::string const& name = of.after->name;
  return one_size ? name : name + " at " + format_size(static_cast<double>(bytes));
}

// "slower: 2 of 27 (h2d/pinned, d2d/copy)", or nothing.
void tell(std::vector<std::string>& parts, comparison const& runs, change what,
          char const* words = "") {
  std::size_t const found = count(runs, what);
  if (found == 0) return;
  std::string names;
  std::size_t told = 0;
  for (compared_case const& each : runs.cases) {
    if (each.what != what || told == most_names) continue;
    names += (told++ == 0 ? "" : ", ") + name_of(each, runs);
  }
  if (found > told) names += fmt::format(" and {} more", found - told);
  parts.push_back(
      fmt::format("{}{}: {} of {} ({})", to_string(what), words, found, runs.cases.size(), names));
}

}  // namespace

std::string compare_verdict(comparison const& runs, double tolerance, std::size_t below) {
  std::vector<std::string> parts;
  tell(parts, runs, change::wrong_data);
  if (below != 0) {
    parts.push_back(fmt::format("below {} threshold{}", below, below == 1 ? "" : "s"));
  }
  char const* const elsewhere = runs.comparable ? "" : ", not on the same device and driver";
  tell(parts, runs, change::slower, elsewhere);
  tell(parts, runs, change::faster, elsewhere);
  std::size_t const all = runs.cases.size();
  std::size_t const unclear = count(runs, change::unclear);
  bool const any_same = count(runs, change::same) != 0;
  if (parts.empty() && any_same) parts.emplace_back("same: nothing is slower or faster");
  if (unclear != 0) {
    parts.push_back(fmt::format("{}{} of {} too noisy or too near {:g} % to tell",
                                parts.empty() ? "unclear: " : "", unclear, all, 100 * tolerance));
  }
  if (std::size_t const none = count(runs, change::not_measured); none != 0) {
    parts.push_back(fmt::format("{}{} of {} not measured", parts.empty() ? "unclear: " : "", none,
                                all));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace rocbench

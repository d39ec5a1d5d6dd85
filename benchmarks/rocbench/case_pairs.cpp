// SPDX-License-Identifier: MIT
#include "case_pairs.hpp"

#include <algorithm>
#include <string_view>

namespace rocbench {

std::vector<case_pair> pair_cases(benchmark_run const& run) {
  constexpr std::string_view prefix = "raw/";
  std::vector<case_pair> result;
  for (case_result const& entry : run.results) {
    if (entry.status != outcome::measured || entry.measured.mismatch) continue;
    bool const is_raw = entry.name.starts_with(prefix);
    std::string const name = is_raw ? entry.name.substr(prefix.size()) : entry.name;
    auto pair = std::ranges::find(result, name, &case_pair::name);
    if (pair == result.end()) pair = result.insert(result.end(), {name, {}, {}});
    (is_raw ? pair->raw : pair->library).push_back(&entry);
  }
  for (case_pair& entry : result) {
    std::ranges::stable_sort(entry.library, {}, &case_result::bytes);
    std::ranges::stable_sort(entry.raw, {}, &case_result::bytes);
  }
  return result;
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include <algorithm>

#include "report_parts.hpp"

namespace rocbench {

std::vector<case_pair> pairs_of(document const& of) {
  constexpr std::string_view raw = "raw/";
  std::vector<case_pair> result;
  for (case_result const& each : of.results) {
    if (each.ended != outcome::measured || each.measured.mismatch) continue;
    bool const is_raw = each.name.starts_with(raw);
    std::string const name = is_raw ? each.name.substr(raw.size()) : each.name;
    auto found = std::ranges::find(result, name, &case_pair::name);
    if (found == result.end()) found = result.insert(result.end(), {name, {}, {}});
    (is_raw ? found->raw : found->library).push_back(&each);
  }
  for (case_pair& each : result) {
    std::ranges::stable_sort(each.library, {}, &case_result::bytes);
    std::ranges::stable_sort(each.raw, {}, &case_result::bytes);
  }
  return result;
}

}  // namespace rocbench

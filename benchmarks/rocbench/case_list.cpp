// SPDX-License-Identifier: MIT
#include "case_list.hpp"

#include <algorithm>
#include <iterator>

#include <fnmatch.h>

#include "alloc_cases.hpp"
#include "batch_cases.hpp"
#include "copy_cases.hpp"
#include "fill_cases.hpp"
#include "kernel_access_cases.hpp"
#include "latency_cases.hpp"
#include "nearest_name.hpp"
#include "stream_cases.hpp"
#include "strided_cases.hpp"

namespace rocbench {
namespace {

std::vector<benchmark_case> make_cases() {
  std::vector<benchmark_case> cases;
  add_copy_cases(cases);
  add_bidirectional_cases(cases);
  add_strided_cases(cases);
  add_batch_cases(cases);
  add_fill_cases(cases);
  add_kernel_access_cases(cases);
  add_stream_cases(cases);
  add_latency_cases(cases);
  add_alloc_cases(cases);
  return cases;
}

template <class Predicate>
std::vector<benchmark_case> filter_cases(Predicate const& is_selected) {
  std::vector<benchmark_case> result;
  std::ranges::copy_if(all_cases(), std::back_inserter(result), is_selected);
  return result;
}

}  // namespace

std::vector<benchmark_case> const& all_cases() {
  static std::vector<benchmark_case> const cases = make_cases();
  return cases;
}

std::vector<benchmark_case> matching_cases(std::vector<std::string> const& globs) {
  return filter_cases([&](benchmark_case const& candidate) {
    return std::ranges::any_of(globs, [&](std::string const& glob) {
      return fnmatch(glob.c_str(), candidate.name.c_str(), 0) == 0;
    });
  });
}

std::vector<benchmark_case> default_cases() {
  return filter_cases([](benchmark_case const& candidate) { return candidate.by_default; });
}

std::string_view nearest_case(std::string_view name) {
  std::vector<std::string_view> names;
  for (benchmark_case const& candidate : all_cases()) names.emplace_back(candidate.name);
  return nearest_name(name, names);
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "cases.hpp"

#include <algorithm>
#include <iterator>

#include <fnmatch.h>

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

template <class F>
std::vector<benchmark_case> cases_that(F const& wanted) {
  std::vector<benchmark_case> result;
  std::ranges::copy_if(all_cases(), std::back_inserter(result), wanted);
  return result;
}

}  // namespace

std::vector<benchmark_case> const& all_cases() {
  static std::vector<benchmark_case> const cases = make_cases();
  return cases;
}

std::vector<benchmark_case> matching_cases(std::vector<std::string> const& globs) {
  return cases_that([&](benchmark_case const& each) {
    return std::ranges::any_of(globs, [&](std::string const& glob) {
      return fnmatch(glob.c_str(), each.name.c_str(), 0) == 0;
    });
  });
}

std::vector<benchmark_case> default_cases() {
  return cases_that([](benchmark_case const& each) { return each.by_default; });
}

}  // namespace rocbench

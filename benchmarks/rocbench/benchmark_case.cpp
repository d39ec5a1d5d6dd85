// SPDX-License-Identifier: MIT
#include "benchmark_case.hpp"

#include <algorithm>
#include <iterator>

#include <fnmatch.h>

namespace rocbench {
namespace {

case_vector make_cases() {
  case_vector cases;
  for (auto* const add : {add_copy_cases, add_host_memory_cases, add_stream_copy_cases,
                          add_box_cases, add_batch_cases, add_fill_cases, add_for_each_cases,
                          add_kernel_access_cases, add_stream_cases, add_latency_cases,
                          add_alloc_cases, add_peer_cases, add_all_devices_cases}) {
    add(cases);
  }
#if ROCBENCH_HAS_COLLECTIVES
  add_collective_cases(cases);
#endif
  return cases;
}

template <class Predicate>
case_vector filter_cases(Predicate const& is_selected) {
  case_vector result;
  std::ranges::copy_if(all_cases(), std::back_inserter(result), is_selected);
  return result;
}

}  // namespace

case_vector const& all_cases() {
  static case_vector const cases = make_cases();
  return cases;
}

case_vector matching_cases(std::vector<std::string> const& globs) {
  return filter_cases([&](benchmark_case const& candidate) {
    return std::ranges::any_of(globs, [&](std::string const& glob) {
      return fnmatch(glob.c_str(), candidate.name.c_str(), 0) == 0;
    });
  });
}

case_vector default_cases() { return filter_cases(&benchmark_case::by_default); }

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "cases.hpp"

#include <algorithm>
#include <iterator>

#include <fnmatch.h>

#include "transfer.hpp"

namespace rocbench {
namespace {

struct pair {
  char const* name;
  char const* description;
  memory_kind from;
  memory_kind to;
};

constexpr pair pairs[] = {
    {"h2d/pinned", "pinned host memory to the device", memory_kind::pinned, memory_kind::device},
    {"h2d/pageable", "pageable host memory to the device", memory_kind::pageable,
     memory_kind::device},
    {"h2d/registered", "registered host memory to the device", memory_kind::registered,
     memory_kind::device},
    {"d2h/pinned", "the device to pinned host memory", memory_kind::device, memory_kind::pinned},
    {"d2h/pageable", "the device to pageable host memory", memory_kind::device,
     memory_kind::pageable},
    {"d2h/registered", "the device to registered host memory", memory_kind::device,
     memory_kind::registered},
    {"d2d/copy", "device memory to memory of the same device", memory_kind::device,
     memory_kind::device},
};

benchmark_case case_of(pair const& of, caller by) {
  bool const on_device = of.from == memory_kind::device && of.to == memory_kind::device;
  bool const raw = by == caller::raw;
  transfer const what{of.from, of.to, by};
  return {(raw ? "raw/" : "") + std::string(of.name),
          of.description + std::string(raw ? ", by HIP's own call" : ""),
          on_device ? accounting::traffic : accounting::payload,
          [what](std::size_t bytes) { return make_transfer(what, bytes); }};
}

std::vector<benchmark_case> make_cases() {
  std::vector<benchmark_case> cases;
  for (pair const& each : pairs) {
    cases.push_back(case_of(each, caller::library));
    cases.push_back(case_of(each, caller::raw));
  }
  return cases;
}

}  // namespace

char const* to_string(accounting counted) noexcept {
  return counted == accounting::traffic ? "traffic" : "payload";
}

std::vector<benchmark_case> const& all_cases() {
  static std::vector<benchmark_case> const cases = make_cases();
  return cases;
}

std::vector<benchmark_case> matching_cases(std::vector<std::string> const& globs) {
  std::vector<benchmark_case> result;
  std::ranges::copy_if(all_cases(), std::back_inserter(result), [&](benchmark_case const& each) {
    return globs.empty() || std::ranges::any_of(globs, [&](std::string const& glob) {
             return fnmatch(glob.c_str(), each.name.c_str(), 0) == 0;
           });
  });
  return result;
}

}  // namespace rocbench

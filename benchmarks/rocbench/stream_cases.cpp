// SPDX-License-Identifier: MIT
// BabelStream's five kernels, with the library's views and, beside each, with plain pointers.
#include <algorithm>
#include <string>

#include "cases.hpp"
#include "stream_experiment.hpp"

namespace rocbench {
namespace {

struct row {
  char const* name;
  char const* words;
  stream_kernel what;
  bool by_default;
};

constexpr row rows[] = {
    {"copy", "c = a", stream_kernel::copy, false},
    {"mul", "b = s c", stream_kernel::mul, false},
    {"add", "c = a + b", stream_kernel::add, false},
    {"triad", "a = b + s c", stream_kernel::triad, true},
    {"dot", "the sum of a b", stream_kernel::dot, false},
};

}  // namespace

void add_stream_cases(std::vector<benchmark_case>& to) {
  for (row const& each : rows) {
    for (caller const by : {caller::library, caller::raw}) {
      bool const raw = by == caller::raw;
      to.push_back(
          {std::string(raw ? "raw/" : "") + "stream/" + each.name,
           std::string(each.words) + " of arrays of double, by a kernel with " +
               (raw ? "plain pointers" : "the library's views"),
           accounting::traffic,
           each.what == stream_kernel::dot ? bound::device_memory_reads : bound::device_memory,
           each.by_default, [what = each.what, by](extent_request const& asked) {
             std::size_t const count = std::max(asked.bytes / sizeof(double), std::size_t{1});
             return make_stream_experiment(what, by, count);
           }});
    }
  }
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "stream_cases.hpp"

#include <algorithm>
#include <string>

#include "stream_experiment.hpp"

namespace rocbench {
namespace {

struct case_definition {
  char const* name;
  char const* description;
  stream_kernel kernel;
  bool by_default;
};

constexpr case_definition case_definitions[] = {
    {"copy", "c = a", stream_kernel::copy, false},
    {"mul", "b = s c", stream_kernel::mul, false},
    {"add", "c = a + b", stream_kernel::add, false},
    {"triad", "a = b + s c", stream_kernel::triad, true},
    {"dot", "sum of a b", stream_kernel::dot, false},
};

}  // namespace

void add_stream_cases(std::vector<benchmark_case>& cases) {
  for (case_definition const& definition : case_definitions) {
    for (api_kind const api : {api_kind::library, api_kind::raw}) {
      bool const is_raw = api == api_kind::raw;
      cases.push_back(
          {std::string(is_raw ? "raw/" : "") + "stream/" + definition.name,
           std::string(definition.description) + " of arrays of double, by a kernel with " +
               (is_raw ? "plain pointers" : "the library's views"),
           accounting::traffic,
           definition.kernel == stream_kernel::dot ? limiting_resource::device_memory_reads
                                                   : limiting_resource::device_memory,
           definition.by_default,
           [kernel = definition.kernel, api](case_parameters const& parameters) {
             std::size_t const count = std::max(parameters.bytes / sizeof(double), std::size_t{1});
             return make_stream_experiment(kernel, api, count);
           }});
    }
  }
}

}  // namespace rocbench

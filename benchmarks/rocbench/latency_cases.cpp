// SPDX-License-Identifier: MIT
#include "latency_cases.hpp"

#include <string>

#include "transfer_experiment.hpp"

namespace rocbench {
namespace {

struct operand_pair {
  char const* name;
  char const* description;
  memory_kind source;
  memory_kind destination;
};

constexpr operand_pair operand_pairs[] = {
    {"h2d/pinned", "pinned host memory to device memory", memory_kind::pinned, memory_kind::device},
    {"h2d/pageable", "pageable host memory to device memory", memory_kind::pageable,
     memory_kind::device},
    {"d2h/pinned", "device memory to pinned host memory", memory_kind::device, memory_kind::pinned},
    {"d2h/pageable", "device memory to pageable host memory", memory_kind::device,
     memory_kind::pageable},
    {"d2d/copy", "device memory to device memory of the same device", memory_kind::device,
     memory_kind::device},
};

}  // namespace

void add_latency_cases(std::vector<benchmark_case>& cases) {
  for (operand_pair const& operands : operand_pairs) {
    for (api_kind const api : {api_kind::library, api_kind::raw}) {
      bool const is_raw = api == api_kind::raw;
      transfer_options const options{operands.source, operands.destination, api, true};
      cases.push_back({std::string(is_raw ? "raw/" : "") + "latency/" + operands.name,
                       std::string(operands.description) + ", each copy synchronized" +
                           (is_raw ? ", by HIP's own call" : ""),
                       accounting::time, limiting_resource::none, false,
                       [options](case_parameters const& parameters) {
                         return make_transfer_experiment(options,
                                                         contiguous_layout(parameters.bytes));
                       }});
    }
  }
}

}  // namespace rocbench

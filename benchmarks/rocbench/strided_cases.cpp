// SPDX-License-Identifier: MIT
#include "strided_cases.hpp"

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
    {"h2d", "pinned host memory to device memory", memory_kind::pinned, memory_kind::device},
    {"d2h", "device memory to pinned host memory", memory_kind::device, memory_kind::pinned},
    {"d2d", "device memory to device memory of the same device", memory_kind::device,
     memory_kind::device},
    {"h2d/pageable", "pageable host memory to device memory", memory_kind::pageable,
     memory_kind::device},
    {"d2h/pageable", "device memory to pageable host memory", memory_kind::device,
     memory_kind::pageable},
};

struct layout_case {
  char const* name;
  char const* description;
  copy_layout (*make_layout)(case_parameters const&);
  bool has_raw_call;  // HIP has no function that permutes axes
  bool by_default;
};

constexpr layout_case layouts[] = {
    {"strided/2d", "pitched rows on both sides",
     [](case_parameters const& parameters) {
       return rows_layout(parameters.bytes, parameters.row, parameters.pitch);
     },
     true, true},
    {"strided/3d", "planes of 64 pitched rows on both sides",
     [](case_parameters const& parameters) {
       return planes_layout(parameters.bytes, parameters.row, parameters.pitch);
     },
     true, false},
    {"permute/2d", "a square matrix from C order to F order",
     [](case_parameters const& parameters) {
       return transposed_layout(parameters.bytes, parameters.element);
     },
     false, false},
    {"permute/3d", "a cube from C order to F order",
     [](case_parameters const& parameters) {
       return reversed_axes_layout(parameters.bytes, parameters.element);
     },
     false, false},
};

}  // namespace

void add_strided_cases(std::vector<benchmark_case>& cases) {
  for (layout_case const& layout : layouts) {
    for (operand_pair const& operands : operand_pairs) {
      bool const within_device = operands.source == operands.destination;
      bool const pageable =
          operands.source == memory_kind::pageable || operands.destination == memory_kind::pageable;
      for (api_kind const api : {api_kind::library, api_kind::raw}) {
        bool const is_raw = api == api_kind::raw;
        if (is_raw && !layout.has_raw_call) continue;
        transfer_options const options{operands.source, operands.destination, api};
        cases.push_back(
            {std::string(is_raw ? "raw/" : "") + layout.name + "/" + operands.name,
             std::string(layout.description) + ", " + operands.description +
                 (is_raw ? ", by HIP's own call" : ""),
             within_device ? accounting::traffic : accounting::payload,
             within_device ? limiting_resource::device_memory : limiting_resource::link,
             layout.by_default && !pageable,
             [options, make_layout = layout.make_layout](case_parameters const& parameters) {
               return make_transfer_experiment(options, make_layout(parameters));
             }});
      }
    }
  }
}

}  // namespace rocbench

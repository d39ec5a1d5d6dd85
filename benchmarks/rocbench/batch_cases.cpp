// SPDX-License-Identifier: MIT
#include "batch_cases.hpp"

#include <string>

#include "batch_experiment.hpp"

namespace rocbench {
namespace {

struct operand_pair {
  char const* name;
  char const* description;
  memory_kind source;
  memory_kind destination;
};

constexpr operand_pair operand_pairs[] = {
    {"h2d", "pageable host memory to device memory", memory_kind::pageable, memory_kind::device},
    {"d2h", "device memory to pageable host memory", memory_kind::device, memory_kind::pageable},
    {"d2d", "device memory to device memory of the same device", memory_kind::device,
     memory_kind::device},
};

struct submission_kind {
  char const* prefix;
  char const* description;
  batch_api api;
};

constexpr submission_kind submission_kinds[] = {
    {"batch/", "", batch_api::library},
    {"raw/batch/", ", by one call of HIP per copy", batch_api::loop},
    {"raw/batch_call/", ", by the vendor's batched copy function", batch_api::vendor_call},
};

}  // namespace

void add_batch_cases(std::vector<benchmark_case>& cases) {
  for (operand_pair const& operands : operand_pairs) {
    bool const within_device = operands.source == operands.destination;
    for (submission_kind const& submission : submission_kinds) {
      cases.push_back({std::string(submission.prefix) + operands.name,
                       std::string("scattered copies of one row's bytes, ") + operands.description +
                           submission.description,
                       within_device ? accounting::traffic : accounting::payload,
                       within_device ? limiting_resource::device_memory : limiting_resource::link,
                       false, [operands, api = submission.api](case_parameters const& parameters) {
                         return make_batch_experiment(operands.source, operands.destination, api,
                                                      parameters.bytes, parameters.row);
                       }});
    }
  }
}

}  // namespace rocbench

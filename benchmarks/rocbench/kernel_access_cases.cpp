// SPDX-License-Identifier: MIT
#include "kernel_access_cases.hpp"

#include <string>

#include "kernel_access_experiment.hpp"

namespace rocbench {
namespace {

struct case_definition {
  char const* name;
  char const* description;
  char const* raw_description;
  kernel_access access;
};

constexpr case_definition case_definitions[] = {
    {"mapped/read", "a kernel reads mapped host memory over the link, by the library's views",
     "a kernel reads mapped host memory over the link, by pointers", kernel_access::mapped_read},
    {"mapped/write", "a kernel writes mapped host memory over the link, by the library's views",
     "a kernel writes mapped host memory over the link, by pointers", kernel_access::mapped_write},
    {"managed/fault",
     "a kernel reads managed memory that resides on the host, by the library's views",
     "a kernel reads managed memory that resides on the host, by pointers",
     kernel_access::managed_fault},
    {"managed/prefetch", "managed memory is prefetched from the host to the device",
     "managed memory is prefetched from the host to the device, by HIP's own call",
     kernel_access::managed_prefetch},
};

}  // namespace

void add_kernel_access_cases(std::vector<benchmark_case>& cases) {
  for (case_definition const& definition : case_definitions) {
    for (api_kind const api : {api_kind::library, api_kind::raw}) {
      bool const is_raw = api == api_kind::raw;
      cases.push_back({std::string(is_raw ? "raw/" : "") + definition.name,
                       is_raw ? definition.raw_description : definition.description,
                       accounting::payload, limiting_resource::link, false,
                       [access = definition.access, api](case_parameters const& parameters) {
                         return make_kernel_access_experiment(access, api, parameters.bytes);
                       }});
    }
  }
}

}  // namespace rocbench

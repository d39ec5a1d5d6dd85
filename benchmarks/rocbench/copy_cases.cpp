// SPDX-License-Identifier: MIT
#include "copy_cases.hpp"

#include <algorithm>
#include <string>

#include "bidirectional_experiment.hpp"
#include "transfer_experiment.hpp"

namespace rocbench {
namespace {

struct host_memory_case {
  memory_kind kind;
  char const* description;
  bool by_default;
};

constexpr host_memory_case host_memory_cases[] = {
    {memory_kind::pinned, "pinned host memory", true},
    {memory_kind::pageable, "pageable host memory", true},
    {memory_kind::registered, "registered host memory", true},
    {memory_kind::write_combined, "write-combined host memory", false},
};

void add_case(std::vector<benchmark_case>& cases, std::string const& name,
              std::string const& description, memory_kind source_kind, memory_kind destination_kind,
              bool by_default) {
  bool const within_device =
      source_kind == memory_kind::device && destination_kind == memory_kind::device;
  for (api_kind const api : {api_kind::library, api_kind::raw}) {
    bool const is_raw = api == api_kind::raw;
    transfer_options const options{source_kind, destination_kind, api};
    cases.push_back(
        {(is_raw ? "raw/" : "") + name, description + (is_raw ? ", by HIP's own call" : ""),
         within_device ? accounting::traffic : accounting::payload,
         within_device ? limiting_resource::device_memory : limiting_resource::link, by_default,
         [options](case_parameters const& parameters) {
           return make_transfer_experiment(options, contiguous_layout(parameters.bytes));
         }});
  }
}

}  // namespace

void add_copy_cases(std::vector<benchmark_case>& cases) {
  for (host_memory_case const& memory : host_memory_cases) {
    add_case(cases, std::string("h2d/") + to_string(memory.kind),
             std::string(memory.description) + " to device memory", memory.kind,
             memory_kind::device, memory.by_default);
  }
  for (host_memory_case const& memory : host_memory_cases) {
    add_case(cases, std::string("d2h/") + to_string(memory.kind),
             std::string("device memory to ") + memory.description, memory_kind::device,
             memory.kind, memory.by_default);
  }
  add_case(cases, "d2d/copy", "device memory to device memory of the same device",
           memory_kind::device, memory_kind::device, true);
}

void add_bidirectional_cases(std::vector<benchmark_case>& cases) {
  for (host_memory_case const& memory : host_memory_cases) {
    if (memory.kind == memory_kind::write_combined)
      continue;  // the host should not read write-combined memory
    for (api_kind const api : {api_kind::library, api_kind::raw}) {
      bool const is_raw = api == api_kind::raw;
      cases.push_back({std::string(is_raw ? "raw/" : "") + "bidir/" + to_string(memory.kind),
                       std::string(memory.description) +
                           " to and from device memory at once, half of the bytes each way" +
                           (is_raw ? ", by HIP's own calls" : ""),
                       accounting::payload, limiting_resource::link_bidirectional,
                       memory.kind == memory_kind::pinned,
                       [kind = memory.kind, api](case_parameters const& parameters) {
                         copy_layout const half =
                             contiguous_layout(std::max<std::size_t>(parameters.bytes / 2, 1));
                         return make_bidirectional_experiment(
                             make_transfer_experiment({kind, memory_kind::device, api}, half),
                             make_transfer_experiment({memory_kind::device, kind, api}, half));
                       }});
    }
  }
}

}  // namespace rocbench

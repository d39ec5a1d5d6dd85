// SPDX-License-Identifier: MIT
// The cases of host memory without a copy call: mapped, managed.
#include <string>

#include "cases.hpp"
#include "kernel_access.hpp"

namespace rocbench {
namespace {

struct row {
  char const* name;
  char const* words;
  char const* raw_words;
  kernel_access how;
};

constexpr row rows[] = {
    {"mapped/read", "a kernel reads mapped host memory over the link, by the library's views",
     "a kernel reads mapped host memory over the link, by pointers", kernel_access::mapped_read},
    {"mapped/write", "a kernel writes mapped host memory over the link, by the library's views",
     "a kernel writes mapped host memory over the link, by pointers", kernel_access::mapped_write},
    {"managed/fault", "a kernel reads managed memory that lies on the host, by the library's views",
     "a kernel reads managed memory that lies on the host, by pointers",
     kernel_access::managed_fault},
    {"managed/prefetch", "managed memory that lies on the host is moved to the device",
     "managed memory that lies on the host is moved to the device, by HIP's own call",
     kernel_access::managed_prefetch},
};

}  // namespace

void add_kernel_access_cases(std::vector<benchmark_case>& to) {
  for (row const& each : rows) {
    for (caller const by : {caller::library, caller::raw}) {
      bool const raw = by == caller::raw;
      to.push_back({std::string(raw ? "raw/" : "") + each.name, raw ? each.raw_words : each.words,
                    accounting::payload, bound::link, false,
                    [how = each.how, by](extent_request const& asked) {
                      return make_kernel_access(how, by, asked.bytes);
                    }});
    }
  }
}

}  // namespace rocbench

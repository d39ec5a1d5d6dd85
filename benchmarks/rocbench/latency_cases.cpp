// SPDX-License-Identifier: MIT
// The cases of single small operations, each waited for: what a call costs that moves next to
// nothing.
#include <string>

#include "cases.hpp"
#include "transfer.hpp"

namespace rocbench {
namespace {

struct way {
  char const* name;
  char const* words;
  memory_kind from;
  memory_kind to;
};

constexpr way ways[] = {
    {"h2d/pinned", "pinned host memory to the device", memory_kind::pinned, memory_kind::device},
    {"h2d/pageable", "pageable host memory to the device", memory_kind::pageable,
     memory_kind::device},
    {"d2h/pinned", "the device to pinned host memory", memory_kind::device, memory_kind::pinned},
    {"d2h/pageable", "the device to pageable host memory", memory_kind::device,
     memory_kind::pageable},
    {"d2d/copy", "device memory to memory of the same device", memory_kind::device,
     memory_kind::device},
};

}  // namespace

void add_latency_cases(std::vector<benchmark_case>& to) {
  for (way const& each : ways) {
    for (caller const by : {caller::library, caller::raw}) {
      bool const raw = by == caller::raw;
      transfer const what{each.from, each.to, by, true};
      to.push_back(
          {std::string(raw ? "raw/" : "") + "latency/" + each.name,
           std::string(each.words) + ", each copy waited for" + (raw ? ", by HIP's own call" : ""),
           accounting::time, bound::none, false, [what](extent_request const& asked) {
             return make_transfer(what, contiguous_layout(asked.bytes));
           }});
    }
  }
}

}  // namespace rocbench

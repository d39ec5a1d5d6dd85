// SPDX-License-Identifier: MIT
// The cases of contiguous memory, one way and both ways.
#include <algorithm>
#include <string>

#include "cases.hpp"
#include "transfer.hpp"

namespace rocbench {
namespace {

struct kind_of_host {
  memory_kind kind;
  char const* words;
  bool by_default;
};

constexpr kind_of_host host_kinds[] = {
    {memory_kind::pinned, "pinned host memory", true},
    {memory_kind::pageable, "pageable host memory", true},
    {memory_kind::registered, "registered host memory", true},
    {memory_kind::write_combined, "write-combined host memory", false},
};

void add(std::vector<benchmark_case>& to, std::string const& name, std::string const& words,
         memory_kind from, memory_kind into, bool by_default) {
  bool const on_device = from == memory_kind::device && into == memory_kind::device;
  for (caller const by : {caller::library, caller::raw}) {
    bool const raw = by == caller::raw;
    transfer const what{from, into, by};
    to.push_back({(raw ? "raw/" : "") + name, words + (raw ? ", by HIP's own call" : ""),
                  on_device ? accounting::traffic : accounting::payload,
                  on_device ? bound::device_memory : bound::link, by_default,
                  [what](extent_request const& asked) {
                    return make_transfer(what, contiguous_layout(asked.bytes));
                  }});
  }
}

}  // namespace

void add_copy_cases(std::vector<benchmark_case>& to) {
  for (kind_of_host const& host : host_kinds) {
    add(to, std::string("h2d/") + to_string(host.kind), std::string(host.words) + " to the device",
        host.kind, memory_kind::device, host.by_default);
  }
  for (kind_of_host const& host : host_kinds) {
    add(to, std::string("d2h/") + to_string(host.kind), std::string("the device to ") + host.words,
        memory_kind::device, host.kind, host.by_default);
  }
  add(to, "d2d/copy", "device memory to memory of the same device", memory_kind::device,
      memory_kind::device, true);
}

void add_bidirectional_cases(std::vector<benchmark_case>& to) {
  for (kind_of_host const& host : host_kinds) {
    if (host.kind == memory_kind::write_combined) continue;  // nobody reads what it receives
    for (caller const by : {caller::library, caller::raw}) {
      bool const raw = by == caller::raw;
      to.push_back(
          {std::string(raw ? "raw/" : "") + "bidir/" + to_string(host.kind),
           std::string(host.words) + " and the device, both ways at once, half of the bytes each" +
               (raw ? ", by HIP's own calls" : ""),
           accounting::payload, bound::link_both_ways, host.kind == memory_kind::pinned,
           [kind = host.kind, by](extent_request const& asked) {
             copy_layout const half = contiguous_layout(std::max<std::size_t>(asked.bytes / 2, 1));
             return make_both_ways(make_transfer({kind, memory_kind::device, by}, half),
                                   make_transfer({memory_kind::device, kind, by}, half));
           }});
    }
  }
}

}  // namespace rocbench

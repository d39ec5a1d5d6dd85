// SPDX-License-Identifier: MIT
// The cases of rows, planes and changed orders of axes; host memory is pinned, or pageable where
// the case says so.
#include <string>

#include "cases.hpp"
#include "transfer.hpp"

namespace rocbench {
namespace {

struct direction {
  char const* name;
  char const* words;
  memory_kind from;
  memory_kind to;
};

constexpr direction directions[] = {
    {"h2d", "pinned host memory to the device", memory_kind::pinned, memory_kind::device},
    {"d2h", "the device to pinned host memory", memory_kind::device, memory_kind::pinned},
    {"d2d", "device memory to memory of the same device", memory_kind::device, memory_kind::device},
    {"h2d/pageable", "pageable host memory to the device", memory_kind::pageable,
     memory_kind::device},
    {"d2h/pageable", "the device to pageable host memory", memory_kind::device,
     memory_kind::pageable},
};

struct form {
  char const* name;
  char const* words;
  copy_layout (*layout)(extent_request const&);
  bool has_raw_call;  // HIP has no call that changes the order of axes
  bool by_default;
};

constexpr form forms[] = {
    {"strided/2d", "rows at a pitch on both sides",
     [](extent_request const& r) { return rows_layout(r.bytes, r.row, r.pitch); }, true, true},
    {"strided/3d", "planes of 64 rows at a pitch on both sides",
     [](extent_request const& r) { return planes_layout(r.bytes, r.row, r.pitch); }, true, false},
    {"permute/2d", "a square matrix from C order to F order",
     [](extent_request const& r) { return transposed_layout(r.bytes, r.element); }, false, false},
    {"permute/3d", "a cube from C order to F order",
     [](extent_request const& r) { return reversed_axes_layout(r.bytes, r.element); }, false,
     false},
};

}  // namespace

void add_strided_cases(std::vector<benchmark_case>& to) {
  for (form const& each : forms) {
    for (direction const& way : directions) {
      bool const on_device = way.from == way.to;
      bool const pageable =
          way.from == memory_kind::pageable || way.to == memory_kind::pageable;
      for (caller const by : {caller::library, caller::raw}) {
        bool const raw = by == caller::raw;
        if (raw && !each.has_raw_call) continue;
        transfer const what{way.from, way.to, by};
        to.push_back(
            {std::string(raw ? "raw/" : "") + each.name + "/" + way.name,
             std::string(each.words) + ", " + way.words + (raw ? ", by HIP's own call" : ""),
             on_device ? accounting::traffic : accounting::payload,
             on_device ? bound::device_memory : bound::link, each.by_default && !pageable,
             [what, make = each.layout](extent_request const& asked) {
               return make_transfer(what, make(asked));
             }});
      }
    }
  }
}

}  // namespace rocbench

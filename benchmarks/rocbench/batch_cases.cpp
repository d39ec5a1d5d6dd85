// SPDX-License-Identifier: MIT
// The cases of many small copies; host memory is pageable.
#include <string>

#include "batch_experiment.hpp"
#include "cases.hpp"

namespace rocbench {
namespace {

struct direction {
  char const* name;
  char const* words;
  memory_kind from;
  memory_kind to;
};

constexpr direction directions[] = {
    {"h2d", "pageable host memory to the device", memory_kind::pageable, memory_kind::device},
    {"d2h", "the device to pageable host memory", memory_kind::device, memory_kind::pageable},
    {"d2d", "device memory to memory of the same device", memory_kind::device, memory_kind::device},
};

struct way_of_calling {
  char const* prefix;
  char const* words;
  batch_caller by;
};

constexpr way_of_calling ways[] = {
    {"batch/", "", batch_caller::library},
    {"raw/batch/", ", by a call of HIP for each", batch_caller::loop},
    {"raw/batch_call/", ", by the platform's call for many", batch_caller::vendor_call},
};

}  // namespace

void add_batch_cases(std::vector<benchmark_case>& to) {
  for (direction const& way : directions) {
    bool const on_device = way.from == way.to;
    for (way_of_calling const& each : ways) {
      to.push_back({std::string(each.prefix) + way.name,
                    std::string("pieces of a row's bytes, scattered, ") + way.words + each.words,
                    on_device ? accounting::traffic : accounting::payload,
                    on_device ? bound::device_memory : bound::link, false,
                    [way, by = each.by](extent_request const& asked) {
                      return make_batch(way.from, way.to, by, asked.bytes, asked.row);
                    }});
    }
  }
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "copy/trace_scope.hpp"

#include <array>
#include <cstdio>

namespace roc::transfer {
namespace {

char const* name_of(direction way) {
  switch (way) {
    case direction::host_to_device: return "host_to_device";
    case direction::device_to_host: return "device_to_host";
    case direction::device_to_device: return "device_to_device";
    case direction::host_to_host: break;
  }
  return "host_to_host";
}

}  // namespace

void trace_scope::begin_copy(plan const& p) {
  std::array<char, 96> name;
  std::snprintf(name.data(), name.size(), "roc::copy %s %s %zu bytes", name_of(p.way),
                to_string(p.path), p.form.bytes());
  begin(name.data());
}

void trace_scope::begin_fill(layout::canonical_layout const& form, bool on_device) {
  std::array<char, 96> name;
  std::snprintf(name.data(), name.size(), "roc::fill %s %zu bytes", on_device ? "device" : "host",
                form.bytes());
  begin(name.data());
}

void trace_scope::begin_batch(std::size_t copies, std::size_t bytes) {
  std::array<char, 96> name;
  std::snprintf(name.data(), name.size(), "roc::copy_batch %zu copies %zu bytes", copies, bytes);
  begin(name.data());
}

void trace_scope::begin(char const* name) {
  base::log_line(base::log_level::trace, "%s", name);
  range_.emplace(name);
}

}  // namespace roc::transfer

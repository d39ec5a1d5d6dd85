// SPDX-License-Identifier: MIT
#include "copy/trace_scope.hpp"

#include <array>
#include <cstdio>

namespace roc::transfer {
namespace {

char const* to_string(copy_kind kind) {
  switch (kind) {
    case copy_kind::host_to_device: return "host_to_device";
    case copy_kind::device_to_host: return "device_to_host";
    case copy_kind::device_to_device: return "device_to_device";
    case copy_kind::host_to_host: break;
  }
  return "host_to_host";
}

}  // namespace

void trace_scope::begin_copy(plan const& p) {
  std::array<char, 96> name;
  std::snprintf(name.data(), name.size(), "roc::copy %s %s %zu bytes", to_string(p.kind),
                roc::to_string(p.path), p.canonical.bytes());
  begin(name.data());
}

void trace_scope::begin_fill(layout::canonical_layout const& canonical, bool on_device) {
  std::array<char, 96> name;
  std::snprintf(name.data(), name.size(), "roc::fill %s %zu bytes", on_device ? "device" : "host",
                canonical.bytes());
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

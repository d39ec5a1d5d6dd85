// SPDX-License-Identifier: MIT
#include <roc/profiler_range.hpp>

#include "runtime/profiler.hpp"

namespace roc {

profiler_range::profiler_range(char const* name) noexcept : end_(nullptr) {
  auto const& profiler = runtime::current_profiler();
  if (profiler.push == nullptr) return;
  profiler.push(name);
  end_ = profiler.pop;
}

profiler_range::~profiler_range() {
  if (end_ != nullptr) end_();
}

bool profiler_range::active() noexcept { return runtime::has_profiler(); }

}  // namespace roc

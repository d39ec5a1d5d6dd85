// SPDX-License-Identifier: MIT
#include <roc/profiler_range.hpp>

#include "runtime/profiler.hpp"

namespace roc {

profiler_range::profiler_range(char const* name) noexcept {
  auto const& profiler = runtime::current_profiler();
  if (profiler.push != nullptr) profiler.push(name);
}

profiler_range::~profiler_range() {
  auto const& profiler = runtime::current_profiler();
  if (profiler.pop != nullptr) profiler.pop();
}

bool profiler_range::active() noexcept { return runtime::current_profiler().push != nullptr; }

}  // namespace roc

// SPDX-License-Identifier: MIT
#include <roc/profiler_range.hpp>

#include "runtime/profiler.hpp"

namespace roc {

profiler_range::profiler_range(char const* name) noexcept {
  auto const& found = runtime::the_profiler();
  if (found.push != nullptr) found.push(name);
}

profiler_range::~profiler_range() {
  auto const& found = runtime::the_profiler();
  if (found.pop != nullptr) found.pop();
}

bool profiler_range::active() noexcept { return runtime::the_profiler().push != nullptr; }

}  // namespace roc

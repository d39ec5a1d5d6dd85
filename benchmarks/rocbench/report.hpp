// SPDX-License-Identifier: MIT
// A run, or the change between two, as one page.
#pragma once

#include <optional>
#include <string>

#include "document.hpp"

namespace rocbench {

/// HTML that needs nothing else: efficiency first, then rates over size, latency and allocation,
/// every figure, and where they were taken. With `before` the changes since then come on top.
std::string html_report(document const& of, std::optional<document> const& before = {});

}  // namespace rocbench

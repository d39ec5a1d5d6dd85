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

/// The efficiency bars alone as an SVG file that needs nothing else, follows the reader's choice of
/// light or dark and uses the reader's fonts; empty where the run has no rates.
std::string svg_report(document const& of);

}  // namespace rocbench

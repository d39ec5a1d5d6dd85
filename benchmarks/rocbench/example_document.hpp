// SPDX-License-Identifier: MIT
// Results that the tests of files, comparisons and reports are made with.
#pragma once

#include <string>

#include "document.hpp"

namespace rocbench {

/// A measured case: medians within `width` of themselves, to both sides.
case_result example_result(std::string const& name, std::size_t bytes, double rate,
                           double width = 0.002);

/// A run on a device with known limits: a clean case, one with wrong data, a skipped and a failed.
document example_document();

}  // namespace rocbench

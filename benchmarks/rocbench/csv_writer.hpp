// SPDX-License-Identifier: MIT
// Results as CSV (RFC 4180): a line of names, then a line for each case.
#pragma once

#include <string>

#include "document.hpp"

namespace rocbench {

/// Rates are bytes a second, times seconds. What is not known is empty.
std::string to_csv(document const& of);

}  // namespace rocbench

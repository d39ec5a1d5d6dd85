// SPDX-License-Identifier: MIT
// Results as JSON: a superset of Google Benchmark's format 1, which its compare tool reads.
#pragma once

#include <string>

#include "document.hpp"

namespace rocbench {

/// Numbers are numbers, bytes a second and seconds unless the name says another unit; what is not
/// known is null. What Google Benchmark does not have is in an object `rocbench` of the context and
/// of each benchmark.
std::string to_json(document const& of);

}  // namespace rocbench

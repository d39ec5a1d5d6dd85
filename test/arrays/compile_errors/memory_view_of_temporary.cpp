// SPDX-License-Identifier: MIT
// expected: no matching function
#include <roc/roc.hpp>

#include <vector>

roc::memory_view<int> test() { return roc::memory_view<int>(std::vector<int>(4)); }

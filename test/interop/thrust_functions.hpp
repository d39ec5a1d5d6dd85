// SPDX-License-Identifier: MIT
// Functions of the test that call Thrust, whose headers need the device compiler.
#pragma once

#include <roc/roc.hpp>

#include <cstddef>

namespace thrust_test {

/// Sorts the elements in memory order.
void sort(roc::stream_ref stream, roc::device_view<int, 2> view);
/// Returns the sum of all elements.
int sum(roc::stream_ref stream, roc::device_view<int const, 2> view);
/// Writes 0, 1, 2… in C order.
void count(roc::stream_ref stream, roc::device_view<int, 2> view);
/// Creates a device_vector of `n` sevens and copies it to `into` through a view.
void fill_with_sevens(std::size_t n, roc::host_view<int> into);
/// Calls thrust_begin, which throws for memory with gaps.
void begin(roc::device_view<int, 2> view);

}  // namespace thrust_test

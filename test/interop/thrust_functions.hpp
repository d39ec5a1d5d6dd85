// SPDX-License-Identifier: MIT
// What the test asks of Thrust, whose headers only the device compiler understands.
#pragma once

#include <roc/roc.hpp>

#include <cstddef>

namespace thrust_test {

void sort(roc::stream_ref stream, roc::device_view<int, 2> view);
int sum(roc::stream_ref stream, roc::device_view<int const, 2> view);
/// Writes 0, 1, 2… in C order.
void count(roc::stream_ref stream, roc::device_view<int, 2> view);
/// Makes a device_vector of `n` sevens and copies it out by a view of it.
void sevens(std::size_t n, roc::host_view<int> into);
/// Only asks for the iterator: throws for memory with gaps.
void begin(roc::device_view<int, 2> view);

}  // namespace thrust_test

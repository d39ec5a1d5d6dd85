// SPDX-License-Identifier: MIT
// What the kernels' file offers to the tests, which another compiler compiles.
#pragma once

#include <roc/roc.hpp>

namespace roc::test {

/// y = a x + y, by for_each.
void saxpy(stream_ref stream, float a, device_view<float const> x, device_view<float> y);
/// Writes i * 100 + k to (i, k), by for_each over two axes.
void number(stream_ref stream, device_view<int, 2> out);
/// Adds one to the only element, by for_each over no axes.
void increment(stream_ref stream, device_view<int, 0> out);
/// Doubles every element by a lambda.
void double_by_lambda(stream_ref stream, device_view<int> out);
/// Transposes by a kernel launched with <<<>>>; false where this compiler has none.
bool transpose_by_kernel(stream_ref stream, device_view<int const, 2> from, device_view<int, 2> to);

}  // namespace roc::test

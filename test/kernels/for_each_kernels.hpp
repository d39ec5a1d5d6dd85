// SPDX-License-Identifier: MIT
// Kernels for tests. The device compiler compiles them; the tests are compiled by another one.
#pragma once

#include <roc/roc.hpp>

namespace roc::test {

/// Computes y = a x + y with for_each.
void saxpy(stream_ref stream, float a, device_view<float const> x, device_view<float> y);
/// Writes i * 100 + k to element (i, k) with for_each over two axes.
void number(stream_ref stream, device_view<int, 2> out);
/// Adds 1 to the only element with for_each over no axes.
void increment(stream_ref stream, device_view<int, 0> out);
/// Doubles every element with for_each and a lambda.
void double_by_lambda(stream_ref stream, device_view<int> out);
/// Transposes with a kernel launched by <<<>>>. Returns false if the compiler has no kernels, or if
/// the launch fails.
bool transpose_by_kernel(stream_ref stream, device_view<int const, 2> from, device_view<int, 2> to);

}  // namespace roc::test

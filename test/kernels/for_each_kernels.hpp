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
/// Adds 1 + the position of the element in `visits`, in C order, to the element of each index of a
/// box. Index `origin` has the first element. `blocks` selects the blocks of threads.
///@{
enum class block_choice { standard, rows, tiles, threads_1024 };
template <std::size_t N>
void count_visits(stream_ref stream, shape<N> const& begin, shape<N> const& end,
                  shape<N> const& origin, device_view<int, N> visits, block_choice blocks);
///@}
/// Adds 1 to the elements of the interior with bounds in braces, by two calls: all columns but the
/// first and last of the rows before `row`, and then of the others.
void increment_interior(stream_ref stream, device_view<int, 2> out, int row);
/// Adds 1 to the elements [begin, end) of an array of rank 1.
void increment_range(stream_ref stream, device_view<int> out, int begin, std::size_t end);
/// Doubles every element with for_each and a lambda.
void double_by_lambda(stream_ref stream, device_view<int> out);
/// Transposes with a kernel launched by <<<>>>. Returns false if the launch fails. Not on the host
/// platform, whose compiler has no <<<>>>.
bool transpose_by_kernel(stream_ref stream, device_view<int const, 2> from, device_view<int, 2> to);

}  // namespace roc::test

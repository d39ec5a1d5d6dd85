// SPDX-License-Identifier: MIT
// The forms of bounds and blocks of for_each.
#include <roc/roc.hpp>

void test(roc::stream& stream, std::size_t n, int m, roc::shape<2> const& shape) {
  auto const f = [](std::size_t, std::size_t) {};
  auto const g = [](std::size_t) {};
  roc::block_shape<8, 32> const block;
  roc::for_each(stream, shape, f);
  roc::for_each(stream, shape, f, block);
  roc::for_each(stream, shape, shape, f, block);
  roc::for_each(stream, {n, 1}, f, block);
  roc::for_each(stream, {2, 3}, f, roc::block_shape<64>{});
  roc::for_each(stream, {n, n}, {n, n}, f);
  roc::for_each(stream, {n, 1}, {n, 10}, f, block);
  roc::for_each(stream, {1, 1}, {n - 1, 10}, f);
  roc::for_each(stream, {1, 1}, {m, m}, f);
  roc::for_each(stream, {1, 1}, {n, n}, f, block);
  roc::for_each(stream, {n, n}, {9, 9}, f);
  roc::for_each(stream, n, g, roc::block_shape<1024>{});
  roc::for_each(stream, 1, n - 1, g);
  roc::for_each(stream, n, 2 * n, g, roc::block_shape<64>{});
  roc::for_each({}, {1}, {n}, g);
}

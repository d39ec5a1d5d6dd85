// SPDX-License-Identifier: MIT
// expected: more extents than the indices have axes
#include <roc/roc.hpp>

void test(roc::stream& stream) {
  roc::for_each(stream, roc::shape<1>{3}, [](int) {}, roc::block_shape<8, 32>{});
}

// SPDX-License-Identifier: MIT
// expected: a block_shape has 1 to 1024 threads
#include <roc/roc.hpp>

void test(roc::stream& stream) {
  roc::for_each(stream, {2, 3}, [](int, int) {}, roc::block_shape<32, 33>{});
}

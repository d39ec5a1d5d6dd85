// SPDX-License-Identifier: MIT
#include <roc/roc.hpp>

// Compiles: what the other files do wrong, done right.
#include <span>

void test(int* data, roc::device_array<int, 2>& array, std::span<int> span, roc::stream& stream) {
  roc::memory_view<int, 2> const view(data, {3, 4});
  roc::copy(view, array, stream);  // a view owns nothing, so a temporary is fine
  roc::copy(array, roc::memory_view(data, roc::shape<2>{3, 4}, roc::strides<2>{1, 3}), stream);
  roc::copy(roc::memory_view<int const>(span), roc::memory_view(span), {.threads = 2});
  roc::memory_view<int const, 2> const fixed = view;
  roc::copy(fixed.at(roc::memory_location::host()), array);
  roc::memcpy(data, array.data(), 48);
  roc::memcpy_2d(data, 16, array.data(), 16, 12, 3, stream);
}

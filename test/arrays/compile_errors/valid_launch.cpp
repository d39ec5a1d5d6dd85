// SPDX-License-Identifier: MIT
#include <roc/launch.hpp>
#include <roc/roc.hpp>

template <class T>
__global__ void kernel(roc::device_view<T const, 2>, double, T*) noexcept {}
__global__ void nothing() {}

void test(roc::device_view<float, 2> view, roc::stream const& stream, long n) {
  roc::launch(kernel<float>, {n / 32, n}, {32, 8u}, 100, stream, view.bind(stream), 1, nullptr);
  roc::launch(kernel<float>, dim3(2), n, 0, {}, view, 2.0f, view.data());
  roc::launch(nothing, 1, 1, 0, roc::stream_ref());
}

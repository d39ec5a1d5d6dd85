// SPDX-License-Identifier: MIT
// A program whose kernels have 12 MiB of static shared memory in all: more than the stack of a
// thread of the system. The threads of the library have enough stack beside it.
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include <roc/kernel.hpp>
#include <roc/launch.hpp>
#include <roc/roc.hpp>

template <int Number>
__global__ void large(roc::device_view<int> out) {
  __shared__ int tile[10'240];
  tile[threadIdx.x] = Number + static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) out(Number) = tile[1];
}

template <int... Numbers>
void launch_all(roc::stream_ref stream, roc::device_view<int> out,
                std::integer_sequence<int, Numbers...>) {
  (roc::launch(large<Numbers>, {1}, {64}, 0, stream, out), ...);
}

int main() {
  try {
    constexpr int kernels = 300;
    roc::stream const stream;
    roc::device_array<int> const out({kernels});
    launch_all(stream, out.view(), std::make_integer_sequence<int, kernels>());
    roc::for_each(stream, out.shape(), [view = out.view()](std::size_t i) {
      int volatile local[200'000];
      for (int k = 199'999; k >= 0; k -= 1'000) local[k] = 1;
      view(i) += local[999];
    });
    std::vector<int> result(kernels);
    out.copy_to_host(result, stream);
    stream.synchronize();
    for (int i = 0; i < kernels; ++i) {
      if (result[static_cast<std::size_t>(i)] != i + 2) return 1;
    }
    std::fputs("all results are right\n", stderr);
    return 0;
  } catch (std::exception const& error) {
    std::puts(error.what());
    return 1;
  }
}

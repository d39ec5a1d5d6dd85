// SPDX-License-Identifier: MIT
// A program and a shared object that both have kernels, with the same types of parameters. The
// program has two of the same name. Exit status 77: there is no device.
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

#include <roc/launch.hpp>
#include <roc/native.hpp>

#include "kernels/local_kernel.hpp"
#include "kernels/shared_object_kernels.hpp"

namespace {

__global__ void increment(roc::device_view<int> values) {
  __shared__ int tile[64];
  tile[threadIdx.x] = values(threadIdx.x);
  __syncthreads();
  values(threadIdx.x) = roc::shuffle(tile[threadIdx.x], roc::lane_index()) + 1;
}

bool expect(bool condition, char const* text) {
  if (!condition) std::printf("failed: %s\n", text);
  return condition;
}

}  // namespace

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<int> expected(64);
  std::iota(expected.begin(), expected.end(), 0);
  auto const array = roc::to_device(expected);
  roc::stream const stream;
  roc::launch(increment, {1}, {64}, 0, stream, array.view());
  roc::test::launch_in_object(stream, array.view());
  stream.synchronize();
  std::iota(expected.rbegin(), expected.rend(), 1);
  std::vector<int> result(64);
  array.copy_to_host(result);
  bool passed = expect(result == expected, "each object launches its own kernel");
  try {
    roc::launch(roc::test::reverse_in_object, {1}, {64}, 0, stream, array.view());
    passed &= expect(false, "a kernel of another object is refused");
  } catch (roc::error const& error) {
    // CUDA 13 takes the unknown address for a handle of a kernel.
    passed &= expect(error.code().value() == static_cast<int>(hipErrorInvalidDeviceFunction) ||
                         error.code().value() == static_cast<int>(hipErrorInvalidHandle),
                     error.what());
  }
  stream.synchronize();
  array.copy_to_host(result);
  passed &= expect(result == expected, "the refused kernel does not run");
  int limit = 0;
  passed &= expect(roc::native_detail::shared_memory_limit(&limit, 0) == hipSuccess, "limit");
  roc::test::launch_local(stream, array.view(), static_cast<std::size_t>(limit));
  stream.synchronize();
  array.copy_to_host(result);
  std::iota(expected.rbegin(), expected.rend(), 2);
  passed &= expect(result == expected, "all shared memory is free for a kernel without variables");
  return passed ? 0 : 1;
}

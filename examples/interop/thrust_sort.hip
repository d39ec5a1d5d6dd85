// SPDX-License-Identifier: MIT
// Thrust's algorithms with arrays and streams of the library: contiguous and strided elements.
#include <roc/interop/thrust.hpp>
#include <roc/roc.hpp>

#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <cstdio>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<int> numbers(1'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7 % 1'000);
  auto const array = roc::to_device(numbers);
  roc::stream const stream;
  array.record_stream(stream);  // the library does not see the work that Thrust enqueues
  auto const view = array.view();
  thrust::sort(roc::thrust_policy(stream), roc::thrust_begin(view), roc::thrust_end(view));
  roc::thrust_elements const even(view(roc::slice(0, roc::none, 2)));
  int const sum = thrust::reduce(roc::thrust_policy(stream), even.begin(), even.end());
  array.copy_to_host(numbers);
  bool const correct = numbers.front() == 0 && numbers.back() == 999 && sum == 249'500;
  std::printf("thrust: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}

// SPDX-License-Identifier: MIT
#include "interop/thrust_functions.hpp"

#include <roc/interop/thrust.hpp>

#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

namespace thrust_test {

void sort(roc::stream_ref stream, roc::device_view<int, 2> view) {
  thrust::sort(roc::thrust_policy(stream), roc::thrust_begin(view), roc::thrust_end(view));
}

int sum(roc::stream_ref stream, roc::device_view<int const, 2> view) {
  roc::thrust_elements const elements(view);
  return thrust::reduce(roc::thrust_policy(stream), elements.begin(), elements.end());
}

void count(roc::stream_ref stream, roc::device_view<int, 2> view) {
  thrust::counting_iterator<int> const numbers(0);
  thrust::copy(roc::thrust_policy(stream), numbers, numbers + static_cast<int>(view.size()),
               roc::thrust_elements(view).begin());
}

void fill_with_sevens(std::size_t n, roc::host_view<int> into) {
  thrust::device_vector<int> vector(n, 7);
  roc::as_device_view(vector.data(), roc::shape<1>{n}).copy_to_host(into);
}

void begin(roc::device_view<int, 2> view) { static_cast<void>(roc::thrust_begin(view)); }

}  // namespace thrust_test

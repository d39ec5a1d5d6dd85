// SPDX-License-Identifier: MIT
#include "stream_check.hpp"

#include "elementwise_kernel.hpp"

namespace rocbench {

struct write_input {
  double* output;
  std::uint64_t sample;
  unsigned array;
  stream_kernel kernel;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    output[i] = stream_input(kernel, i, array, sample);
  }
};

struct compare_result {
  double const* result;
  std::size_t count;
  std::uint64_t sample;
  device_comparison* comparison;
  stream_kernel kernel;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    // NaN differs from every expected value.
    if (result[i] != expected_stream_result(kernel, i, sample))
      atomic_minimum(&comparison->first_mismatch, i);
    if (i == count - 1) comparison->compared = count;
  }
};

#if !ROCARRAY_KERNEL_HOST_STUB

hipError_t launch_stream_input(stream_kernel kernel, double* output, std::size_t count,
                               unsigned array, std::uint64_t sample, hipStream_t stream) {
  return launch_elementwise(write_input{output, sample, array, kernel}, count, stream);
}

hipError_t launch_stream_check(stream_kernel kernel, double const* result, std::size_t count,
                               std::uint64_t sample, device_comparison* comparison,
                               hipStream_t stream) {
  return launch_elementwise(compare_result{result, count, sample, comparison, kernel}, count,
                            stream);
}

#endif

ROCARRAY_HOST_STUB(elementwise_kernel<write_input>);
ROCARRAY_HOST_STUB(elementwise_kernel<compare_result>);

}  // namespace rocbench

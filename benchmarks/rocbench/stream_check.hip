// SPDX-License-Identifier: MIT
// What the arrays of the stream cases are written and compared by.
#include "device_kernels.hpp"
#include "each_element.hpp"
#include "keep_least.hpp"

namespace rocbench {

struct write_source {
  double* to;
  std::uint64_t sample;
  unsigned array;
  stream_kernel what;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    to[i] = stream_source(what, i, array, sample);
  }
};

struct compare_result {
  double const* found;
  std::size_t count;
  std::uint64_t sample;
  check_verdict* verdict;
  stream_kernel what;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    // A value that is no number differs from everything.
    if (found[i] != stream_result(what, i, sample)) keep_least(&verdict->first_wrong, i);
    if (i == count - 1) verdict->compared = count;
  }
};

#if !ROCARRAY_KERNEL_HOST_STUB

hipError_t launch_stream_source(stream_kernel what, double* to, std::size_t count, unsigned array,
                                std::uint64_t sample, hipStream_t stream) {
  return launch_each(write_source{to, sample, array, what}, count, stream);
}

hipError_t launch_stream_check(stream_kernel what, double const* found, std::size_t count,
                               std::uint64_t sample, check_verdict* verdict, hipStream_t stream) {
  return launch_each(compare_result{found, count, sample, verdict, what}, count, stream);
}

#endif

ROCARRAY_HOST_STUB(each_element<write_source>);
ROCARRAY_HOST_STUB(each_element<compare_result>);

}  // namespace rocbench

// SPDX-License-Identifier: MIT
// Copies rows with wide accesses, wherever they begin on the two sides and also in reversed order,
// and rows of words at a step.
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/half_row_job.hpp"
#include "kernels/launch.hpp"
#include "kernels/reversed_row_job.hpp"
#include "kernels/row_job.hpp"
#include "kernels/word_row_job.hpp"
#include "platform/host/host_stub.hpp"

#if !ROCARRAY_KERNEL_HOST_STUB

namespace roc::kernels {

template <class Job>
hipError_t launch_row_copy(Job const& job, hipStream_t stream) {
#if defined(__CUDACC__) || defined(__HIP__)
  return native_detail::launch_elementwise(job, job.division.count, stream);
#else
  return native_detail::launch_elementwise(
      copy_row_segment{job}, job.division.count / job.division.threads.divisor, stream);
#endif
}

template hipError_t launch_row_copy(row_job const&, hipStream_t);
template hipError_t launch_row_copy(split_row_job<std::uint8_t> const&, hipStream_t);
template hipError_t launch_row_copy(split_row_job<std::uint32_t> const&, hipStream_t);

template <class Element>
hipError_t launch_reversed_rows(reversed_row_job<Element> const& job, hipStream_t stream) {
#if defined(__CUDACC__) || defined(__HIP__)
  return native_detail::launch_elementwise(job, job.division.count, stream);
#else
  return native_detail::launch_elementwise(copy_reversed_segment<Element>{job},
                                           job.division.count / job.division.threads.divisor,
                                           stream);
#endif
}

template hipError_t launch_reversed_rows(reversed_row_job<std::uint8_t> const&, hipStream_t);
template hipError_t launch_reversed_rows(reversed_row_job<std::uint16_t> const&, hipStream_t);
template hipError_t launch_reversed_rows(reversed_row_job<std::uint32_t> const&, hipStream_t);
template hipError_t launch_reversed_rows(reversed_row_job<std::uint64_t> const&, hipStream_t);

hipError_t launch_half_rows(half_row_job const& job, hipStream_t stream) {
#if defined(__CUDACC__) || defined(__HIP__)
  return native_detail::launch_elementwise(job, job.division.count, stream);
#else
  return native_detail::launch_elementwise(copy_half_row_bytes{job}, job.division.count, stream);
#endif
}

template <class Word>
hipError_t launch_word_rows(word_row_job<Word> const& job, hipStream_t stream) {
  return native_detail::launch_elementwise(job, job.division.count, stream);
}

template hipError_t launch_word_rows(word_row_job<std::uint8_t> const&, hipStream_t);
template hipError_t launch_word_rows(word_row_job<std::uint16_t> const&, hipStream_t);
template hipError_t launch_word_rows(word_row_job<std::uint32_t> const&, hipStream_t);
template hipError_t launch_word_rows(word_row_job<std::uint64_t> const&, hipStream_t);
template hipError_t launch_word_rows(word_row_job<vector_word> const&, hipStream_t);

}  // namespace roc::kernels

#else

namespace roc::native_detail {

ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::row_job);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::split_row_job<std::uint8_t>);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::split_row_job<std::uint32_t>);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::reversed_row_job<std::uint8_t>);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::reversed_row_job<std::uint16_t>);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::reversed_row_job<std::uint32_t>);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::reversed_row_job<std::uint64_t>);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::half_row_job);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::word_row_job<std::uint8_t>);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::word_row_job<std::uint16_t>);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::word_row_job<std::uint32_t>);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::word_row_job<std::uint64_t>);
ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::word_row_job<kernels::vector_word>);

}  // namespace roc::native_detail

#endif

// SPDX-License-Identifier: MIT
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "platform/host/host_stub.hpp"

#if !ROCARRAY_KERNEL_HOST_STUB

namespace roc::kernels {

template <class Word, class Index>
hipError_t launch_fill(fill_word<Word, Index> const& job, hipStream_t stream) {
  return native_detail::launch_elementwise(job, job.count, stream);
}

#define ROCARRAY_INSTANTIATE(word)                                                     \
  template hipError_t launch_fill(fill_word<word, std::uint32_t> const&, hipStream_t); \
  template hipError_t launch_fill(fill_word<word, std::size_t> const&, hipStream_t)
ROCARRAY_FOR_EACH_WORD(ROCARRAY_INSTANTIATE);

}  // namespace roc::kernels

#else

namespace roc::native_detail {

#define ROCARRAY_WORD_HOST_STUB(word)                                      \
  ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::fill_word<word, std::uint32_t>); \
  ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::fill_word<word, std::size_t>)
ROCARRAY_FOR_EACH_WORD(ROCARRAY_WORD_HOST_STUB);

}  // namespace roc::native_detail

#endif

// SPDX-License-Identifier: MIT
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "kernels/unroll.hpp"
#include "platform/host/host_stub.hpp"

namespace roc::kernels {

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

inline constexpr unsigned words_per_thread = 4;

// Every thread has several loads in flight: one load and its store at a time would not saturate the
// memory.
template <class Word>
__global__ void copy_words(copy_word<Word> f) {
  std::size_t const words_per_block = std::size_t{blockDim.x} * words_per_thread;
  for (std::size_t block = blockIdx.x; block * words_per_block < f.job.count; block += gridDim.x) {
    std::size_t const first = block * words_per_block + threadIdx.x;
    word_addresses addresses[words_per_thread];
    word_register<Word> words[words_per_thread] = {};
#if ROCARRAY_PLATFORM_AMD
    // On AMD each pass over the axes waits for their extents and steps, which it reads from memory.
    f.job.locate(first, blockDim.x, addresses);
#endif
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < words_per_thread; ++k) {
      std::size_t const i = first + std::size_t{k} * blockDim.x;
      if (i >= f.job.count) break;
#if !ROCARRAY_PLATFORM_AMD
      addresses[k] = f.locate(i);
#endif
      copy_word_to(words[k], word_at<Word const>(addresses[k].from));
    }
    // Elements are reversed only here: an instruction that depends on a load would delay the next.
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < words_per_thread; ++k) {
      if (first + std::size_t{k} * blockDim.x >= f.job.count) break;
      f.write(addresses[k], words[k]);
    }
  }
}

#define ROCARRAY_WORD_HOST_STUB(word) ROCARRAY_HOST_STUB(copy_words<word>)
ROCARRAY_FOR_EACH_WORD(ROCARRAY_WORD_HOST_STUB);

#endif

#if !ROCARRAY_KERNEL_HOST_STUB

template <class Word>
hipError_t launch_strided_copy(strided_job const& job, hipStream_t stream) {
#if defined(__CUDACC__) || defined(__HIP__)
  if (job.count == 0) return hipSuccess;
  constexpr unsigned threads = 256;
  constexpr std::size_t max_blocks = 1u << 20;  // the kernel's loop covers the rest
  constexpr std::size_t words_per_block = std::size_t{threads} * words_per_thread;
  std::size_t const blocks = (job.count + words_per_block - 1) / words_per_block;
  auto const grid = static_cast<unsigned>(blocks < max_blocks ? blocks : max_blocks);
  return native_detail::launch_kernel(copy_words<Word>, dim3(grid), dim3(threads), stream, {job});
#else
  return native_detail::launch_elementwise(copy_word<Word>{job}, job.count, stream);
#endif
}

#define ROCARRAY_INSTANTIATE(word) \
  template hipError_t launch_strided_copy<word>(strided_job const&, hipStream_t)
ROCARRAY_FOR_EACH_WORD(ROCARRAY_INSTANTIATE);

#endif

}  // namespace roc::kernels

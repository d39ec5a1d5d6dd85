// SPDX-License-Identifier: MIT
#include "device_kernels.hpp"

#include <atomic>

#include <roc/native/elementwise.hpp>

#include "platform/host/twin.hpp"

namespace rocbench {

/// A plain pointer, with the index expression of a view.
template <class T>
struct pointer {
  T* data;
  ROC_HOST_DEVICE T& operator()(std::size_t i) const { return data[i]; }
};

template <class In, class Out>
struct copy_elements {
  In from;
  Out to;
  ROC_HOST_DEVICE void operator()(std::size_t i) const { to(i) = from(i); }
};

template <class In, class Out>
struct multiply_elements {
  In from;
  Out to;
  ROC_HOST_DEVICE void operator()(std::size_t i) const { to(i) = stream_factor * from(i); }
};

template <class In, class Out>
struct add_elements {
  In a;
  In b;
  Out to;
  ROC_HOST_DEVICE void operator()(std::size_t i) const { to(i) = a(i) + b(i); }
};

template <class In, class Out>
struct triad_elements {
  In a;
  In b;
  Out to;
  ROC_HOST_DEVICE void operator()(std::size_t i) const { to(i) = a(i) + stream_factor * b(i); }
};

template <class In>
struct product_of {
  In a;
  In b;
  ROC_HOST_DEVICE double operator()(std::size_t i) const { return a(i) * b(i); }
};

template <class In>
struct value_of {
  In a;
  ROC_HOST_DEVICE double operator()(std::size_t i) const { return a(i); }
};

struct write_source {
  double* to;
  std::uint64_t sample;
  unsigned array;
  stream_kernel what;
  ROC_HOST_DEVICE void operator()(std::size_t i) const {
    to[i] = stream_source(what, i, array, sample);
  }
};

ROC_HOST_DEVICE inline void keep_least(unsigned long long* at, unsigned long long value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  atomicMin(at, value);
#else
  std::atomic_ref<unsigned long long> const least(*at);
  auto known = least.load();
  while (value < known && !least.compare_exchange_weak(known, value)) {
  }
#endif
}

struct compare_result {
  double const* found;
  std::size_t count;
  std::uint64_t sample;
  stream_verdict* verdict;
  stream_kernel what;
  ROC_HOST_DEVICE void operator()(std::size_t i) const {
    // A value that is no number differs from everything.
    if (found[i] != stream_result(what, i, sample)) keep_least(&verdict->first_wrong, i);
    if (i == count - 1) verdict->compared = count;
  }
};

constexpr unsigned block_threads = 1024;

/// What a block of a sum takes, by one thread, in the order that a CPU likes best.
template <class F>
ROC_HOST_DEVICE double sum_of_block(F const& f, std::size_t count, std::size_t block,
                                    std::size_t blocks) {
  double sum = 0;
  for (std::size_t begin = block * block_threads; begin < count; begin += blocks * block_threads) {
    std::size_t const end = begin + block_threads < count ? begin + block_threads : count;
    for (std::size_t i = begin; i < end; ++i) sum += f(i);
  }
  return sum;
}

#if defined(__CUDACC__) || defined(__HIP__) || ROC_KERNEL_TWIN

template <class F>
__global__ void __launch_bounds__(1024) each_element(F f, std::size_t count) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) f(i);
}

#if ROC_KERNEL_TWIN

// Threads run one after the other there and share nothing: the first of a block does it all.
template <class F, class Out>
__global__ void sum_blocks(F f, std::size_t count, Out sums) {
  if (threadIdx.x == 0) sums(blockIdx.x) = sum_of_block(f, count, blockIdx.x, gridDim.x);
}

#else

template <class F, class Out>
__global__ void __launch_bounds__(1024) sum_blocks(F f, std::size_t count, Out sums) {
  __shared__ double shared[block_threads];
  std::size_t const step = std::size_t{gridDim.x} * block_threads;
  double sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x; i < count;
       i += step) {
    sum += f(i);
  }
  shared[threadIdx.x] = sum;
  for (unsigned half = block_threads / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums(blockIdx.x) = shared[0];
}

template <class F>
hipError_t launch_each(F const& f, std::size_t count, hipStream_t stream) {
  auto const blocks = static_cast<unsigned>((count + block_threads - 1) / block_threads);
  each_element<F><<<dim3(blocks), dim3(block_threads), 0, stream>>>(f, count);
  return hipGetLastError();
}

template <class F, class Out>
hipError_t launch_sum(F const& f, std::size_t count, Out const& sums, std::size_t blocks,
                      hipStream_t stream) {
  sum_blocks<F, Out>
      <<<dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0, stream>>>(f, count, sums);
  return hipGetLastError();
}

#endif

#else

template <class F, class Out>
struct sum_block {
  F f;
  std::size_t count;
  std::size_t blocks;
  Out sums;
  void operator()(std::size_t block) const { sums(block) = sum_of_block(f, count, block, blocks); }
};

// A host compiler has no blocks of threads.
template <class F>
hipError_t launch_each(F const& f, std::size_t count, hipStream_t stream) {
  return roc::native_detail::launch_elementwise(f, count, stream);
}

template <class F, class Out>
hipError_t launch_sum(F const& f, std::size_t count, Out const& sums, std::size_t blocks,
                      hipStream_t stream) {
  return roc::native_detail::launch_elementwise(sum_block<F, Out>{f, count, blocks, sums}, blocks,
                                                stream);
}

#endif

using view_in = roc::device_view<double const>;
using view_out = roc::device_view<double>;
using pointer_in = pointer<double const>;
using pointer_out = pointer<double>;
using unit16 = roc::kernels::unit16;

#if !ROC_KERNEL_TWIN

template <class In, class Out>
hipError_t launch_stream(stream_kernel what, In a, In b, Out to, Out parts, std::size_t count,
                         std::size_t blocks, hipStream_t stream) {
  switch (what) {
    case stream_kernel::copy: return launch_each(copy_elements<In, Out>{a, to}, count, stream);
    case stream_kernel::mul: return launch_each(multiply_elements<In, Out>{a, to}, count, stream);
    case stream_kernel::add: return launch_each(add_elements<In, Out>{a, b, to}, count, stream);
    case stream_kernel::triad: return launch_each(triad_elements<In, Out>{a, b, to}, count, stream);
    case stream_kernel::dot: break;
  }
  hipError_t const first = launch_sum(product_of<In>{a, b}, count, parts, blocks, stream);
  if (first != hipSuccess) return first;
  return launch_sum(value_of<Out>{parts}, blocks, to, 1, stream);
}

hipError_t launch_stream_by_views(stream_kernel what, stream_arrays const& on, hipStream_t stream) {
  return launch_stream<view_in, view_out>(what, on.first, on.second, on.result, on.parts,
                                          on.first.size(), on.parts.size(), stream);
}

hipError_t launch_stream_by_pointers(stream_kernel what, stream_arrays const& on,
                                     hipStream_t stream) {
  return launch_stream<pointer_in, pointer_out>(
      what, {on.first.data()}, {on.second.data()}, {on.result.data()}, {on.parts.data()},
      on.first.size(), on.parts.size(), stream);
}

hipError_t launch_stream_source(stream_kernel what, double* to, std::size_t count, unsigned array,
                                std::uint64_t sample, hipStream_t stream) {
  return launch_each(write_source{to, sample, array, what}, count, stream);
}

hipError_t launch_stream_check(stream_kernel what, double const* found, std::size_t count,
                               std::uint64_t sample, stream_verdict* verdict, hipStream_t stream) {
  return launch_each(compare_result{found, count, sample, verdict, what}, count, stream);
}

hipError_t launch_copy_by_views(roc::device_view<unit16 const> from, roc::device_view<unit16> to,
                                hipStream_t stream) {
  using copy = copy_elements<roc::device_view<unit16 const>, roc::device_view<unit16>>;
  return launch_each(copy{from, to}, to.size(), stream);
}

hipError_t launch_copy_by_pointers(unit16 const* from, unit16* to, std::size_t count,
                                   hipStream_t stream) {
  return launch_each(copy_elements<pointer<unit16 const>, pointer<unit16>>{{from}, {to}}, count,
                     stream);
}

#endif

ROC_TWIN(each_element<copy_elements<view_in, view_out>>);
ROC_TWIN(each_element<copy_elements<pointer_in, pointer_out>>);
ROC_TWIN(each_element<multiply_elements<view_in, view_out>>);
ROC_TWIN(each_element<multiply_elements<pointer_in, pointer_out>>);
ROC_TWIN(each_element<add_elements<view_in, view_out>>);
ROC_TWIN(each_element<add_elements<pointer_in, pointer_out>>);
ROC_TWIN(each_element<triad_elements<view_in, view_out>>);
ROC_TWIN(each_element<triad_elements<pointer_in, pointer_out>>);
ROC_TWIN(each_element<copy_elements<roc::device_view<unit16 const>, roc::device_view<unit16>>>);
ROC_TWIN(each_element<copy_elements<pointer<unit16 const>, pointer<unit16>>>);
ROC_TWIN(each_element<write_source>);
ROC_TWIN(each_element<compare_result>);
ROC_TWIN(sum_blocks<product_of<view_in>, view_out>);
ROC_TWIN(sum_blocks<value_of<view_out>, view_out>);
ROC_TWIN(sum_blocks<product_of<pointer_in>, pointer_out>);
ROC_TWIN(sum_blocks<value_of<pointer_out>, pointer_out>);

}  // namespace rocbench

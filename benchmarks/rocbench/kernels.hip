// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include <algorithm>
#include <atomic>

#include <roc/native/elementwise.hpp>

#include "host_image.hpp"
#include "platform/host/host_stub.hpp"

namespace rocbench {

using roc::kernels::vector_word;

// Launches of a functor per element, and sums of a functor over all elements.

constexpr unsigned block_threads = 1024;

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

template <class F>
__global__ void __launch_bounds__(1024) elementwise_kernel(F f, std::size_t count) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) f(i);
}

#endif

#if defined(__CUDACC__) || defined(__HIP__)

// Enqueues f(i) for every i in [0, count). Returns the result of the launch.
template <class F>
hipError_t launch_elementwise(F const& f, std::size_t count, hipStream_t stream) {
  auto const blocks = static_cast<unsigned>((count + block_threads - 1) / block_threads);
  elementwise_kernel<F><<<dim3(blocks), dim3(block_threads), 0, stream>>>(f, count);
  return hipGetLastError();
}

#elif !ROCARRAY_KERNEL_HOST_STUB

// A host compiler has no kernel launch: the library runs the functor on its threads.
template <class F>
hipError_t launch_elementwise(F const& f, std::size_t count, hipStream_t stream) {
  return roc::native_detail::launch_elementwise(f, count, stream);
}

#endif

/// Returns the partial sum of one block, computed by one thread in cache-friendly order.
template <class F>
ROCARRAY_HOST_DEVICE double block_sum(F const& f, std::size_t count, std::size_t block,
                                      std::size_t blocks) {
  double sum = 0;
  for (std::size_t begin = block * block_threads; begin < count; begin += blocks * block_threads) {
    std::size_t const end = begin + block_threads < count ? begin + block_threads : count;
    for (std::size_t i = begin; i < end; ++i) sum += f(i);
  }
  return sum;
}

#if ROCARRAY_KERNEL_HOST_STUB

// Writes the partial sum of each block to sums(block). Host stubs run the threads of a block one
// after another, without shared memory: the first thread computes the sum of its block.
template <class F, class Out>
__global__ void reduce_blocks(F f, std::size_t count, Out sums) {
  std::size_t const block = blockIdx.x;
  if (threadIdx.x == 0) sums(block) = block_sum(f, count, block, gridDim.x);
}

#elif defined(__CUDACC__) || defined(__HIP__)

// Writes the partial sum of each block to sums(block).
template <class F, class Out>
__global__ void __launch_bounds__(1024) reduce_blocks(F f, std::size_t count, Out sums) {
  __shared__ double shared[block_threads];
  std::size_t const block = blockIdx.x;
  std::size_t const step = std::size_t{gridDim.x} * block_threads;
  std::size_t i = block * block_threads + threadIdx.x;
  double sum = 0;
  // Four independent loads are in flight before the first addition.
  for (; i + 3 * step < count; i += 4 * step) {
    double const values[] = {f(i), f(i + step), f(i + 2 * step), f(i + 3 * step)};
    for (double const value : values) sum += value;
  }
  for (; i < count; i += step) sum += f(i);
  shared[threadIdx.x] = sum;
  for (unsigned half = block_threads / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums(block) = shared[0];
}

// Enqueues reduce_blocks. Returns the result of the launch.
template <class F, class Out>
hipError_t launch_block_sums(F const& f, std::size_t count, Out const& sums, std::size_t blocks,
                             hipStream_t stream) {
  dim3 const grid(static_cast<unsigned>(blocks));
  // clang-format off
  reduce_blocks<<<grid, dim3(block_threads), 0, stream>>>(f, count, sums);
  // clang-format on
  return hipGetLastError();
}

#else

template <class F, class Out>
struct block_sum_functor {
  F f;
  std::size_t count;
  std::size_t blocks;
  Out sums;
  void operator()(std::size_t block) const { sums(block) = block_sum(f, count, block, blocks); }
};

template <class F, class Out>
hipError_t launch_block_sums(F const& f, std::size_t count, Out const& sums, std::size_t blocks,
                             hipStream_t stream) {
  return roc::native_detail::launch_elementwise(block_sum_functor<F, Out>{f, count, blocks, sums},
                                                blocks, stream);
}

#endif

/// Sets `*minimum` to the smaller of its value and `value`, atomically with respect to other calls.
ROCARRAY_HOST_DEVICE inline void atomic_minimum(unsigned long long* minimum,
                                                unsigned long long value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  atomicMin(minimum, value);
#else
  std::atomic_ref<unsigned long long> const shared(*minimum);
  auto current = shared.load();
  while (value < current && !shared.compare_exchange_weak(current, value)) {
  }
#endif
}

// Images.

// Verification uses neither transfers nor code of the library: each thread computes one word.

struct write_image_word {
  std::byte* destination;
  image contents;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    std::uint64_t const offset = i * 8;
    std::uint64_t const value = image_word(contents, offset);
    if (contents.size() - offset >= 8) {
      *reinterpret_cast<std::uint64_t*>(destination + offset) = value;
      return;
    }
    for (std::uint64_t byte = 0; offset + byte < contents.size(); ++byte) {
      destination[offset + byte] = static_cast<std::byte>(value >> 8 * byte);
    }
  }
};

struct compare_image_word {
  std::byte const* memory;
  image contents;
  device_comparison* comparison;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    std::uint64_t const offset = i * 8;
    std::uint64_t const value = image_word(contents, offset);
    std::uint64_t const left = contents.size() - offset;
    bool const whole_word = left >= 8;
    if (!whole_word || *reinterpret_cast<std::uint64_t const*>(memory + offset) != value) {
      std::uint64_t const bytes = whole_word ? 8 : left;
      std::uint64_t byte = 0;
      while (byte < bytes && memory[offset + byte] == static_cast<std::byte>(value >> 8 * byte)) {
        ++byte;
      }
      if (byte < bytes) atomic_minimum(&comparison->first_mismatch, offset + byte);
    }
    if (left <= 8) comparison->compared = contents.size();
  }
};

#if defined(__CUDACC__) || defined(__HIP__)

hipError_t launch_image_write(std::byte* destination, image const& contents, hipStream_t stream) {
  return launch_elementwise(write_image_word{destination, contents}, (contents.size() + 7) / 8,
                            stream);
}

hipError_t launch_image_check(std::byte const* memory, image const& contents,
                              device_comparison* comparison, hipStream_t stream) {
  return launch_elementwise(compare_image_word{memory, contents, comparison},
                            (contents.size() + 7) / 8, stream);
}

#elif !ROCARRAY_KERNEL_HOST_STUB

// On the host platform each call processes a page, with the vectorized loops of host_image.cpp.
constexpr std::uint64_t page = 1 << 14;

hipError_t launch_image_write(std::byte* destination, image const& contents, hipStream_t stream) {
  auto const write = [=](std::size_t i) {
    write_image_range(destination, contents, i * page, std::min((i + 1) * page, contents.size()));
  };
  return launch_elementwise(write, (contents.size() + page - 1) / page, stream);
}

hipError_t launch_image_check(std::byte const* memory, image const& contents,
                              device_comparison* comparison, hipStream_t stream) {
  auto const compare = [=](std::size_t i) {
    std::uint64_t const end = std::min((i + 1) * page, contents.size());
    std::uint64_t const first = first_mismatch_in_range(memory, contents, i * page, end);
    if (first != end) atomic_minimum(&comparison->first_mismatch, first);
    if (end == contents.size()) comparison->compared = end;
  };
  return launch_elementwise(compare, (contents.size() + page - 1) / page, stream);
}

#endif

// Copies and BabelStream's kernels.

/// A plain pointer with a view's call operator, so that one functor works with both.
template <class T>
struct pointer_accessor {
  T* data;
  ROCARRAY_HOST_DEVICE T& operator()(std::size_t i) const { return data[i]; }
};

template <class In, class Out>
struct copy_elements {
  In source;
  Out destination;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { destination(i) = source(i); }
};

template <class In, class Out>
struct multiply_elements {
  In source;
  Out destination;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    destination(i) = stream_scalar * source(i);
  }
};

template <class In, class Out>
struct add_elements {
  In a;
  In b;
  Out destination;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { destination(i) = a(i) + b(i); }
};

template <class In, class Out>
struct triad_elements {
  In a;
  In b;
  Out destination;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    destination(i) = a(i) + stream_scalar * b(i);
  }
};

template <class In>
struct product_functor {
  In a;
  In b;
  ROCARRAY_HOST_DEVICE double operator()(std::size_t i) const { return a(i) * b(i); }
};

template <class In>
struct value_functor {
  In a;
  ROCARRAY_HOST_DEVICE double operator()(std::size_t i) const { return a(i); }
};

using view_in = roc::device_view<double const>;
using view_out = roc::device_view<double>;
using pointer_in = pointer_accessor<double const>;
using pointer_out = pointer_accessor<double>;

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

hipError_t launch_copy_with_views(roc::device_view<vector_word const> source,
                                  roc::device_view<vector_word> destination, hipStream_t stream) {
  using copy = copy_elements<roc::device_view<vector_word const>, roc::device_view<vector_word>>;
  return launch_elementwise(copy{source, destination}, destination.size(), stream);
}

hipError_t launch_copy_with_pointers(vector_word const* source, vector_word* destination, std::size_t count,
                                     hipStream_t stream) {
  return launch_elementwise(
      copy_elements<pointer_accessor<vector_word const>, pointer_accessor<vector_word>>{{source},
                                                                              {destination}},
      count, stream);
}

template <class In, class Out>
hipError_t launch_stream(stream_kernel kernel, In a, In b, Out destination, Out partial_sums,
                         std::size_t count, std::size_t blocks, hipStream_t stream) {
  switch (kernel) {
    case stream_kernel::copy:
      return launch_elementwise(copy_elements<In, Out>{a, destination}, count, stream);
    case stream_kernel::mul:
      return launch_elementwise(multiply_elements<In, Out>{a, destination}, count, stream);
    case stream_kernel::add:
      return launch_elementwise(add_elements<In, Out>{a, b, destination}, count, stream);
    case stream_kernel::triad:
      return launch_elementwise(triad_elements<In, Out>{a, b, destination}, count, stream);
    case stream_kernel::dot: break;
  }
  hipError_t const partial =
      launch_block_sums(product_functor<In>{a, b}, count, partial_sums, blocks, stream);
  if (partial != hipSuccess) return partial;
  return launch_block_sums(value_functor<Out>{partial_sums}, blocks, destination, 1, stream);
}

hipError_t launch_stream_with_views(stream_kernel kernel, stream_arrays const& arrays,
                                    hipStream_t stream) {
  return launch_stream<view_in, view_out>(kernel, arrays.first, arrays.second, arrays.result,
                                          arrays.partial_sums, arrays.first.size(),
                                          arrays.partial_sums.size(), stream);
}

hipError_t launch_stream_with_pointers(stream_kernel kernel, stream_arrays const& arrays,
                                       hipStream_t stream) {
  return launch_stream<pointer_in, pointer_out>(
      kernel, {arrays.first.data()}, {arrays.second.data()}, {arrays.result.data()},
      {arrays.partial_sums.data()}, arrays.first.size(), arrays.partial_sums.size(), stream);
}

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

ROCARRAY_HOST_STUB(elementwise_kernel<write_image_word>);
ROCARRAY_HOST_STUB(elementwise_kernel<compare_image_word>);
ROCARRAY_HOST_STUB(
    elementwise_kernel<copy_elements<roc::device_view<vector_word const>, roc::device_view<vector_word>>>);
ROCARRAY_HOST_STUB(
    elementwise_kernel<copy_elements<pointer_accessor<vector_word const>, pointer_accessor<vector_word>>>);
ROCARRAY_HOST_STUB(elementwise_kernel<copy_elements<view_in, view_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<copy_elements<pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<multiply_elements<view_in, view_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<multiply_elements<pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<add_elements<view_in, view_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<add_elements<pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<triad_elements<view_in, view_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<triad_elements<pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(reduce_blocks<product_functor<view_in>, view_out>);
ROCARRAY_HOST_STUB(reduce_blocks<value_functor<view_out>, view_out>);
ROCARRAY_HOST_STUB(reduce_blocks<product_functor<pointer_in>, pointer_out>);
ROCARRAY_HOST_STUB(reduce_blocks<value_functor<pointer_out>, pointer_out>);
ROCARRAY_HOST_STUB(elementwise_kernel<write_input>);
ROCARRAY_HOST_STUB(elementwise_kernel<compare_result>);

}  // namespace rocbench

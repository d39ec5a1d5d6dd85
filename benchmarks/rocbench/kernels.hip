// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include <roc/for_each.hpp>
#include <roc/native/elementwise.hpp>
#include <roc/native/for_each_kernel.hpp>

#include "platform/host/host_stub.hpp"

namespace rocbench {

using roc::kernels::vector_word;

// Launches of a functor per element, and sums of a functor over all elements.

constexpr unsigned block_threads = 1024;

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

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

template <class F>
__global__ void __launch_bounds__(1024) elementwise_kernel(F f, std::size_t count) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) f(i);
}

// Writes the partial sum of each block to sums(block).
template <class F, class Out>
__global__ void __launch_bounds__(1024) reduce_blocks(F f, std::size_t count, Out sums) {
  std::size_t const block = blockIdx.x;
#if ROCARRAY_KERNEL_HOST_STUB
  // Host stubs run the threads of a block one after another, without shared memory: the first
  // thread computes the sum of its block.
  if (threadIdx.x == 0) sums(block) = block_sum(f, count, block, gridDim.x);
#else
  __shared__ double shared[block_threads];
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
#endif
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

// Enqueues the sums of the blocks, sums(block). Returns the result of the launch.
template <class F, class Out>
hipError_t launch_block_sums(F const& f, std::size_t count, Out const& sums, std::size_t blocks,
                             hipStream_t stream) {
  dim3 const grid(static_cast<unsigned>(blocks));
  reduce_blocks<<<grid, dim3(block_threads), 0, stream>>>(f, count, sums);
  return hipGetLastError();
}

#elif !ROCARRAY_KERNEL_HOST_STUB

// A host compiler has no kernel launch: the library runs functors on its threads.
using roc::native_detail::launch_elementwise;

template <class F, class Out>
hipError_t launch_block_sums(F const& f, std::size_t count, Out const& sums, std::size_t blocks,
                             hipStream_t stream) {
  auto const sum = [=](std::size_t block) { sums(block) = block_sum(f, count, block, blocks); };
  return launch_elementwise(sum, blocks, stream);
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

// Verification uses neither transfers nor code of the library: each thread computes one word. On
// the host platform each call processes a page, with the vectorized loops of image.cpp.
#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

constexpr std::uint64_t image_unit = 8;

/// Writes the word of an image at [begin, end); the last one may be shorter.
ROCARRAY_HOST_DEVICE inline void write_image_unit(std::byte* memory, image const& contents,
                                                  std::uint64_t begin, std::uint64_t end) {
  std::uint64_t const value = image_word(contents, begin);
  if (end - begin == 8) {
    *reinterpret_cast<std::uint64_t*>(memory + begin) = value;
    return;
  }
  for (std::uint64_t i = begin; i < end; ++i) {
    memory[i] = static_cast<std::byte>(value >> 8 * (i - begin));
  }
}

/// Returns the offset of the first byte in [begin, end) that differs, or `end`.
ROCARRAY_HOST_DEVICE inline std::uint64_t mismatch_in_image_unit(std::byte const* memory,
                                                                 image const& contents,
                                                                 std::uint64_t begin,
                                                                 std::uint64_t end) {
  std::uint64_t const value = image_word(contents, begin);
  if (end - begin == 8 && *reinterpret_cast<std::uint64_t const*>(memory + begin) == value)
    return end;
  std::uint64_t i = begin;
  while (i < end && memory[i] == static_cast<std::byte>(value >> 8 * (i - begin))) ++i;
  return i;
}

#else

constexpr std::uint64_t image_unit = 1 << 14;

inline void write_image_unit(std::byte* memory, image const& contents, std::uint64_t begin,
                             std::uint64_t end) {
  write_image_range(memory + begin, contents, begin, end);
}

inline std::uint64_t mismatch_in_image_unit(std::byte const* memory, image const& contents,
                                            std::uint64_t begin, std::uint64_t end) {
  return first_mismatch_in_range(memory, contents, begin, end);
}

#endif

/// Returns the end of the unit of an image that starts at `begin`.
ROCARRAY_HOST_DEVICE inline std::uint64_t image_unit_end(image const& contents,
                                                         std::uint64_t begin) {
  std::uint64_t const size = contents.size();
  return size - begin > image_unit ? begin + image_unit : size;
}

struct write_image_functor {
  std::byte* destination;
  image contents;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    std::uint64_t const begin = i * image_unit;
    write_image_unit(destination, contents, begin, image_unit_end(contents, begin));
  }
};

struct compare_image_functor {
  std::byte const* memory;
  image contents;
  device_comparison* comparison;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    std::uint64_t const begin = i * image_unit;
    std::uint64_t const end = image_unit_end(contents, begin);
    std::uint64_t const first = mismatch_in_image_unit(memory, contents, begin, end);
    if (first != end) atomic_minimum(&comparison->first_mismatch, first);
    if (end == contents.size()) comparison->compared = end;
  }
};

// Copies and BabelStream's kernels.

/// A plain pointer with a view's call operator, so that one functor works with both.
template <class T>
struct pointer_accessor {
  T* data;
  ROCARRAY_HOST_DEVICE T& operator()(std::size_t i) const { return data[i]; }
};

// Computes an element of a kernel that is not dot; copy and mul do not read b.
template <stream_kernel Kernel, class In, class Out>
struct stream_element {
  In a;
  In b;
  Out destination;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    if constexpr (Kernel == stream_kernel::copy) destination(i) = a(i);
    if constexpr (Kernel == stream_kernel::mul) destination(i) = stream_scalar * a(i);
    if constexpr (Kernel == stream_kernel::add) destination(i) = a(i) + b(i);
    if constexpr (Kernel == stream_kernel::triad) destination(i) = a(i) + stream_scalar * b(i);
  }
};

template <class In>
struct stream_product {
  In a;
  In b;
  ROCARRAY_HOST_DEVICE double operator()(std::size_t i) const { return a(i) * b(i); }
};

using view_in = roc::device_view<double const>;
using view_out = roc::device_view<double>;
using pointer_in = pointer_accessor<double const>;
using pointer_out = pointer_accessor<double>;
using copy_by_view = stream_element<stream_kernel::copy, roc::device_view<vector_word const>,
                                    roc::device_view<vector_word>>;
using copy_by_pointer = stream_element<stream_kernel::copy, pointer_accessor<vector_word const>,
                                       pointer_accessor<vector_word>>;

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

// Sums of arrays of rank 1 to 4.

template <std::size_t N>
struct view_sum {
  roc::device_view<float const, N> a;
  roc::device_view<float const, N> b;
  roc::device_view<float, N> c;
  template <class... I>
  ROCARRAY_HOST_DEVICE void operator()(I... index) const {
    c(index...) = a(index...) + b(index...);
  }
};

struct write_addend {
  float* output;
  std::uint64_t sample;
  unsigned array;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    output[i] = addend(i, array, sample);
  }
};

struct compare_sum {
  float const* sums;
  std::size_t count;
  std::uint64_t sample;
  device_comparison* comparison;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    if (sums[i] != expected_sum(i, sample)) atomic_minimum(&comparison->first_mismatch, i);
    if (i == count - 1) comparison->compared = count;
  }
};

// A stencil of a matrix.

constexpr unsigned stencil_block_rows = 8;
constexpr unsigned stencil_block_columns = 32;
using stencil_block = roc::block_shape<stencil_block_rows, stencil_block_columns>;

struct view_stencil {
  roc::device_view<float const, 2> source;
  roc::device_view<float, 2> destination;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i, std::size_t j) const {
    destination(i, j) = stencil_value(source(i, j), source(i - 1, j), source(i + 1, j),
                                      source(i, j - 1), source(i, j + 1));
  }
};

struct compare_stencil {
  float const* matrix;
  std::size_t rows;
  std::size_t columns;
  std::uint64_t sample;
  std::uint32_t poison;
  device_comparison* comparison;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t index) const {
    std::size_t const i = index / columns;
    std::size_t const j = index - i * columns;
    bool const is_border = i == 0 || i == rows - 1 || j == 0 || j == columns - 1;
    std::uint32_t expected = poison;
    if (!is_border) {
      float const value = expected_stencil(index, columns, sample);
      std::memcpy(&expected, &value, sizeof value);
    }
    std::uint32_t found = 0;
    std::memcpy(&found, matrix + index, sizeof found);
    if (found != expected) atomic_minimum(&comparison->first_mismatch, index);
    if (index == rows * columns - 1) comparison->compared = rows * columns;
  }
};

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

// The grid has a block for every part of a row. Rows and planes beyond its limits are left to
// loops.
__global__ void __launch_bounds__(256)
    sum_kernel(float const* a, float const* b, float* c, std::size_t planes, std::size_t rows,
               std::size_t columns) {
  std::size_t const k = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k >= columns) return;
  for (std::size_t i = blockIdx.z; i < planes; i += gridDim.z) {
    for (std::size_t j = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; j < rows;
         j += std::size_t{gridDim.y} * blockDim.y) {
      std::size_t const index = (i * rows + j) * columns + k;
      c[index] = a[index] + b[index];
    }
  }
}

// The grid has a block for every part of a row. Rows beyond its limits are left to a loop.
__global__ void __launch_bounds__(stencil_block_rows* stencil_block_columns)
    stencil_kernel(float const* source, float* destination, std::size_t rows, std::size_t columns) {
  std::size_t const j = 1 + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (j >= columns - 1) return;
  for (std::size_t i = 1 + std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; i < rows - 1;
       i += std::size_t{gridDim.y} * blockDim.y) {
    std::size_t const index = i * columns + j;
    destination[index] = stencil_value(source[index], source[index - columns],
                                       source[index + columns], source[index - 1],
                                       source[index + 1]);
  }
}

#endif

#if defined(__CUDACC__) || defined(__HIP__)

constexpr std::size_t max_blocks = 65535;  // of the second and third axis

hipError_t launch_sum(sum_arrays const& arrays, roc::shape<3> const& extents, hipStream_t stream) {
  auto const& [planes, rows, columns] = extents;
  dim3 const block = rows == 1 ? dim3(256) : dim3(64, 4);
  dim3 const grid(static_cast<unsigned>((columns + block.x - 1) / block.x),
                  static_cast<unsigned>(std::min((rows + block.y - 1) / block.y, max_blocks)),
                  static_cast<unsigned>(std::min(planes, max_blocks)));
  sum_kernel<<<grid, block, 0, stream>>>(arrays.a.data(), arrays.b.data(), arrays.c.data(), planes,
                                         rows, columns);
  return hipGetLastError();
}

hipError_t launch_stencil(stencil_arrays const& arrays, hipStream_t stream) {
  auto const& [rows, columns] = arrays.source.shape();
  dim3 const block(stencil_block_columns, stencil_block_rows);
  dim3 const grid(
      static_cast<unsigned>((columns - 2 + block.x - 1) / block.x),
      static_cast<unsigned>(std::min((rows - 2 + block.y - 1) / block.y, max_blocks)));
  stencil_kernel<<<grid, block, 0, stream>>>(arrays.source.data(), arrays.destination.data(), rows,
                                             columns);
  return hipGetLastError();
}

#elif !ROCARRAY_KERNEL_HOST_STUB

// Without kernels, what is written by hand is a loop over a part of a row, for each core.
hipError_t launch_sum(sum_arrays const& arrays, roc::shape<3> const&, hipStream_t stream) {
  constexpr std::size_t part = 1 << 14;
  float const* const a = arrays.a.data();
  float const* const b = arrays.b.data();
  float* const c = arrays.c.data();
  std::size_t const count = arrays.c.size();
  auto const add = [=](std::size_t index) {
    std::size_t const end = std::min((index + 1) * part, count);
    for (std::size_t i = index * part; i < end; ++i) c[i] = a[i] + b[i];
  };
  return launch_elementwise(add, (count + part - 1) / part, stream);
}

// A loop over a row, for each core.
hipError_t launch_stencil(stencil_arrays const& arrays, hipStream_t stream) {
  float const* const source = arrays.source.data();
  float* const destination = arrays.destination.data();
  std::size_t const rows = arrays.source.shape()[0];
  std::size_t const columns = arrays.source.shape()[1];
  auto const apply = [=](std::size_t inner_row) {
    std::size_t const first = (inner_row + 1) * columns;
    for (std::size_t index = first + 1; index < first + columns - 1; ++index) {
      destination[index] = stencil_value(source[index], source[index - columns],
                                         source[index + columns], source[index - 1],
                                         source[index + 1]);
    }
  };
  return launch_elementwise(apply, rows - 2, stream);
}

#endif

#if !ROCARRAY_KERNEL_HOST_STUB

template <std::size_t N>
void for_each_sum(sum_arrays const& arrays, roc::shape<N> const& extents, roc::stream_ref stream) {
  auto const with_extents = [&]<class T>(roc::device_view<T> const& view) {
    return roc::device_view<T, N>(view.data(), extents, roc::order::c, view.device_ordinal());
  };
  roc::for_each(stream, extents,
                view_sum<N>{with_extents(arrays.a), with_extents(arrays.b), with_extents(arrays.c)});
}

template void for_each_sum(sum_arrays const&, roc::shape<1> const&, roc::stream_ref);
template void for_each_sum(sum_arrays const&, roc::shape<2> const&, roc::stream_ref);
template void for_each_sum(sum_arrays const&, roc::shape<3> const&, roc::stream_ref);
template void for_each_sum(sum_arrays const&, roc::shape<4> const&, roc::stream_ref);

void for_each_stencil(stencil_arrays const& arrays, bool has_block_shape, roc::stream_ref stream) {
  view_stencil const stencil{arrays.source, arrays.destination};
  roc::shape<2> const begin{1, 1};
  roc::shape<2> const end{arrays.source.shape()[0] - 1, arrays.source.shape()[1] - 1};
  if (has_block_shape) {
    roc::for_each(stream, begin, end, stencil, stencil_block{});
  } else {
    roc::for_each(stream, begin, end, stencil);
  }
}

hipError_t launch_addends(float* output, std::size_t count, unsigned array, std::uint64_t sample,
                          hipStream_t stream) {
  return launch_elementwise(write_addend{output, sample, array}, count, stream);
}

hipError_t launch_sum_check(float const* sums, std::size_t count, std::uint64_t sample,
                            device_comparison* comparison, hipStream_t stream) {
  return launch_elementwise(compare_sum{sums, count, sample, comparison}, count, stream);
}

hipError_t launch_stencil_check(float const* matrix, roc::shape<2> const& extents,
                                std::uint64_t sample, device_comparison* comparison,
                                hipStream_t stream) {
  auto const& [rows, columns] = extents;
  std::uint32_t const poison = poison_byte(sample) * std::uint32_t{0x01010101};
  return launch_elementwise(compare_stencil{matrix, rows, columns, sample, poison, comparison},
                            rows * columns, stream);
}

hipError_t launch_image_write(std::byte* destination, image const& contents, hipStream_t stream) {
  return launch_elementwise(write_image_functor{destination, contents},
                            (contents.size() + image_unit - 1) / image_unit, stream);
}

hipError_t launch_image_check(std::byte const* memory, image const& contents,
                              device_comparison* comparison, hipStream_t stream) {
  return launch_elementwise(compare_image_functor{memory, contents, comparison},
                            (contents.size() + image_unit - 1) / image_unit, stream);
}

hipError_t launch_copy(roc::device_view<vector_word const> source,
                       roc::device_view<vector_word> destination, bool by_pointer,
                       hipStream_t stream) {
  std::size_t const count = destination.size();
  if (!by_pointer)
    return launch_elementwise(copy_by_view{source, source, destination}, count, stream);
  pointer_accessor<vector_word const> const from{source.data()};
  return launch_elementwise(copy_by_pointer{from, from, {destination.data()}}, count, stream);
}

template <class In, class Out>
hipError_t launch_stream_by(stream_kernel kernel, In a, In b, Out destination, Out partial_sums,
                            std::size_t count, std::size_t blocks, hipStream_t stream) {
  switch (kernel) {
    case stream_kernel::copy:
      return launch_elementwise(
          stream_element<stream_kernel::copy, In, Out>{a, b, destination}, count, stream);
    case stream_kernel::mul:
      return launch_elementwise(
          stream_element<stream_kernel::mul, In, Out>{a, b, destination}, count, stream);
    case stream_kernel::add:
      return launch_elementwise(
          stream_element<stream_kernel::add, In, Out>{a, b, destination}, count, stream);
    case stream_kernel::triad:
      return launch_elementwise(
          stream_element<stream_kernel::triad, In, Out>{a, b, destination}, count, stream);
    case stream_kernel::dot: break;
  }
  hipError_t const partial =
      launch_block_sums(stream_product<In>{a, b}, count, partial_sums, blocks, stream);
  if (partial != hipSuccess) return partial;
  return launch_block_sums(partial_sums, blocks, destination, 1, stream);
}

hipError_t launch_stream(stream_kernel kernel, stream_arrays const& arrays, bool by_pointer,
                         hipStream_t stream) {
  std::size_t const count = arrays.first.size();
  std::size_t const blocks = arrays.partial_sums.size();
  if (!by_pointer) {
    return launch_stream_by<view_in, view_out>(kernel, arrays.first, arrays.second, arrays.result,
                                               arrays.partial_sums, count, blocks, stream);
  }
  return launch_stream_by<pointer_in, pointer_out>(
      kernel, {arrays.first.data()}, {arrays.second.data()}, {arrays.result.data()},
      {arrays.partial_sums.data()}, count, blocks, stream);
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

ROCARRAY_HOST_STUB(elementwise_kernel<write_image_functor>);
ROCARRAY_HOST_STUB(elementwise_kernel<compare_image_functor>);
ROCARRAY_HOST_STUB(elementwise_kernel<copy_by_view>);
ROCARRAY_HOST_STUB(elementwise_kernel<copy_by_pointer>);
ROCARRAY_HOST_STUB(elementwise_kernel<stream_element<stream_kernel::copy, view_in, view_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<stream_element<stream_kernel::copy, pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<stream_element<stream_kernel::mul, view_in, view_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<stream_element<stream_kernel::mul, pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<stream_element<stream_kernel::add, view_in, view_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<stream_element<stream_kernel::add, pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<stream_element<stream_kernel::triad, view_in, view_out>>);
ROCARRAY_HOST_STUB(elementwise_kernel<stream_element<stream_kernel::triad, pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(reduce_blocks<stream_product<view_in>, view_out>);
ROCARRAY_HOST_STUB(reduce_blocks<view_out, view_out>);
ROCARRAY_HOST_STUB(reduce_blocks<stream_product<pointer_in>, pointer_out>);
ROCARRAY_HOST_STUB(reduce_blocks<pointer_out, pointer_out>);
ROCARRAY_HOST_STUB(elementwise_kernel<write_input>);
ROCARRAY_HOST_STUB(elementwise_kernel<compare_result>);
ROCARRAY_HOST_STUB(elementwise_kernel<write_addend>);
ROCARRAY_HOST_STUB(elementwise_kernel<compare_sum>);
ROCARRAY_HOST_STUB(sum_kernel);
ROCARRAY_HOST_STUB(elementwise_kernel<compare_stencil>);
ROCARRAY_HOST_STUB(stencil_kernel);

}  // namespace rocbench

namespace roc::native_detail {

ROCARRAY_FOR_EACH_HOST_STUB(1, rocbench::view_sum<1>);
ROCARRAY_FOR_EACH_HOST_STUB(2, rocbench::view_sum<2>);
ROCARRAY_FOR_EACH_HOST_STUB(3, rocbench::view_sum<3>);
ROCARRAY_FOR_EACH_HOST_STUB(4, rocbench::view_sum<4>);
ROCARRAY_FOR_EACH_HOST_STUB(2, rocbench::view_stencil);
ROCARRAY_HOST_STUB(for_each_index<rocbench::stencil_block, 2, rocbench::view_stencil>);

}  // namespace roc::native_detail

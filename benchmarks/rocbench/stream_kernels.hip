// SPDX-License-Identifier: MIT
#include "stream_kernels.hpp"

#include "block_sums.hpp"
#include "elementwise_kernel.hpp"

namespace rocbench {

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

#if !ROCARRAY_KERNEL_HOST_STUB

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

#endif

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

}  // namespace rocbench

// SPDX-License-Identifier: MIT
// BabelStream's kernels: each is one template over what gives elements, views or pointers.
#include "device_kernels.hpp"
#include "sum_blocks.hpp"

namespace rocbench {

template <class In, class Out>
struct multiply_elements {
  In from;
  Out to;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { to(i) = stream_factor * from(i); }
};

template <class In, class Out>
struct add_elements {
  In a;
  In b;
  Out to;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { to(i) = a(i) + b(i); }
};

template <class In, class Out>
struct triad_elements {
  In a;
  In b;
  Out to;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { to(i) = a(i) + stream_factor * b(i); }
};

template <class In>
struct product_of {
  In a;
  In b;
  ROCARRAY_HOST_DEVICE double operator()(std::size_t i) const { return a(i) * b(i); }
};

template <class In>
struct value_of {
  In a;
  ROCARRAY_HOST_DEVICE double operator()(std::size_t i) const { return a(i); }
};

using view_in = roc::device_view<double const>;
using view_out = roc::device_view<double>;
using pointer_in = pointer<double const>;
using pointer_out = pointer<double>;

#if !ROCARRAY_KERNEL_HOST_STUB

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
  return launch_stream<pointer_in, pointer_out>(what, {on.first.data()}, {on.second.data()},
                                                {on.result.data()}, {on.parts.data()},
                                                on.first.size(), on.parts.size(), stream);
}

#endif

ROCARRAY_HOST_STUB(each_element<copy_elements<view_in, view_out>>);
ROCARRAY_HOST_STUB(each_element<copy_elements<pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(each_element<multiply_elements<view_in, view_out>>);
ROCARRAY_HOST_STUB(each_element<multiply_elements<pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(each_element<add_elements<view_in, view_out>>);
ROCARRAY_HOST_STUB(each_element<add_elements<pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(each_element<triad_elements<view_in, view_out>>);
ROCARRAY_HOST_STUB(each_element<triad_elements<pointer_in, pointer_out>>);
ROCARRAY_HOST_STUB(sum_blocks<product_of<view_in>, view_out>);
ROCARRAY_HOST_STUB(sum_blocks<value_of<view_out>, view_out>);
ROCARRAY_HOST_STUB(sum_blocks<product_of<pointer_in>, pointer_out>);
ROCARRAY_HOST_STUB(sum_blocks<value_of<pointer_out>, pointer_out>);

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include <roc/native/elementwise.hpp>
#include <roc/roc.hpp>

#include "kernels/for_each_kernels.hpp"
#include "platform/host/host_stub.hpp"

namespace roc::test {

struct saxpy_functor {
  float a;
  device_view<float const> x;
  device_view<float> y;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { y(i) = a * x(i) + y(i); }
};

struct number_functor {
  device_view<int, 2> out;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i, std::size_t k) const {
    out(i, k) = static_cast<int>(i * 100 + k);
  }
};

struct increment_functor {
  device_view<int, 0> out;
  ROCARRAY_HOST_DEVICE void operator()() const { out() += 1; }
};

#if !ROCARRAY_KERNEL_HOST_STUB

void saxpy(stream_ref stream, float a, device_view<float const> x, device_view<float> y) {
  for_each(stream, y.shape(), saxpy_functor{a, x, y});
}

void number(stream_ref stream, device_view<int, 2> out) {
  for_each(stream, out.shape(), number_functor{out});
}

void increment(stream_ref stream, device_view<int, 0> out) {
  for_each(stream, out.shape(), increment_functor{out});
}

void double_by_lambda(stream_ref stream, device_view<int> out) {
  for_each(stream, out.shape(), [=] ROCARRAY_HOST_DEVICE(std::size_t i) { out(i) *= 2; });
}

#endif

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

__global__ void transpose(device_view<int const, 2> from, device_view<int, 2> to) {
  std::size_t const i = blockIdx.x * blockDim.x + threadIdx.x;
  std::size_t const k = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < from.extent(0) && k < from.extent(1)) to(k, i) = from(i, k);
}
ROCARRAY_HOST_STUB(transpose);

#endif

#if defined(__CUDACC__) || defined(__HIP__)

bool transpose_by_kernel(stream_ref stream, device_view<int const, 2> from,
                         device_view<int, 2> to) {
  dim3 const block(8, 8);
  dim3 const grid(static_cast<unsigned>(from.extent(0) / 8 + 1),
                  static_cast<unsigned>(from.extent(1) / 8 + 1));
  transpose<<<grid, block, 0, native(stream)>>>(from, to);
  return hipGetLastError() == hipSuccess;
}

#elif !ROCARRAY_KERNEL_HOST_STUB

bool transpose_by_kernel(stream_ref, device_view<int const, 2>, device_view<int, 2>) {
  return false;
}

#endif

}  // namespace roc::test

namespace roc::native_detail {

ROCARRAY_ELEMENTWISE_HOST_STUB(over_shape<test::saxpy_functor, 1>);
ROCARRAY_ELEMENTWISE_HOST_STUB(over_shape<test::number_functor, 2>);
ROCARRAY_ELEMENTWISE_HOST_STUB(over_shape<test::increment_functor, 0>);

}  // namespace roc::native_detail

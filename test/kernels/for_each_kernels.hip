// SPDX-License-Identifier: MIT
#include <roc/native/for_each_kernel.hpp>
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

template <std::size_t N>
struct visit_functor {
  device_view<int, N> visits;
  detail::kernel_array<std::size_t, N> origin;

  template <class... I>
  ROCARRAY_HOST_DEVICE void operator()(I... index) const {
    visit(std::make_index_sequence<N>{}, index...);
  }

  template <std::size_t... Axes, class... I>
  ROCARRAY_HOST_DEVICE void visit(std::index_sequence<Axes...>, I... index) const {
    static_assert((std::is_same_v<I, std::size_t> && ...));
    std::size_t position = 0;
    ((position = position * visits.extent(Axes) + (index - origin[Axes])), ...);
    visits((index - origin[Axes])...) += 1 + static_cast<int>(position);
  }
};

using rows_block = block_shape<64>;
using large_block = block_shape<1024>;
template <std::size_t N>
struct tiles_of_rank {
  using type = block_shape<8, 32>;
};
template <>
struct tiles_of_rank<1> {
  using type = block_shape<192>;
};
template <>
struct tiles_of_rank<4> {
  using type = block_shape<2, 3, 4, 5>;
};
template <std::size_t N>
using tiles_block = typename tiles_of_rank<N>::type;

struct increment_element {
  device_view<int, 2> out;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i, std::size_t k) const { out(i, k) += 1; }
};

struct increment_in_line {
  device_view<int> out;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { out(i) += 1; }
};

#if !ROCARRAY_KERNEL_HOST_STUB

template <std::size_t N>
void count_visits(stream_ref stream, shape<N> const& begin, shape<N> const& end,
                  shape<N> const& origin, device_view<int, N> visits, block_choice blocks) {
  visit_functor<N> const f{visits, origin};
  switch (blocks) {
    case block_choice::standard: return for_each(stream, begin, end, f);
    case block_choice::rows: return for_each(stream, begin, end, f, rows_block{});
    case block_choice::tiles: return for_each(stream, begin, end, f, tiles_block<N>{});
    case block_choice::threads_1024: return for_each(stream, begin, end, f, large_block{});
  }
}

template void count_visits(stream_ref, shape<1> const&, shape<1> const&, shape<1> const&,
                           device_view<int, 1>, block_choice);
template void count_visits(stream_ref, shape<2> const&, shape<2> const&, shape<2> const&,
                           device_view<int, 2>, block_choice);
template void count_visits(stream_ref, shape<3> const&, shape<3> const&, shape<3> const&,
                           device_view<int, 3>, block_choice);
template void count_visits(stream_ref, shape<4> const&, shape<4> const&, shape<4> const&,
                           device_view<int, 4>, block_choice);

void increment_interior(stream_ref stream, device_view<int, 2> out, int row) {
  std::size_t const rows = out.extent(0);
  std::size_t const columns = out.extent(1);
  auto const middle = static_cast<std::size_t>(row);
  for_each(stream, {1, 1}, {middle, columns - 1}, increment_element{out});
  for_each(stream, {middle, 1}, {rows - 1, columns - 1}, increment_element{out});
}

void increment_range(stream_ref stream, device_view<int> out, int begin, std::size_t end) {
  for_each(stream, begin, end, increment_in_line{out});
}

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

#endif

ROCARRAY_FOR_EACH_HOST_STUB(1, saxpy_functor);
ROCARRAY_FOR_EACH_HOST_STUB(2, number_functor);
ROCARRAY_FOR_EACH_HOST_STUB(0, increment_functor);
ROCARRAY_FOR_EACH_HOST_STUB(2, increment_element);
ROCARRAY_FOR_EACH_HOST_STUB(1, increment_in_line);
ROCARRAY_FOR_EACH_HOST_STUB(1, visit_functor<1>);
ROCARRAY_FOR_EACH_HOST_STUB(2, visit_functor<2>);
ROCARRAY_FOR_EACH_HOST_STUB(3, visit_functor<3>);
ROCARRAY_FOR_EACH_HOST_STUB(4, visit_functor<4>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<rows_block, 1, visit_functor<1>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<rows_block, 2, visit_functor<2>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<rows_block, 3, visit_functor<3>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<rows_block, 4, visit_functor<4>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<large_block, 1, visit_functor<1>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<large_block, 2, visit_functor<2>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<large_block, 3, visit_functor<3>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<large_block, 4, visit_functor<4>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<tiles_block<1>, 1, visit_functor<1>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<tiles_block<2>, 2, visit_functor<2>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<tiles_block<3>, 3, visit_functor<3>>);
ROCARRAY_HOST_STUB(native_detail::for_each_index<tiles_block<4>, 4, visit_functor<4>>);

}  // namespace roc::test

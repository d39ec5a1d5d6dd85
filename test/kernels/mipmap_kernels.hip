// SPDX-License-Identifier: MIT
// With bounds checks.
#undef ROCARRAY_CHECK_BOUNDS  // an option of the build may set it
#define ROCARRAY_CHECK_BOUNDS 1

#include "kernels/mipmap_kernels.hpp"

#include <cstddef>

#include <roc/for_each.hpp>
#include <roc/kernel.hpp>
#include <roc/native/for_each_kernel.hpp>

#include "platform/host/host_stub.hpp"

#if !ROCARRAY_KERNEL_HOST_STUB
#include <roc/launch.hpp>
#endif

namespace roc::test {

template <class View>
struct level_functor {
  using traits = detail::pixel_traits<typename View::value_type>;

  View view;
  device_view<float const, 2> coordinates;
  device_view<double, 2> out;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    auto const sampled = sample(i);
    for (std::size_t c = 0; c < traits::channels; ++c) {
      out(i, c) = static_cast<double>(traits::at(sampled, c));
    }
  }

 private:
  ROCARRAY_HOST_DEVICE typename View::value_type sample(std::size_t i) const {
    float arguments[View::rank + 1];
    for (std::size_t k = 0; k <= View::rank; ++k) arguments[k] = coordinates(i, k);
    if constexpr (View::rank == 1) {
      return view.sample(arguments[0], arguments[1]);
    } else if constexpr (View::rank == 2) {
      return view.sample(arguments[0], arguments[1], arguments[2]);
    } else {
      return view.sample(arguments[0], arguments[1], arguments[2], arguments[3]);
    }
  }
};

__global__ void mipmap_level_kernel(mipmap_view<float, 2> view, int level) {
  float const value = view.level(level).load(0, 0);
  if (value < 0) view.level(0).store(value, 0, 0);  // so that the load is not removed
}
ROCARRAY_HOST_STUB(mipmap_level_kernel);

#if !ROCARRAY_KERNEL_HOST_STUB

template <class View>
void sample_levels(stream_ref stream, View const& view, device_view<float const, 2> coordinates,
                   device_view<double, 2> out) {
  for_each(stream, coordinates.extent(0), level_functor<View>{view, coordinates, out});
}

template <class T, std::size_t N>
void fill_levels(mipmap<T, N> const& levels, stream_ref stream) {
  levels.fill_levels(stream);
}

void load_level(stream_ref stream, mipmap_view<float, 2> const& view, int level) {
  launch(mipmap_level_kernel, {1}, {1}, 0, stream, view, level);
}

#define ROCARRAY_TEST_INSTANTIATE(T, N, Read)                                        \
  template void sample_levels(stream_ref, mipmap_view<T, N, Read> const&,            \
                              device_view<float const, 2>, device_view<double, 2>);
ROCARRAY_TEST_MIPMAP_VIEWS(ROCARRAY_TEST_INSTANTIATE)
#define ROCARRAY_TEST_INSTANTIATE_FILL(T, N) \
  template void fill_levels(mipmap<T, N> const&, stream_ref);
ROCARRAY_TEST_MIPMAPS(ROCARRAY_TEST_INSTANTIATE_FILL)

#endif

}  // namespace roc::test

namespace roc::native_detail {

#define ROCARRAY_TEST_STUBS(T, N, Read) \
  ROCARRAY_FOR_EACH_HOST_STUB(1, test::level_functor<mipmap_view<T, N, Read>>);
ROCARRAY_TEST_MIPMAP_VIEWS(ROCARRAY_TEST_STUBS)
#define ROCARRAY_TEST_FILL_STUBS(T, N) \
  ROCARRAY_FOR_EACH_HOST_STUB(         \
      N, detail::level_reduction<typename mipmap<T, N>::normalized_view_type::level_view>);
ROCARRAY_TEST_MIPMAPS(ROCARRAY_TEST_FILL_STUBS)

}  // namespace roc::native_detail

// SPDX-License-Identifier: MIT
#include "kernels/image_kernels.hpp"

#include <cstddef>

#include <roc/for_each.hpp>
#include <roc/native/for_each_kernel.hpp>

#include "platform/host/host_stub.hpp"

namespace roc::test {

template <class View>
struct sample_functor {
  using traits = detail::pixel_traits<typename View::value_type>;

  View image;
  device_view<float const, 2> coordinates;
  device_view<int const> layers;
  device_view<double, 2> out;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    typename View::value_type const sampled = sample(i);
    for (std::size_t c = 0; c < traits::channels; ++c) {
      out(i, c) = static_cast<double>(traits::at(sampled, c));
    }
  }

 private:
  ROCARRAY_HOST_DEVICE typename View::value_type sample(std::size_t i) const {
    float const x = coordinates(i, 0);
    if constexpr (View::dimensions == 1) {
      if constexpr (View::rank == 1) {
        return image.sample(x);
      } else {
        return image.sample(x, static_cast<int>(layers(i)));
      }
    } else if constexpr (View::dimensions == 2) {
      float const y = coordinates(i, 1);
      if constexpr (View::rank == 2) {
        return image.sample(x, y);
      } else {
        return image.sample(x, y, static_cast<int>(layers(i)));
      }
    } else {
      float const y = coordinates(i, 1);
      float const z = coordinates(i, 2);
      return image.sample(x, y, z);
    }
  }
};

template <class From, class To = From>
struct transfer_functor {
  From from;
  To to;

  template <class... I>
  ROCARRAY_HOST_DEVICE void operator()(I... index) const {
    to.store(from.load(index...), index...);
  }
};

#if !ROCARRAY_KERNEL_HOST_STUB

template <class View>
void sample_at(stream_ref stream, View const& image, device_view<float const, 2> coordinates,
               device_view<int const> layers, device_view<double, 2> out) {
  for_each(stream, coordinates.extent(0),
           sample_functor<View>{image, coordinates, layers, out});
}

template <class From, class To>
void transfer(stream_ref stream, From const& from, To const& to) {
  for_each(stream, from.shape(), transfer_functor<From, To>{from, to});
}

#define ROCARRAY_TEST_INSTANTIATE(T, N, Layered, Read)                                          \
  template void sample_at(stream_ref, image_view<T, N, Layered, Read> const&,                   \
                          device_view<float const, 2>, device_view<int const>,                  \
                          device_view<double, 2>);                                              \
  template void transfer(stream_ref, image_view<T, N, Layered, Read> const&,                    \
                         image_view<T, N, Layered, Read> const&);
ROCARRAY_TEST_IMAGE_VIEWS(ROCARRAY_TEST_INSTANTIATE)
#define ROCARRAY_TEST_INSTANTIATE_CONVERSION(From, To) \
  template void transfer(stream_ref, From const&, To const&);
ROCARRAY_TEST_CONVERSIONS(ROCARRAY_TEST_INSTANTIATE_CONVERSION)

#endif

}  // namespace roc::test

namespace roc::native_detail {

#define ROCARRAY_TEST_STUBS(T, N, Layered, Read)                                            \
  ROCARRAY_FOR_EACH_HOST_STUB(1, test::sample_functor<image_view<T, N, Layered, Read>>);    \
  ROCARRAY_FOR_EACH_HOST_STUB(N + Layered,                                                  \
                              test::transfer_functor<image_view<T, N, Layered, Read>>);
ROCARRAY_TEST_IMAGE_VIEWS(ROCARRAY_TEST_STUBS)
#define ROCARRAY_TEST_CONVERSION_STUB(From, To)                                         \
  ROCARRAY_FOR_EACH_HOST_STUB(test::From::rank,                                         \
                              test::transfer_functor<test::From, test::To>);
ROCARRAY_TEST_CONVERSIONS(ROCARRAY_TEST_CONVERSION_STUB)

}  // namespace roc::native_detail

// SPDX-License-Identifier: MIT
// Any layout to any layout, both ways and on the device, elements of any size, against a plain
// oracle; bytes in gaps are watched. Staging memory is tiny here, so that copies take many pieces.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include "support/environment.hpp"
#include "support/layouts.hpp"

namespace {

using roc::test::element_of;
using roc::test::watched;

template <std::size_t N, class Random>
roc::shape<N> random_shape(Random& random, std::size_t most) {
  roc::shape<N> result{};
  for (std::size_t& extent : result) extent = 1 + random() % most;
  return result;
}

// One round: host layout to a device layout, to another device layout, to another host layout.
template <class T, std::size_t N, class Random>
void round_trip(Random& random, std::size_t most, bool with_stream) {
  auto const extents = random_shape<N>(random, most);
  watched<T, N> from(extents, roc::test::random_strides(extents, random, true));
  watched<T, N> to(extents, roc::test::random_strides(extents, random, true));
  from.each([](T& element, std::size_t i) { element = T::number(i); });

  roc::device_array<T, N> first(extents, roc::test::random_strides(extents, random, false));
  roc::device_array<T, N> second(extents, roc::test::random_strides(extents, random, false));
  bool const registered = random() % 2 == 0;
  auto const pins = registered ? roc::register_host(from.bytes(), to.bytes())
                               : roc::register_host(std::span<std::byte>());
  if (with_stream) {
    roc::stream const stream;
    auto const guard = stream.auto_synchronize();
    first.copy_to_device(from.view(), stream);
    second.copy_to_device(first, stream);
    second.copy_to_host(to.view(), stream);
  } else {
    first.copy_to_device(from.view());
    second.copy_to_device(first);
    second.copy_to_host(to.view());
  }
  bool right = true;
  to.each([&](T& element, std::size_t i) { right = right && element == T::number(i); });
  ASSERT_TRUE(right) << "rank " << N << ", element of " << sizeof(T) << ", shape[0] "
                     << (N > 0 ? extents[0] : 1) << ", registered " << registered;
  ASSERT_TRUE(to.gaps_untouched());
}

template <class T>
void all_ranks(char const* what) {
  auto random = roc::test::random_generator(what);
  auto const rounds = static_cast<int>(roc::test::scaled(4000) / 200);
  for (int round = 0; round < rounds; ++round) {
    bool const with_stream = round % 2 == 0;
    ASSERT_NO_FATAL_FAILURE((round_trip<T, 1>(random, 2000, with_stream)));
    ASSERT_NO_FATAL_FAILURE((round_trip<T, 2>(random, 60, with_stream)));
    ASSERT_NO_FATAL_FAILURE((round_trip<T, 3>(random, 14, with_stream)));
    ASSERT_NO_FATAL_FAILURE((round_trip<T, 5>(random, 5, with_stream)));
    ASSERT_NO_FATAL_FAILURE((round_trip<T, 8>(random, 3, with_stream)));
  }
}

TEST(CopyLayouts, ElementsOf1Byte) { all_ranks<element_of<1>>("1 byte"); }
TEST(CopyLayouts, ElementsOf2Bytes) { all_ranks<element_of<2>>("2 bytes"); }
TEST(CopyLayouts, ElementsOf3Bytes) { all_ranks<element_of<3>>("3 bytes"); }
TEST(CopyLayouts, ElementsOf4Bytes) { all_ranks<element_of<4>>("4 bytes"); }
TEST(CopyLayouts, ElementsOf8Bytes) { all_ranks<element_of<8>>("8 bytes"); }
TEST(CopyLayouts, ElementsOf12Bytes) { all_ranks<element_of<12>>("12 bytes"); }
TEST(CopyLayouts, ElementsOf16Bytes) { all_ranks<element_of<16>>("16 bytes"); }
TEST(CopyLayouts, ElementsOf40Bytes) { all_ranks<element_of<40>>("40 bytes"); }

// Rows wide enough for the copy engines, between padded pinned memory and a padded device array.
TEST(CopyLayouts, WideRowsAndPlanes) {
  using T = element_of<4>;
  roc::shape<3> const extents{5, 7, 33};
  roc::strides<3> const padded{7 * 40 + 80, 40, 1};
  watched<T, 3> from(extents, padded);
  watched<T, 3> to(extents, roc::strides<3>{8 * 50, 50, 1});
  from.each([](T& element, std::size_t i) { element = T::number(i); });
  auto const pins = roc::register_host(from.bytes(), to.bytes());
  roc::device_array<T, 3> array(extents, roc::strides<3>{9 * 64, 64, 1});
  ASSERT_EQ(roc::copy_path::dma_3d, roc::planned_path(from.view(), array));
  ASSERT_EQ(roc::copy_path::dma_3d, roc::planned_path(array, to.view()));
  array.copy_to_device(from.view());
  array.copy_to_host(to.view());
  to.each([](T& element, std::size_t i) { EXPECT_EQ(T::number(i), element); });
  EXPECT_TRUE(to.gaps_untouched());

  auto const plane = [](auto const& view) { return view(2, roc::all, roc::all); };
  auto const target = plane(to.view());
  ASSERT_EQ(roc::copy_path::dma_2d, roc::planned_path(plane(array), target));
  array(2, roc::all, roc::all).copy_to_device(plane(from.view()));
  array(2, roc::all, roc::all).copy_to_host(target);
  EXPECT_TRUE(to.gaps_untouched());
}

TEST(CopyLayouts, HostToHost) {
  auto random = roc::test::random_generator("host to host");
  using T = element_of<6>;
  for (int round = 0; round < 50; ++round) {
    auto const extents = random_shape<3>(random, 12);
    watched<T, 3> from(extents, roc::test::random_strides(extents, random, true));
    watched<T, 3> to(extents, roc::test::random_strides(extents, random, true));
    from.each([](T& element, std::size_t i) { element = T::number(i); });
    roc::copy(from.view(), to.view());
    to.each([](T& element, std::size_t i) { ASSERT_EQ(T::number(i), element); });
    ASSERT_TRUE(to.gaps_untouched());
  }
}

}  // namespace

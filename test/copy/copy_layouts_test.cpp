// SPDX-License-Identifier: MIT
// Copies between random layouts in all directions, with elements of any size. Bytes in gaps must
// not change.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/layouts.hpp"
#include "support/options.hpp"

namespace {

using roc::test::element_of;
using roc::test::guarded_array;

// Staging memory is small, so that copies take many chunks.
roc::test::program_options const options_of_tests(roc::test::small_staging);

template <std::size_t N, class Random>
roc::shape<N> random_shape(Random& random, std::size_t max_extent) {
  roc::shape<N> result{};
  for (std::size_t& extent : result) extent = 1 + random() % max_extent;
  return result;
}

// Writes all memory of an array, with its gaps: kernels read whole words, and a part of a word may
// be in a gap.
template <class T, std::size_t N>
void zero_with_gaps(roc::device_array<T, N> const& array) {
  if (array.size() == 0) return;
  std::size_t bytes = sizeof(T);
  for (std::size_t axis = 0; axis < N; ++axis) {
    bytes +=
        (array.shape()[axis] - 1) * static_cast<std::size_t>(array.strides()[axis]) * sizeof(T);
  }
  ROCARRAY_HIP(hipMemsetAsync, array.data(), 0, bytes, nullptr);
}

// Copies from a random host layout to two random device layouts and to another host layout.
template <class T, std::size_t N, class Random>
void round_trip(Random& random, std::size_t max_extent, bool with_stream) {
  auto const extents = random_shape<N>(random, max_extent);
  guarded_array<T, N> from(extents, roc::test::random_strides(extents, random, true));
  guarded_array<T, N> to(extents, roc::test::random_strides(extents, random, true));
  from.for_each_element([](T& element, std::size_t i) { element = T::number(i); });

  roc::device_array<T, N> first(extents, roc::test::random_strides(extents, random, false));
  roc::device_array<T, N> second(extents, roc::test::random_strides(extents, random, false));
  zero_with_gaps(first);
  zero_with_gaps(second);
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
  bool is_correct = true;
  to.for_each_element(
      [&](T& element, std::size_t i) { is_correct = is_correct && element == T::number(i); });
  ASSERT_TRUE(is_correct) << "rank " << N << ", element of " << sizeof(T) << ", shape[0] "
                          << (N > 0 ? extents[0] : 1) << ", registered " << registered;
  ASSERT_TRUE(to.are_gaps_unchanged());
}

template <class T>
void all_ranks(char const* test_name) {
  auto random = roc::test::random_generator(test_name);
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

TEST(CopyLayouts, RandomLayoutsOf1ByteElementsAreCopied) { all_ranks<element_of<1>>("1 byte"); }
TEST(CopyLayouts, RandomLayoutsOf2ByteElementsAreCopied) { all_ranks<element_of<2>>("2 bytes"); }
TEST(CopyLayouts, RandomLayoutsOf3ByteElementsAreCopied) { all_ranks<element_of<3>>("3 bytes"); }
TEST(CopyLayouts, RandomLayoutsOf4ByteElementsAreCopied) { all_ranks<element_of<4>>("4 bytes"); }
TEST(CopyLayouts, RandomLayoutsOf8ByteElementsAreCopied) { all_ranks<element_of<8>>("8 bytes"); }
TEST(CopyLayouts, RandomLayoutsOf12ByteElementsAreCopied) { all_ranks<element_of<12>>("12 bytes"); }
TEST(CopyLayouts, RandomLayoutsOf16ByteElementsAreCopied) { all_ranks<element_of<16>>("16 bytes"); }
TEST(CopyLayouts, RandomLayoutsOf40ByteElementsAreCopied) { all_ranks<element_of<40>>("40 bytes"); }

// Rows wide enough for the copy engines, between padded registered memory and a padded device
// array.
TEST(CopyLayouts, WideRowsAndPlanesOfPaddedArraysAreCopied) {
  using T = element_of<4>;
  roc::shape<3> const extents{5, 7, 33};
  roc::strides<3> const padded{7 * 40 + 80, 40, 1};
  guarded_array<T, 3> from(extents, padded);
  guarded_array<T, 3> to(extents, roc::strides<3>{8 * 50, 50, 1});
  from.for_each_element([](T& element, std::size_t i) { element = T::number(i); });
  auto const pins = roc::register_host(from.bytes(), to.bytes());
  roc::device_array<T, 3> array(extents, roc::strides<3>{9 * 64, 64, 1});
  zero_with_gaps(array);
  ASSERT_EQ(roc::copy_path::dma_3d, roc::planned_path(from.view(), array));
  ASSERT_EQ(roc::copy_path::dma_3d, roc::planned_path(array, to.view()));
  array.copy_to_device(from.view());
  array.copy_to_host(to.view());
  to.for_each_element([](T& element, std::size_t i) { EXPECT_EQ(T::number(i), element); });
  EXPECT_TRUE(to.are_gaps_unchanged());

  auto const plane = [](auto const& view) { return view(2, roc::all, roc::all); };
  auto const target = plane(to.view());
  ASSERT_EQ(roc::copy_path::dma_2d, roc::planned_path(plane(array), target));
  array(2, roc::all, roc::all).copy_to_device(plane(from.view()));
  array(2, roc::all, roc::all).copy_to_host(target);
  EXPECT_TRUE(to.are_gaps_unchanged());
}

TEST(CopyLayouts, RandomLayoutsOfHostMemoryAreCopied) {
  auto random = roc::test::random_generator("host to host");
  using T = element_of<6>;
  for (int round = 0; round < 50; ++round) {
    auto const extents = random_shape<3>(random, 12);
    guarded_array<T, 3> from(extents, roc::test::random_strides(extents, random, true));
    guarded_array<T, 3> to(extents, roc::test::random_strides(extents, random, true));
    from.for_each_element([](T& element, std::size_t i) { element = T::number(i); });
    roc::copy(from.view(), to.view());
    to.for_each_element([](T& element, std::size_t i) { ASSERT_EQ(T::number(i), element); });
    ASSERT_TRUE(to.are_gaps_unchanged());
  }
}

}  // namespace

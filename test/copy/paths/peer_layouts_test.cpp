// SPDX-License-Identifier: MIT
// Copies between random layouts on two devices, with elements of any size, with and without peer
// access.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include "platform/call.hpp"
#include "support/array_on_device.hpp"
#include "support/environment.hpp"
#include "support/layouts.hpp"
#include "support/options.hpp"

namespace {

using roc::test::array_on_device;
using roc::test::element_of;
using roc::test::random_shape;

// Staging memory is small, so that copies without peer access take many chunks.
roc::test::program_options const options_of_tests(roc::test::small_staging);

// Copies from a random layout on one device to a random layout on the other.
template <class T, std::size_t N, class Random>
void copy_once(Random& random, std::size_t max_extent) {
  int const from_device = static_cast<int>(random() % 2);
  auto const extents = random_shape<N>(random, max_extent);
  array_on_device<T, N> const from(from_device, extents,
                                   roc::test::random_strides(extents, random, true));
  array_on_device<T, N> const to(1 - from_device, extents,
                                 roc::test::random_strides(extents, random, true));
  from.host.for_each_element([](T& element, std::size_t i) { element = T::number(i); });
  from.upload();
  std::size_t const choice = random() % 3;
  roc::scoped_options const scope({.peer_access = random() % 4 != 0});
  if (choice == 2) {
    roc::copy(from.view(), to.view());
  } else {
    roc::device_guard const guard{roc::device(static_cast<int>(choice))};
    roc::stream const stream;
    roc::copy(from.view(), to.view(), stream);
    stream.synchronize();
  }
  to.download();
  bool is_correct = true;
  to.host.for_each_element(
      [&](T& element, std::size_t i) { is_correct = is_correct && element == T::number(i); });
  ASSERT_TRUE(is_correct) << "rank " << N << ", element of " << sizeof(T) << ", from device "
                          << from_device << ", stream " << choice << ", peer access "
                          << roc::get_options().peer_access;
  ASSERT_TRUE(to.host.are_gaps_unchanged());
}

template <class T>
void all_ranks(char const* test_name) {
  if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  auto random = roc::test::random_generator(test_name);
  auto const rounds = static_cast<int>(roc::test::scaled(4000) / 200);
  for (int round = 0; round < rounds; ++round) {
    ASSERT_NO_FATAL_FAILURE((copy_once<T, 1>(random, 2000)));
    ASSERT_NO_FATAL_FAILURE((copy_once<T, 2>(random, 60)));
    ASSERT_NO_FATAL_FAILURE((copy_once<T, 3>(random, 14)));
    ASSERT_NO_FATAL_FAILURE((copy_once<T, 5>(random, 5)));
  }
}

TEST(PeerLayouts, RandomLayoutsOf1ByteElementsAreCopied) { all_ranks<element_of<1>>("1 byte"); }
TEST(PeerLayouts, RandomLayoutsOf2ByteElementsAreCopied) { all_ranks<element_of<2>>("2 bytes"); }
TEST(PeerLayouts, RandomLayoutsOf3ByteElementsAreCopied) { all_ranks<element_of<3>>("3 bytes"); }
TEST(PeerLayouts, RandomLayoutsOf4ByteElementsAreCopied) { all_ranks<element_of<4>>("4 bytes"); }
TEST(PeerLayouts, RandomLayoutsOf8ByteElementsAreCopied) { all_ranks<element_of<8>>("8 bytes"); }
TEST(PeerLayouts, RandomLayoutsOf16ByteElementsAreCopied) { all_ranks<element_of<16>>("16 bytes"); }
TEST(PeerLayouts, RandomLayoutsOf40ByteElementsAreCopied) { all_ranks<element_of<40>>("40 bytes"); }

// Rows and planes that the copy engines take.
TEST(PeerLayouts, LongRowsAreCopied) {
  if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  using T = element_of<4>;
  for (roc::shape<3> const extents : {roc::shape<3>{1, 9, 300}, roc::shape<3>{4, 5, 300}}) {
    roc::strides<3> const padded{7 * 320, 320, 1};
    array_on_device<T, 3> const from(0, extents, padded);
    array_on_device<T, 3> const to(1, extents, roc::strides<3>{6 * 400, 400, 1});
    from.host.for_each_element([](T& element, std::size_t i) { element = T::number(i); });
    from.upload();
    EXPECT_EQ(extents[0] == 1 ? roc::copy_path::dma_2d : roc::copy_path::dma_3d,
              roc::planned_path(from.view(), to.view()));
    roc::copy(from.view(), to.view());
    to.download();
    to.host.for_each_element([](T& element, std::size_t i) { ASSERT_EQ(T::number(i), element); });
    ASSERT_TRUE(to.host.are_gaps_unchanged());
  }
}

}  // namespace

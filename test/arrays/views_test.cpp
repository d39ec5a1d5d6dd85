// SPDX-License-Identifier: MIT
// Other views of the same memory: slices, elements, sections, other shapes and element types.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

using roc::all;
using roc::ellipsis;
using roc::newaxis;
using roc::none;
using roc::slice;

roc::device_array<int, 2> table() {  // 10 i + k
  roc::host_array<int, 2> host({4, 6});
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 6; ++k) host(i, k) = 10 * i + k;
  }
  return roc::to_device(host);
}

template <class View>
std::vector<int> values(View const& view) {
  auto const host = view.ravel_copy().copy_to_host();
  return {host.begin(), host.end()};
}

TEST(Slicing, SelectsTheElementsThatNumpySelects) {
  auto const t = table();
  struct {
    char const* name;
    std::vector<int> found;
    std::vector<int> expected;
  } const cases[] = {
      {"[1]", values(t(1, all)), {10, 11, 12, 13, 14, 15}},
      {"[-1, 2:4]", values(t(-1, slice(2, 4))), {32, 33}},
      {"[0:4:2, 5]", values(t(slice(0, 4, 2), 5)), {5, 25}},
      {"[0:5:2]: the ceiling", values(t(0, slice(0, 5, 2))), {0, 2, 4}},
      {"[::-1, 0]", values(t(slice(none, none, -1), 0)), {30, 20, 10, 0}},
      {"[3:0:-2, 4::-4]", values(t(slice(3, 0, -2), slice(4, none, -4))), {34, 30, 14, 10}},
      {"[-3:-1, -1]", values(t(slice(-3, -1), -1)), {15, 25}},
      {"[..., 3]", values(t(ellipsis, 3)), {3, 13, 23, 33}},
      {"[None, 2]", values(t(newaxis, 2, all)), {20, 21, 22, 23, 24, 25}},
      {"[2:2]", values(t(slice(2, 2), all)), {}},
      {"[1:3][:, 4:][0]", values(t(slice(1, 3), all)(all, slice(4, none))(0, all)), {14, 15}},
  };
  for (auto const& test : cases) EXPECT_EQ(test.expected, test.found) << test.name;
}

TEST(Slicing, ExpressionsDetermineTheRank) {
  auto const t = table();
  static_assert(decltype(t(1, all))::rank == 1);
  static_assert(decltype(t(1, 1))::rank == 0);
  static_assert(decltype(t(newaxis, ellipsis, newaxis))::rank == 4);
  EXPECT_EQ((roc::shape<4>{1, 4, 6, 1}), t(newaxis, ellipsis, newaxis).shape());
}

TEST(Slicing, ThrowsShapeErrorWithTheExpressionIfOutOfBounds) {
  auto const t = table();
  std::function<void()> const bad[] = {
      [&] { t(4, 0); },
      [&] { t(0, -7); },
      [&] { t(all, SIZE_MAX); },
      [&] { t(slice(0, 5), all); },
      [&] { t(slice(5, none), all); },
      [&] { t(slice(-5, none), all); },
      [&] { t(slice(none, none, 0), all); },
      [&] { t(slice(4, 0, -1), all); },
  };
  for (auto const& slicing : bad) EXPECT_THROW(slicing(), roc::shape_error);
  try {
    t(slice(0, 5), all);
  } catch (roc::shape_error const& error) {
    EXPECT_STREQ("slice(0, 5, 1) is out of bounds for axis 0 with size 4", error.what());
  }
}

TEST(Slicing, MovesTheMemoryOfAnRvalueArray) {
  auto row = table()(2, slice(1, none));
  static_assert(std::is_same_v<decltype(row), roc::device_array<int, 1>>);
  EXPECT_EQ((std::vector<int>{21, 22, 23, 24, 25}), values(row));
  auto moved = std::move(row);
  EXPECT_EQ(25, moved(-1).get());
  EXPECT_THROW(row.view(), roc::lifetime_error);
  EXPECT_EQ(12, table()(1, 2).get());
  auto t = table();
  EXPECT_THROW(std::move(t)(9, 9), roc::shape_error);
  EXPECT_EQ(35, t(3, 5).get());  // the array kept its memory
}

TEST(ElementGetAndSet, ReadsAndWritesOneElement) {
  auto const t = table();
  EXPECT_EQ(23, t(2, 3).get());
  t(2, 3).set(-5);
  EXPECT_EQ(-5, t(2, 3).get());
  EXPECT_EQ(22, t(2, 2).get());
  EXPECT_EQ(24, t(2, 4).get());
  roc::stream const stream;
  t(-1, -1).set(77, stream);
  stream.synchronize();
  EXPECT_EQ(77, t(3, 5).get());
  EXPECT_THROW(t(4, 0).get(), roc::shape_error);
  EXPECT_THROW(t(0, 6).set(1), roc::shape_error);
}

// The device could read a value in pinned memory late, after it has changed.
TEST(ElementSet, ReadsTheValueBeforeReturnOnAStream) {
  roc::stream const stream;
  auto const t = table();
  auto pinned = roc::pinned_array<int>(1);
  roc::test::gate held;
  pinned(0) = 1;
  t(0, 0).set(pinned(0), stream);
  stream.synchronize();
  held.close(stream);
  t(0, 0).set(pinned(0), stream);
  pinned(0) = 2;
  held.open();
  stream.synchronize();
  EXPECT_EQ(1, t(0, 0).get());
}

TEST(ElementGetAndSet, WorkWithoutADefaultConstructor) {
  struct number {
    explicit number(int v) : value(v) {}
    int value;
  };
  roc::device_array<number> const array({3});
  array(1).set(number(7));
  EXPECT_EQ(7, array(1).get().value);
}

TEST(Split, LastSectionMayBeShorter) {
  auto const t = table();
  struct {
    std::size_t section;
    std::size_t axis;
    std::vector<std::size_t> extents;
  } const cases[] = {
      {4, 0, {4}}, {3, 0, {3, 1}}, {1, 0, {1, 1, 1, 1}},
      {9, 0, {4}}, {4, 1, {4, 2}}, {2, 1, {2, 2, 2}},
  };
  for (auto const& test : cases) {
    auto const sections = t.split(test.section, test.axis);
    ASSERT_EQ(test.extents.size(), sections.size());
    std::vector<int> joined;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      EXPECT_EQ(test.extents[i], sections[i].extent(test.axis));
      auto const section = values(sections[i]);
      joined.insert(joined.end(), section.begin(), section.end());
    }
    if (test.axis == 0) {
      EXPECT_EQ(values(t), joined);
    }
  }
  EXPECT_EQ((std::vector<int>{4, 5, 14, 15, 24, 25, 34, 35}), values(t.split(4, 1)[1]));
  EXPECT_THROW(t.split(0), roc::shape_error);
  EXPECT_THROW(t.split(2, 2), roc::shape_error);
  roc::device_array<int> const empty({0});
  EXPECT_TRUE(empty.split(3).empty());
}

TEST(ReshapeCopy, AcceptsAnyLayout) {
  auto const t = table();
  auto const turned = t.transpose();
  EXPECT_THROW(turned.reshape(24), roc::layout_error);
  EXPECT_THROW(turned.ravel(), roc::layout_error);
  auto const flat = turned.ravel_copy();
  EXPECT_EQ((std::vector<int>{0, 10, 20, 30, 1}), values(flat(slice(0, 5))));
  EXPECT_EQ(values(t), values(turned.ravel_copy(roc::order::f)));
  auto const cube = turned.reshape_copy(2, -1, 4);
  EXPECT_EQ((roc::shape<3>{2, 3, 4}), cube.shape());
  EXPECT_EQ(34, cube(1, 1, 3).get());
  auto const f = turned.reshape_copy(roc::shape<2>{12, 2}, roc::order::f);
  EXPECT_TRUE(f.is_f_contiguous());
  EXPECT_EQ(20, f(0, 1).get());
  EXPECT_THROW(turned.reshape_copy(5, 5), roc::shape_error);
  std::size_t const below_zero = std::size_t{0} - 1;  // must not be taken for -1
  EXPECT_THROW(t.reshape(below_zero, std::size_t{2}), roc::shape_error);
  EXPECT_THROW(t.reshape(roc::shape<2>{below_zero, 2}), roc::shape_error);
}

TEST(Squeeze, RemovesAxesOfExtentOne) {
  roc::device_array<int, 4> array({1, 3, 1, 2});
  EXPECT_EQ((roc::shape<2>{3, 2}), array.squeeze_to<2>().shape());
  EXPECT_EQ((roc::shape<3>{3, 1, 2}), array.squeeze<0>().shape());
  EXPECT_THROW(array.squeeze_to<1>(), roc::shape_error);
  EXPECT_THROW(array.squeeze_to<3>(), roc::shape_error);
  EXPECT_THROW(array.squeeze<1>(), roc::shape_error);
  auto owned = std::move(array).squeeze_to<2>();
  static_assert(std::is_same_v<decltype(owned), roc::device_array<int, 2>>);
  EXPECT_EQ(6u, owned.size());
}

TEST(AsAnotherType, ReinterpretsTheSameBytes) {
  auto const t = table();
  auto const bytes = t.as<std::uint8_t>();
  EXPECT_EQ((roc::shape<2>{4, 24}), bytes.shape());
  EXPECT_EQ(t(3, 5).get(), bytes(3, 20).get());
  auto const pairs = t.as<std::uint64_t>();
  EXPECT_EQ((roc::shape<2>{4, 3}), pairs.shape());
  EXPECT_EQ((std::uint64_t{23} << 32) + 22, pairs(2, 1).get());
  EXPECT_EQ((roc::shape<2>{4, 6}), t.as<float>().shape());
  EXPECT_THROW(t(all, slice(0, 5)).as<std::uint64_t>(), roc::shape_error);
  EXPECT_THROW(t(all, slice(0, 6, 2)).as<std::uint8_t>(), roc::layout_error);
  EXPECT_THROW(t(all, slice(1, 5)).as<std::uint64_t>(), roc::layout_error);  // the address
  struct three {
    std::uint8_t bytes[3];
  };
  EXPECT_THROW(t.as<three>(), roc::layout_error);
  auto const packed = t(all, slice(0, 6, 2)).as_copy<std::uint8_t>();
  EXPECT_EQ((roc::shape<2>{4, 12}), packed.shape());
  auto owned = table().as<float>();
  static_assert(std::is_same_v<decltype(owned), roc::device_array<float, 2>>);
}

}  // namespace

// SPDX-License-Identifier: MIT
// Copies of regions given by index expressions, in all directions.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "support/environment.hpp"

namespace {

using roc::all;
using roc::ellipsis;
using roc::newaxis;
using roc::none;
using roc::slice;

// The regions of katsdpsigproc's test, [2:4, :, 3:7:2, 10:] to [1:3, 0:5, 4:8:2, 10:], between
// arrays with different padding.
constexpr roc::shape<4> from_shape{5, 5, 8, 12};
constexpr roc::shape<4> to_shape{3, 6, 9, 12};

// Returns a value that is different for every index.
int number(roc::shape<4> const& index) {
  return static_cast<int>(((index[0] * 10 + index[1]) * 10 + index[2]) * 20 + index[3]);
}

template <class F>
void for_each_index(roc::shape<4> const& extents, F f) {
  for (std::size_t i = 0; i < extents[0]; ++i) {
    for (std::size_t k = 0; k < extents[1]; ++k) {
      for (std::size_t l = 0; l < extents[2]; ++l) {
        for (std::size_t m = 0; m < extents[3]; ++m) f(roc::shape<4>{i, k, l, m});
      }
    }
  }
}

template <class A>
auto source_region(A& array) {
  return array(slice(2, 4), all, slice(3, 7, 2), slice(10, none));
}
template <class A>
auto target_region(A& array) {
  return array(slice(1, 3), slice(0, 5), slice(4, 8, 2), slice(10, none));
}

// Returns the expected value of an element of the target: -1 outside the region.
int expected(roc::shape<4> const& index) {
  bool const inside = index[0] >= 1 && index[1] < 5 && index[2] >= 4 && index[2] < 8 &&
                      index[2] % 2 == 0 && index[3] >= 10;
  if (!inside) return -1;
  return number({index[0] + 1, index[1], index[2] - 1, index[3]});
}

class RegionCopy : public testing::Test {
 protected:
  RegionCopy() {
    host_from.padded_view().fill(-2);
    host_to.padded_view().fill(-1);
    for_each_index(from_shape, [&](auto const& index) {
      host_from(index[0], index[1], index[2], index[3]) = number(index);
    });
    device_from.padded_view().fill(-2);
    device_from.copy_to_device(host_from);
    device_to.padded_view().fill(-1);
  }

  void check_host() {
    bool is_correct = true;
    for_each_index(to_shape, [&](auto const& index) {
      is_correct = is_correct && host_to(index[0], index[1], index[2], index[3]) == expected(index);
    });
    EXPECT_TRUE(is_correct);
    check_padding(host_to.padded_view());
  }
  void check_device() {
    auto const all_of = device_to.padded_view().copy_to_host();
    bool is_correct = true;
    for_each_index(to_shape, [&](auto const& index) {
      is_correct = is_correct && all_of(index[0], index[1], index[2], index[3]) == expected(index);
    });
    EXPECT_TRUE(is_correct);
    check_padding(all_of.view());
  }
  template <class View>
  void check_padding(View const& view) {
    bool is_correct = true;
    for_each_index(view.shape(), [&](auto const& index) {
      bool const inside = index[0] < to_shape[0] && index[1] < to_shape[1] &&
                          index[2] < to_shape[2] && index[3] < to_shape[3];
      is_correct = is_correct && (inside || view(index[0], index[1], index[2], index[3]) == -1);
    });
    EXPECT_TRUE(is_correct) << "padding";
  }

  roc::host_array<int, 4> host_from{from_shape, roc::padded<4>{5, 7, 8, 13}};
  roc::host_array<int, 4> host_to{to_shape, roc::padded<4>{4, 6, 10, 12}};
  roc::device_array<int, 4> device_from{from_shape, roc::padded<4>{6, 5, 9, 16}};
  roc::device_array<int, 4> device_to{to_shape, roc::padded<4>{3, 8, 9, 14}, roc::order::f};
};

TEST_F(RegionCopy, DeviceToDeviceChangesTheTargetRegionOnly) {
  roc::copy(source_region(device_from), target_region(device_to));
  check_device();
}
TEST_F(RegionCopy, DeviceToDeviceOnAStreamChangesTheTargetRegionOnly) {
  roc::stream const stream;
  roc::copy(source_region(device_from), target_region(device_to), stream);
  stream.synchronize();
  check_device();
}
TEST_F(RegionCopy, DeviceToHostChangesTheTargetRegionOnly) {
  source_region(device_from).copy_to_host(target_region(host_to));
  check_host();
}
TEST_F(RegionCopy, HostToDeviceChangesTheTargetRegionOnly) {
  target_region(device_to).copy_to_device(source_region(host_from));
  check_device();
}
TEST_F(RegionCopy, HostToDeviceOnAStreamChangesTheTargetRegionOnly) {
  roc::stream const stream;
  auto const source = source_region(host_from);
  target_region(device_to).copy_to_device(source, stream);
  stream.synchronize();
  check_device();
}
TEST_F(RegionCopy, HostToHostChangesTheTargetRegionOnly) {
  roc::copy(source_region(host_from), target_region(host_to));
  check_host();
}

TEST(RegionCopies, EveryKindOfIndexExpressionSelectsItsElements) {
  roc::host_array<int, 2> host({4, 6});
  std::iota(host.begin(), host.end(), 0);
  auto const device = roc::to_device(host);
  struct {
    char const* name;
    std::function<std::vector<int>()> copy;
    std::vector<int> expected;
  } const cases[] = {
      {"an index",
       [&] {
         std::vector<int> to(6);
         device(1, all).copy_to_host(to);
         return to;
       },
       {6, 7, 8, 9, 10, 11}},
      {"a step that does not divide the extent",
       [&] {
         std::vector<int> to(3);
         device(0, slice(0, 5, 2)).copy_to_host(to);
         return to;
       },
       {0, 2, 4}},
      {"reversed",
       [&] {
         std::vector<int> to(4);
         device(slice(none, none, -1), 5).copy_to_host(to);
         return to;
       },
       {23, 17, 11, 5}},
      {"both reversed",
       [&] {
         std::vector<int> to(4);
         device(slice(3, 1, -1), slice(1, none, -1)).copy_to_host(to);
         return to;
       },
       {19, 18, 13, 12}},
      {"a new axis",
       [&] {
         std::vector<int> to(2);
         device(newaxis, slice(2, 4), 0).copy_to_host(to);
         return to;
       },
       {12, 18}},
      {"an element",
       [&] {
         std::vector<int> to(1);
         device(2, 2).copy_to_host(roc::host_view<int, 0>(to.data(), {}));
         return to;
       },
       {14}},
      {"nothing",
       [&] {
         std::vector<int> to;
         device(slice(2, 2), 0).copy_to_host(to);
         return to;
       },
       {}},
  };
  for (auto const& test : cases) EXPECT_EQ(test.expected, test.copy()) << test.name;
}

TEST(RegionCopies, InterleavedRegionsOfOneArrayCanBeCopied) {
  std::vector<int> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto const array = roc::to_device(numbers);
  auto const even = array(slice(0, none, 2));
  auto const odd = array(slice(none, none, -2));  // 11, 9, …: interleaved and reversed
  roc::copy(even, odd);
  EXPECT_EQ(0, array(11).get());
  EXPECT_EQ(10, array(1).get());
  EXPECT_EQ(4, array(4).get());
}

TEST(RegionCopies, EmptyRegionAtTheEndCopiesNothing) {
  roc::device_array<int, 2> const array({4, 6});
  std::vector<int> empty;
  EXPECT_NO_THROW(array(slice(4, 4), 0).copy_to_host(empty));
  EXPECT_THROW(array(slice(4, 5), 0), roc::shape_error);
  std::vector<int> one(1);
  EXPECT_THROW(array(slice(2, 2), 0).copy_to_host(one), roc::shape_error);
}

TEST(RegionCopies, RegionOfNineAxesIsCopied) {
  constexpr roc::shape<9> extents{2, 1, 3, 2, 1, 2, 2, 3, 2};
  std::vector<int> numbers(roc::layout::element_count(extents));
  std::iota(numbers.begin(), numbers.end(), 0);
  roc::device_array<int, 9> array(extents, roc::order::f);
  array.copy_to_device(numbers);
  auto const part = array(slice(none, none, -1), ellipsis, slice(0, 3, 2), 1);
  auto const back = part.copy_to_host();
  roc::host_view<int, 9> const host(numbers.data(), extents);
  auto const expected = host(slice(none, none, -1), ellipsis, slice(0, 3, 2), 1).ravel_copy();
  auto const actual = back.ravel_copy();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), actual.begin(), actual.end()));
}

}  // namespace

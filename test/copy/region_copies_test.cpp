// SPDX-License-Identifier: MIT
// Copies of regions: any index expression on either side, host and device, either direction.
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

// katsdpsigproc's regions, between arrays whose padding differs: [2:4, :, 3:7:2, 10:] to
// [1:3, 0:5, 4:8:2, 10:].
constexpr roc::shape<4> from_shape{5, 5, 8, 12};
constexpr roc::shape<4> to_shape{3, 6, 9, 12};

int number(roc::shape<4> const& at) {
  return static_cast<int>(((at[0] * 10 + at[1]) * 10 + at[2]) * 20 + at[3]);
}

template <class F>
void each_index(roc::shape<4> const& extents, F f) {
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

// What the target should hold: -1 outside the region.
int expected(roc::shape<4> const& at) {
  bool const inside = at[0] >= 1 && at[1] < 5 && at[2] >= 4 && at[2] < 8 && at[2] % 2 == 0 &&
                      at[3] >= 10;
  if (!inside) return -1;
  return number({at[0] + 1, at[1], at[2] - 1, at[3]});
}

class Katsdpsigproc : public testing::Test {
 protected:
  Katsdpsigproc() {
    host_from.padded_view().fill(-2);
    host_to.padded_view().fill(-1);
    each_index(from_shape, [&](auto const& at) {
      host_from(at[0], at[1], at[2], at[3]) = number(at);
    });
    device_from.padded_view().fill(-2);
    device_from.copy_to_device(host_from);
    device_to.padded_view().fill(-1);
  }

  void check_host() {
    bool right = true;
    each_index(to_shape, [&](auto const& at) {
      right = right && host_to(at[0], at[1], at[2], at[3]) == expected(at);
    });
    EXPECT_TRUE(right);
    check_padding(host_to.padded_view());
  }
  void check_device() {
    auto const all_of = device_to.padded_view().copy_to_host();
    bool right = true;
    each_index(to_shape, [&](auto const& at) {
      right = right && all_of(at[0], at[1], at[2], at[3]) == expected(at);
    });
    EXPECT_TRUE(right);
    check_padding(all_of.view());
  }
  template <class View>
  void check_padding(View const& view) {
    bool right = true;
    each_index(view.shape(), [&](auto const& at) {
      bool const inside =
          at[0] < to_shape[0] && at[1] < to_shape[1] && at[2] < to_shape[2] && at[3] < to_shape[3];
      right = right && (inside || view(at[0], at[1], at[2], at[3]) == -1);
    });
    EXPECT_TRUE(right) << "padding";
  }

  roc::host_array<int, 4> host_from{from_shape, roc::padded<4>{5, 7, 8, 13}};
  roc::host_array<int, 4> host_to{to_shape, roc::padded<4>{4, 6, 10, 12}};
  roc::device_array<int, 4> device_from{from_shape, roc::padded<4>{6, 5, 9, 16}};
  roc::device_array<int, 4> device_to{to_shape, roc::padded<4>{3, 8, 9, 14}, roc::order::f};
};

TEST_F(Katsdpsigproc, DeviceToDevice) {
  roc::copy(source_region(device_from), target_region(device_to));
  check_device();
}
TEST_F(Katsdpsigproc, DeviceToDeviceOnAStream) {
  roc::stream const stream;
  roc::copy(source_region(device_from), target_region(device_to), stream);
  stream.synchronize();
  check_device();
}
TEST_F(Katsdpsigproc, DeviceToHost) {
  source_region(device_from).copy_to_host(target_region(host_to));
  check_host();
}
TEST_F(Katsdpsigproc, HostToDevice) {
  target_region(device_to).copy_to_device(source_region(host_from));
  check_device();
}
TEST_F(Katsdpsigproc, HostToDeviceOnAStream) {
  roc::stream const stream;
  auto const source = source_region(host_from);
  target_region(device_to).copy_to_device(source, stream);
  stream.synchronize();
  check_device();
}
TEST_F(Katsdpsigproc, HostToHost) {
  roc::copy(source_region(host_from), target_region(host_to));
  check_host();
}

TEST(RegionCopies, EveryKindOfExpression) {
  roc::host_array<int, 2> host({4, 6});
  std::iota(host.begin(), host.end(), 0);
  auto const device = roc::to_device(host);
  struct {
    char const* name;
    std::function<std::vector<int>()> copy;
    std::vector<int> expected;
  } const cases[] = {
      {"an index", [&] { std::vector<int> to(6); device(1, all).copy_to_host(to); return to; },
       {6, 7, 8, 9, 10, 11}},
      {"the ceiling", [&] { std::vector<int> to(3); device(0, slice(0, 5, 2)).copy_to_host(to);
                            return to; }, {0, 2, 4}},
      {"reversed", [&] { std::vector<int> to(4); device(slice(none, none, -1), 5).copy_to_host(to);
                         return to; }, {23, 17, 11, 5}},
      {"both reversed", [&] { std::vector<int> to(4);
                              device(slice(3, 1, -1), slice(1, none, -1)).copy_to_host(to);
                              return to; }, {19, 18, 13, 12}},
      {"a new axis", [&] { std::vector<int> to(2); device(newaxis, slice(2, 4), 0).copy_to_host(to);
                           return to; }, {12, 18}},
      {"an element", [&] { std::vector<int> to(1); device(2, 2).copy_to_host(
                               roc::host_view<int, 0>(to.data(), {})); return to; }, {14}},
      {"nothing", [&] { std::vector<int> to; device(slice(2, 2), 0).copy_to_host(to); return to; },
       {}},
  };
  for (auto const& each : cases) EXPECT_EQ(each.expected, each.copy()) << each.name;
}

TEST(RegionCopies, BetweenRegionsOfOneArray) {
  std::vector<int> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto const array = roc::to_device(numbers);
  auto const even = array(slice(0, none, 2));
  auto const odd = array(slice(none, none, -2));  // 11, 9, …: interleaved, and in reverse
  roc::copy(even, odd);
  EXPECT_EQ(0, array(11).get());
  EXPECT_EQ(10, array(1).get());
  EXPECT_EQ(4, array(4).get());
}

TEST(RegionCopies, AnEmptyRegionIsNothingEvenOutOfShape) {
  roc::device_array<int, 2> const array({4, 6});
  std::vector<int> none_of;
  EXPECT_NO_THROW(array(slice(4, 4), 0).copy_to_host(none_of));
  EXPECT_THROW(array(slice(4, 5), 0), roc::shape_error);
  std::vector<int> one(1);
  EXPECT_THROW(array(slice(2, 2), 0).copy_to_host(one), roc::shape_error);
}

TEST(RegionCopies, NineAxes) {
  constexpr roc::shape<9> extents{2, 1, 3, 2, 1, 2, 2, 3, 2};
  std::vector<int> numbers(roc::layout::element_count(extents));
  std::iota(numbers.begin(), numbers.end(), 0);
  roc::device_array<int, 9> array(extents, roc::order::f);
  array.copy_to_device(numbers);
  auto const part = array(slice(none, none, -1), ellipsis, slice(0, 3, 2), 1);
  auto const back = part.copy_to_host();
  roc::host_view<int, 9> const host(numbers.data(), extents);
  auto const wanted = host(slice(none, none, -1), ellipsis, slice(0, 3, 2), 1).ravel_copy();
  auto const found = back.ravel_copy();
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), found.begin(), found.end()));
}

}  // namespace

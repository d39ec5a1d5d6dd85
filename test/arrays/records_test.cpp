// SPDX-License-Identifier: MIT
// Arrays of records: a field is a strided view that can be copied separately.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "support/environment.hpp"

namespace {

struct particle {
  float mass;
  int kind;
  double position;
};

struct triple {  // 12 bytes
  int number;
  struct {
    int a;
    int b;
  } pair;  // 8 bytes do not divide 12
};

std::vector<particle> particles(std::size_t n) {
  std::vector<particle> result(n);
  for (std::size_t i = 0; i < n; ++i) {
    result[i] = {static_cast<float>(i), static_cast<int>(100 + i), 0.5 * static_cast<double>(i)};
  }
  return result;
}

TEST(Field, IsAStridedView) {
  auto const array = roc::to_device(particles(10));
  auto const position = array.field(&particle::position);
  static_assert(std::is_same_v<decltype(position), roc::device_view<double, 1> const>);
  EXPECT_EQ(2, position.strides()[0]);
  EXPECT_EQ(4, array.field(&particle::kind).strides()[0]);
  EXPECT_EQ(4.5, position(9).get());
  EXPECT_EQ(103, array(roc::slice(3, 8)).field(&particle::kind)(0).get());
  auto const reversed = array(roc::slice(roc::none, roc::none, -3)).field(&particle::mass);
  EXPECT_EQ(6.0f, reversed(1).get());
}

TEST(Field, CopyDoesNotTouchOtherFields) {
  auto const before = particles(7);
  auto const array = roc::to_device(before);
  std::vector<double> const positions(7, -1.0);
  array.field(&particle::position).copy_to_device(positions);
  array.field(&particle::kind).fill(5);
  auto const after = array.copy_to_host();
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(before[i].mass, after(i).mass);
    EXPECT_EQ(5, after(i).kind);
    EXPECT_EQ(-1.0, after(i).position);
  }
  std::vector<float> mass(7);
  array.field(&particle::mass).copy_to_host(mass);
  EXPECT_EQ(6.0f, mass[6]);
}

TEST(Field, TwoFieldsOfOneArrayDoNotOverlap) {
  struct pair {
    int first;
    int second;
  };
  auto const array = roc::to_device(std::vector<pair>{{1, 2}, {3, 4}, {5, 6}});
  roc::copy(array.field(&pair::second), array.field(&pair::first));
  auto const back = array.copy_to_host();
  EXPECT_EQ(6, back(2).first);
  EXPECT_EQ(6, back(2).second);
  EXPECT_THROW(roc::copy(array.field(&pair::first), array.field(&pair::first)), roc::overlap_error);
}

TEST(Field, NeedsACopyIfItsSizeDoesNotDivideTheRecord) {
  auto const array = roc::to_device(std::vector<triple>{{1, {2, 3}}, {4, {5, 6}}, {7, {8, 9}}});
  EXPECT_THROW(array.field(&triple::pair), roc::layout_error);
  EXPECT_EQ(7, array.field(&triple::number)(2).get());
  auto const pairs = array.field_copy(&triple::pair).copy_to_host();
  EXPECT_EQ(2, pairs(0).a);
  EXPECT_EQ(9, pairs(2).b);
  auto const reversed = array(roc::slice(roc::none, roc::none, -1)).field_copy(&triple::pair);
  EXPECT_EQ(8, reversed.copy_to_host()(0).a);
}

TEST(Field, MovesTheMemoryOfAnRvalueArray) {
  auto kinds = roc::to_device(particles(5)).field(&particle::kind);
  static_assert(std::is_same_v<decltype(kinds), roc::device_array<int, 1>>);
  EXPECT_EQ(104, kinds(4).get());
}

TEST(Field, IsAViewOfHostMemoryToo) {
  auto records = particles(4);
  roc::host_view<particle> const view(records);
  auto const kinds = view.field(&particle::kind);
  kinds(2) = -3;
  EXPECT_EQ(-3, records[2].kind);
  auto const array = roc::to_device(kinds);
  EXPECT_EQ(-3, array(2).get());
  roc::host_view<particle const> const fixed = view;
  static_assert(
      std::is_same_v<decltype(fixed.field(&particle::mass)), roc::host_view<float const>>);
  EXPECT_EQ(-3, view.field_copy(&particle::kind)(2));
}

TEST(Field, IsNullForAZeroSizeArray) {
  roc::device_array<particle> const empty({0});
  EXPECT_EQ(nullptr, empty.field(&particle::position).data());
  EXPECT_EQ(0u, empty.field_copy(&particle::kind).size());
}

TEST(Field, MayBeInherited) {
  struct base {
    int x;
    int y;
  };
  struct derived : base {
    double z;
  };
  std::vector<derived> records(3);
  records[2].y = 5;
  auto const array = roc::to_device(records);
  EXPECT_EQ(5, array.field(&derived::y)(2).get());
  EXPECT_EQ(5, array.field_copy(&derived::y)(2).get());
}

}  // namespace

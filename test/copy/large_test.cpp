// SPDX-License-Identifier: MIT
// Arrays of more than 2 GiB: sizes and offsets exceed 32 bits.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/strided_copy.hpp"
#include "support/environment.hpp"

namespace {

constexpr std::size_t size = (std::size_t{9} << 28) + 5;  // 2.25 GiB and 5 bytes

struct element {
  std::uint8_t bytes[3];
};
static_assert((size - 2) % sizeof(element) == 0);

// Returns true on emulators, which scale sizes down, and on machines without enough memory.
bool is_too_large() {
  return roc::test::scaled(size) != size || roc::device().memory().free < size + (64u << 20);
}

TEST(LargeArray, FillAndZeroBeyond2GiBSetAllElements) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer needs several times the memory that the program uses";
#endif
  if (is_too_large()) GTEST_SKIP() << "needs 2.4 GiB of device memory and unscaled sizes";
  roc::device_array<std::uint8_t> const array({size});
  array.fill(7);                                       // hipMemsetAsync
  auto const threes = array(roc::slice(0, size - 2));  // 3 bytes divide it
  threes.as<element>().fill({{1, 2, 3}});              // the kernel
  EXPECT_EQ(1, array(0).get());
  EXPECT_EQ(3, array(size - 3).get());
  EXPECT_EQ(7, array(size - 2).get());
  EXPECT_EQ(7, array(-1).get());
  std::size_t const middle = (std::size_t{1} << 31) / 3 * 3;
  EXPECT_EQ(2, array(middle + 1).get());
  array(roc::slice(middle, roc::none, 1 << 20)).zero();  // strided
  EXPECT_EQ(0, array(middle).get());
  EXPECT_EQ(2, array(middle + 1).get());
  EXPECT_EQ(0, array(middle + (std::size_t{100} << 20)).get());
}

std::vector<std::uint8_t> contents_of(roc::device_view<std::uint8_t> const& view) {
  std::vector<std::uint8_t> result(view.size());
  roc::copy(view, result);
  return result;
}

// Only the first elements are accessed: no memory of the size of the layout is needed.
TEST(LargeLayout, PartOfARowOf4GiBAndMoreIsGatheredAndScattered) {
  constexpr std::size_t count = 256;
  std::vector<std::uint8_t> expected(count);
  std::iota(expected.begin(), expected.end(), std::uint8_t{0});
  for (std::size_t const extent : {std::size_t{1} << 32, (std::size_t{1} << 32) + 8}) {
    auto const strided = roc::device_array<std::uint8_t>({2 * count});
    auto const elements = strided(roc::slice(0, roc::none, 2));
    roc::device_array<std::uint8_t> const packed({count});
    roc::layout::canonical_layout layout;
    layout.run = 1;
    layout.rank = 2;
    layout.source = reinterpret_cast<std::byte const*>(strided.data());
    layout.destination = reinterpret_cast<std::byte*>(packed.data());
    layout.axes[0] = {2, 0, static_cast<std::ptrdiff_t>(extent)};
    layout.axes[1] = {extent, 2, 1};
    roc::copy(expected, elements);
    roc::kernels::gather(layout, {0, count}, layout.destination, nullptr);
    roc::device().synchronize();
    EXPECT_EQ(expected, contents_of(packed.view())) << extent;

    elements.zero();
    layout.source = reinterpret_cast<std::byte const*>(packed.data());
    layout.destination = reinterpret_cast<std::byte*>(strided.data());
    layout.axes[0] = {2, static_cast<std::ptrdiff_t>(extent), 0};
    layout.axes[1] = {extent, 1, 2};
    roc::kernels::scatter(layout, {0, count}, layout.source, nullptr);
    roc::device().synchronize();
    EXPECT_EQ(expected, contents_of(elements)) << extent;
  }
}

}  // namespace

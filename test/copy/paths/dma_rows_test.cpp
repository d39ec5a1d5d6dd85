// SPDX-License-Identifier: MIT
// The calls of HIP on the paths dma_2d and dma_3d. AMD's copy engines take rows in one command only
// if the address of the first row and the pitch are multiples of 4 bytes: no call for several other
// rows is made.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "support/call_counter.hpp"
#include "support/options.hpp"

namespace {

using path = roc::copy_path;
using bytes = roc::device_array<unsigned char, 3>;
using pinned_bytes = roc::host_array<unsigned char, 3>;

#if ROCARRAY_PLATFORM_AMD
constexpr bool takes_any_pitch = false;
#else
constexpr bool takes_any_pitch = true;
#endif

pinned_bytes numbered(roc::shape<3> const& shape) {
  auto result = roc::pinned_array<unsigned char, 3>(shape);
  for (std::size_t i = 0; i != result.size(); ++i) {
    result.data()[i] = static_cast<unsigned char>(i * 2654435761u >> 9);
  }
  return result;
}

// Returns the calls that copy, of a copy on a stream.
template <class From, class To>
std::vector<std::string> copies_of(From const& from, To const& to, path demanded) {
  roc::stream const stream;
  auto calls = roc::test::calls_of([&] { roc::copy(from, to, stream, {.path = demanded}); });
  stream.synchronize();
  std::erase_if(calls, [](std::string const& name) { return !name.starts_with("hipMemcpy"); });
  return calls;
}

// Copies `part` of an array of this shape to the device and back, on a path that is demanded unless
// it is path::none, and checks the bytes and the calls of HIP.
template <class Part>
void check_copies(roc::shape<3> const& shape, Part part, path demanded,
                  std::vector<std::string> const& expected) {
  auto source = numbered(shape);
  auto result = roc::pinned_array<unsigned char, 3>(shape);
  std::fill_n(result.data(), result.size(), static_cast<unsigned char>(7));
  bytes device(shape);
  device.fill(9);
  EXPECT_EQ(expected, copies_of(part(source), part(device), demanded));
  EXPECT_EQ(expected, copies_of(part(device), part(result), demanded));
  auto correct = roc::host_array<unsigned char, 3>(shape);
  std::fill_n(correct.data(), correct.size(), static_cast<unsigned char>(7));
  roc::copy(part(source), part(correct));  // by the CPU
  EXPECT_TRUE(std::equal(correct.begin(), correct.end(), result.begin()));
}

std::vector<std::string> each_row(std::size_t rows) {
  return std::vector<std::string>(rows, "hipMemcpyAsync");
}

TEST(DmaRows, DemandedPathMakesOneCallForEachRowThatAmdsEnginesDoNotTake) {
  auto const rows = [](auto& array) { return array(1, roc::all, roc::slice(4, 100)); };
  auto const planes = [](auto& array) {
    return array(roc::all, roc::slice(0, 5), roc::slice(4, 100));
  };
  for (std::size_t const pitch : {129u, 130u, 131u, 132u}) {
    SCOPED_TRACE(pitch);
    // In the second plane, the first row begins at a multiple of 4 bytes for every pitch.
    roc::shape<3> const shape{3, 8, pitch};
    bool const is_one_call = takes_any_pitch || pitch % 4 == 0;
    using calls = std::vector<std::string>;
    check_copies(shape, rows, path::dma_2d, is_one_call ? calls{"hipMemcpy2DAsync"} : each_row(8));
    check_copies(shape, planes, path::dma_3d,
                 is_one_call ? calls{"hipMemcpy3DAsync"} : each_row(15));
  }
}

TEST(DmaRows, FirstRowOffFourBytesMakesOneCallForEachRowOnAmd) {
  using calls = std::vector<std::string>;
  check_copies(
      {1, 8, 132}, [](auto& array) { return array(0, roc::all, roc::slice(2, 98)); }, path::dma_2d,
      takes_any_pitch ? calls{"hipMemcpy2DAsync"} : each_row(8));
}

// They need not be demanded.
TEST(DmaRows, LongRowsMakeOneCallForEachRowThatAmdsEnginesDoNotTake) {
  constexpr std::size_t row = (std::size_t{256} << 10) + 1;
  auto const part = [](auto& array) {
    return array(roc::all, roc::slice(0, 2), roc::slice(0, static_cast<std::ptrdiff_t>(row)));
  };
  using calls = std::vector<std::string>;
  for (std::size_t const pitch : {row + 1, row + 3}) {
    bool const is_one_call = takes_any_pitch || pitch % 4 == 0;
    check_copies({2, 3, pitch}, part, path::none,
                 is_one_call ? calls{"hipMemcpy3DAsync"} : each_row(4));
  }
}

// Rows that cross the ends of segments are divided there.
TEST(DmaRows, RowsInMemoryOfSeveralSegmentsAreCopied) {
  constexpr std::size_t segment = 64 << 10;
  roc::scoped_options const scope({.path = path::dma_2d, .register_chunk = segment});
  roc::host_array<unsigned char, 2> source({301, 1001});
  roc::host_array<unsigned char, 2> result({301, 1001});
  for (std::size_t i = 0; i != source.size(); ++i) {
    source.data()[i] = static_cast<unsigned char>(i * 2654435761u >> 11);
  }
  std::fill_n(result.data(), result.size(), static_cast<unsigned char>(7));
  auto const guard = roc::register_host(source, result);
  roc::device_array<unsigned char, 2> device({301, 1001});
  auto const part = [](auto& array) { return array(roc::all, roc::slice(3, 903)); };
  ASSERT_EQ(path::dma_2d, roc::planned_path(part(source), part(device)));
  roc::copy(part(source), part(device));
  roc::copy(part(device), part(result));
  for (std::ptrdiff_t i = 0; i != 301; ++i) {
    for (std::ptrdiff_t k = 0; k != 1001; ++k) {
      ASSERT_EQ(k >= 3 && k < 903 ? source(i, k) : 7, result(i, k)) << i << ", " << k;
    }
  }
}

}  // namespace

// SPDX-License-Identifier: MIT
// options::path: a copy takes the path that it names if possible, else another one. All paths copy
// the same bytes, with and without a stream.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "support/options.hpp"

namespace {

using path = roc::copy_path;

constexpr std::size_t planes = 6;
constexpr std::size_t rows = 20;
constexpr std::size_t columns = 96;
constexpr roc::shape<3> extents = {planes, rows, columns};

// The parameter is options::path.
class ForcedPath : public testing::TestWithParam<path> {
  static roc::options options() {
    roc::options result = roc::test::small_staging();
    result.path = GetParam();
    return result;
  }
  roc::scoped_options options_{options()};
};

INSTANTIATE_TEST_SUITE_P(Paths, ForcedPath,
                         testing::Values(path::dma, path::dma_2d, path::dma_3d, path::staged,
                                         path::packed, path::kernel, path::host),
                         [](auto const& instance) {
                           return std::string(roc::to_string(instance.param));
                         });

// Returns the expected path of a copy that can take the paths `possible`, the fastest first.
path expected(std::vector<path> const& possible) {
  for (path const candidate : possible) {
    if (ForcedPath::GetParam() == candidate) return candidate;
  }
  return possible.front();
}

roc::host_array<float, 3> numbered(roc::host_memory kind) {
  roc::host_array<float, 3> array(extents, roc::order::c, kind);
  std::iota(array.data(), array.data() + array.size(), 1.0f);
  return array;
}

// Copies a part of a host array to the device, within the device and back, with and without a
// stream, and checks that only that part of the result changes.
template <class Part>
void round_trip(roc::host_memory kind, Part part, std::vector<path> const& upload,
                std::vector<path> const& device_copy, std::vector<path> const& download) {
  auto const source = numbered(kind);
  for (bool const on_stream : {false, true}) {
    roc::stream const stream;
    roc::device_array<float, 3> device(extents);
    roc::device_array<float, 3> other(extents);
    roc::host_array<float, 3> result(extents, roc::order::c, kind);
    device.fill(-1);
    other.fill(-1);
    std::fill_n(result.data(), result.size(), -1.0f);
    auto const from = part(source);
    auto const to = part(device);
    auto const next = part(other);
    auto last = part(result);
    if (on_stream) {
      roc::copy(from, to, stream);
      roc::copy(to, next, stream);
      roc::copy(next, last, stream);
      stream.synchronize();
    } else {
      EXPECT_EQ(expected(upload), roc::planned_path(from, to));
      EXPECT_EQ(expected(device_copy), roc::planned_path(to, next));
      EXPECT_EQ(expected(download), roc::planned_path(next, last));
      roc::copy(from, to);
      roc::copy(to, next);
      roc::copy(next, last);
    }
    roc::host_array<float, 3> expected_part(extents);
    std::fill_n(expected_part.data(), expected_part.size(), -1.0f);
    roc::copy(from, part(expected_part));
    EXPECT_EQ(std::vector<float>(expected_part.data(), expected_part.data() + expected_part.size()),
              std::vector<float>(result.data(), result.data() + result.size()))
        << (on_stream ? "on a stream" : "without a stream");
  }
}

auto const whole_array = [](auto& array) { return array(roc::ellipsis); };
auto const left_columns = [](auto& array) { return array(0, roc::all, roc::slice(0, 40)); };
auto const box = [](auto& array) {
  return array(roc::slice(1, 4), roc::slice(2, 11), roc::slice(5, 50));
};
auto const scattered = [](auto& array) {
  return array(roc::all, roc::slice(0, 20, 3), roc::slice(0, 96, 2));
};

TEST_P(ForcedPath, ContiguousCopyTakesItIfPossible) {
  round_trip(roc::host_memory::pinned, whole_array, {path::dma, path::staged}, {path::dma},
             {path::dma, path::staged});
  round_trip(roc::host_memory::pageable, whole_array, {path::staged, path::dma}, {path::dma},
             {path::staged, path::dma});
}

TEST_P(ForcedPath, CopyOfRowsTakesItIfPossible) {
  round_trip(roc::host_memory::pinned, left_columns, {path::dma_2d, path::packed},
             {path::kernel, path::dma_2d}, {path::dma_2d, path::packed});
  round_trip(roc::host_memory::pageable, left_columns, {path::packed, path::dma_2d},
             {path::kernel, path::dma_2d}, {path::packed, path::dma_2d});
}

TEST_P(ForcedPath, CopyOfPlanesTakesItIfPossible) {
  round_trip(roc::host_memory::pinned, box, {path::dma_3d, path::packed},
             {path::kernel, path::dma_3d}, {path::dma_3d, path::packed});
  round_trip(roc::host_memory::pageable, box, {path::packed, path::dma_3d},
             {path::kernel, path::dma_3d}, {path::packed, path::dma_3d});
}

TEST_P(ForcedPath, CopyOfScatteredElementsTakesItIfPossible) {
  for (auto const kind : {roc::host_memory::pinned, roc::host_memory::pageable}) {
    round_trip(kind, scattered, {path::packed}, {path::kernel}, {path::packed});
  }
}

TEST_P(ForcedPath, HostToHostCopyAlwaysTakesTheHostPath) {
  auto const source = numbered(roc::host_memory::pageable);
  roc::host_array<float, 3> copied(extents);
  EXPECT_EQ(path::host, roc::planned_path(source, copied));
  roc::copy(source, copied);
  EXPECT_EQ(source(5, 19, 95), copied(5, 19, 95));
}

}  // namespace

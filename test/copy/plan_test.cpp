// SPDX-License-Identifier: MIT
// The path that a copy takes, by its layouts and kinds of memory, and the errors of planning.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using path = roc::copy_path;

template <std::size_t N>
struct operands {
  explicit operands(roc::shape<N> const& shape)
      : pageable(shape),
        pinned(shape, roc::order::c, roc::host_memory::pinned),
        device(shape),
        other(shape) {}
  roc::host_array<float, N> pageable;
  roc::host_array<float, N> pinned;
  roc::device_array<float, N> device;
  roc::device_array<float, N> other;
};

TEST(Plan, EmptyCopyHasNoPath) {
  operands<2> const s({0, 5});
  EXPECT_EQ(path::none, roc::planned_path(s.device, s.other));
  std::vector<float> none;
  EXPECT_EQ(path::none, roc::planned_path(none, roc::device_array<float>({0})));
}

TEST(Plan, ContiguousPinnedOrDeviceMemoryTakesDma) {
  operands<3> s({4, 5, 6});
  EXPECT_EQ(path::dma, roc::planned_path(s.pinned, s.device));
  EXPECT_EQ(path::dma, roc::planned_path(s.device, s.pinned));
  EXPECT_EQ(path::dma, roc::planned_path(s.device, s.other));
  // With any order of axes that both sides share.
  EXPECT_EQ(path::dma, roc::planned_path(s.device.transpose(), s.other.transpose()));
}

TEST(Plan, ContiguousPageableMemoryIsStaged) {
  operands<3> s({4, 5, 6});
  EXPECT_EQ(path::staged, roc::planned_path(s.pageable, s.device));
  EXPECT_EQ(path::staged, roc::planned_path(s.device, s.pageable));
}

TEST(Plan, HostToHostTakesTheHostPath) {
  operands<1> s({64});
  EXPECT_EQ(path::host, roc::planned_path(s.pageable, s.pinned));
}

TEST(Plan, WidePinnedRowsTakeDma2d) {
  operands<2> s({16, 64});
  auto const left_columns = [](auto& array) { return array(roc::all, roc::slice(0, 32)); };
  EXPECT_EQ(path::dma_2d, roc::planned_path(left_columns(s.pinned), left_columns(s.device)));
  EXPECT_EQ(path::dma_2d, roc::planned_path(left_columns(s.device), left_columns(s.pinned)));
  EXPECT_EQ(path::kernel, roc::planned_path(left_columns(s.device), left_columns(s.other)));
  EXPECT_EQ(path::packed, roc::planned_path(left_columns(s.pageable), left_columns(s.device)));
}

TEST(Plan, PlanesOfWidePinnedRowsTakeDma3d) {
  operands<3> s({4, 16, 64});
  auto const box = [](auto& array) {
    return array(roc::slice(1, 3), roc::slice(2, 9), roc::slice(0, 32));
  };
  EXPECT_EQ(path::dma_3d, roc::planned_path(box(s.pinned), box(s.device)));
  EXPECT_EQ(path::kernel, roc::planned_path(box(s.device), box(s.other)));
  EXPECT_EQ(path::packed, roc::planned_path(box(s.device), box(s.pageable)));
}

// AMD's engines take rows in one command only if their pitch is a multiple of 4 bytes.
TEST(Plan, PathOfPinnedRowsDependsOnThePitchOnAmdOnly) {
#if ROCARRAY_PLATFORM_AMD
  auto const rows = path::packed, planes = path::packed;
#else
  auto const rows = path::dma_2d, planes = path::dma_3d;
#endif
  auto const left_bytes = [](auto& array) { return array(roc::ellipsis, roc::slice(0, 96)); };
  for (std::size_t pitch : {129, 130, 131, 132}) {
    SCOPED_TRACE(pitch);
    bool const is_aligned = pitch % 4 == 0;
    auto pinned = roc::pinned_array<std::byte, 2>({8, pitch});
    roc::device_array<std::byte, 2> device({8, pitch});
    roc::device_array<std::byte, 2> aligned({8, 128});
    EXPECT_EQ(is_aligned ? path::dma_2d : rows,
              roc::planned_path(left_bytes(pinned), left_bytes(device)));
    EXPECT_EQ(is_aligned ? path::dma_2d : rows,
              roc::planned_path(left_bytes(aligned), left_bytes(pinned)));
    auto pinned_planes = roc::pinned_array<std::byte, 3>({3, 8, pitch});
    roc::device_array<std::byte, 3> device_planes({3, 9, pitch});
    auto const first_rows = device_planes(roc::all, roc::slice(0, 8), roc::slice(0, 96));
    EXPECT_EQ(is_aligned ? path::dma_3d : planes,
              roc::planned_path(left_bytes(pinned_planes), first_rows));
  }
  // The first row does not begin at a multiple of 4 bytes.
  auto pinned_matrix = roc::pinned_array<std::byte, 2>({8, 132});
  roc::device_array<std::byte, 2> matrix({8, 132});
  EXPECT_EQ(rows, roc::planned_path(pinned_matrix(roc::all, roc::slice(1, 97)),
                                    matrix(roc::all, roc::slice(4, 100))));
  // Long rows keep the link busy, although each is a call of HIP (dma_rows_test).
  constexpr std::size_t limit = 256 << 10;
  auto pinned = roc::pinned_array<std::byte, 2>({2, limit + 3});
  roc::device_array<std::byte, 2> device({2, limit + 3});
  for (std::size_t bytes : {limit, limit + 1}) {
    auto const row_part = [&](auto& array) {
      return array(roc::all, roc::slice(0, static_cast<std::ptrdiff_t>(bytes)));
    };
    EXPECT_EQ(bytes == limit ? rows : path::dma_2d,
              roc::planned_path(row_part(pinned), row_part(device)));
  }
}

TEST(Plan, NarrowRowsArePackedOrCopiedByAKernel) {
  operands<2> s({64, 8});
  auto const column = [](auto& array) { return array(roc::all, 3); };
  EXPECT_EQ(path::packed, roc::planned_path(column(s.pinned), column(s.device)));
  EXPECT_EQ(path::kernel, roc::planned_path(column(s.device), column(s.other)));
}

TEST(Plan, TransposedOrReversedDeviceCopyTakesAKernel) {
  operands<2> s({32, 32});
  EXPECT_EQ(path::kernel, roc::planned_path(s.device.transpose(), s.other));
  EXPECT_EQ(path::kernel,
            roc::planned_path(s.device(roc::slice(roc::none, roc::none, -1), roc::all), s.other));
}

template <class F>
std::string message_of_shape_error(F f) {
  try {
    f();
  } catch (roc::shape_error const& error) {
    return error.what();
  }
  return "no shape_error";
}

TEST(Plan, DifferentShapesThrowShapeErrorWithBothShapes) {
  roc::device_array<float, 2> device({2, 3});
  roc::host_array<float, 2> host({3, 2});
  std::string const expected = ": incompatible shape: device (2, 3), host (3, 2)";
  std::string const up = message_of_shape_error([&] { roc::copy(host, device); });
  std::string const back = message_of_shape_error([&] { roc::copy(device, host); });
  EXPECT_TRUE(up.starts_with("copy (host to device) at plan_test.cpp:")) << up;
  EXPECT_TRUE(up.ends_with(expected)) << up;
  EXPECT_TRUE(back.starts_with("copy (device to host) at plan_test.cpp:")) << back;
  EXPECT_TRUE(back.ends_with(expected)) << back;
  std::vector<float> flat(7);
  EXPECT_THROW(device.copy_to_host(flat), roc::shape_error);
}

TEST(Plan, DestinationThatRepeatsAnElementThrowsLayoutError) {
  roc::device_array<int> const device({4});
  std::vector<int> host(4);
  roc::host_view<int> const repeated(host.data(), roc::shape<1>{4}, roc::strides<1>{0});
  EXPECT_THROW(roc::copy(device, repeated), roc::layout_error);
  roc::device_array<int> into({4});
  host[0] = 7;
  EXPECT_NO_THROW(roc::copy(repeated, into));
  EXPECT_EQ(7, into.copy_to_host()(3));
}

TEST(CopyPath, ToStringReturnsTheEnumeratorName) {
  EXPECT_STREQ("dma_2d", roc::to_string(path::dma_2d));
  EXPECT_STREQ("kernel", roc::to_string(path::kernel));
}

}  // namespace

// SPDX-License-Identifier: MIT
// Two devices that are not connected. Run with ROCARRAY_HOST_DEVICES=2 and
// ROCARRAY_HOST_PEERS=none.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "platform/hip.hpp"
#include "support/options.hpp"

namespace {

// Staging memory is small, so that copies take many chunks.
roc::test::program_options const options_of_tests(roc::test::small_staging);

constexpr roc::shape<2> extents = {40, 500};

roc::device_array<int, 2> array_there() {
  roc::device_guard const guard{roc::device(1)};
  return roc::device_array<int, 2>(extents);
}

// Returns the message of the roc::error that f() throws.
template <class F>
std::string message_of(std::error_code code, F f) {
  try {
    f();
  } catch (roc::error const& error) {
    EXPECT_EQ(code, error.code());
    return error.what();
  }
  return "nothing was thrown";
}

TEST(UnconnectedDevices, HaveNoAccess) {
  EXPECT_FALSE(roc::device(0).can_access(roc::device(1)));
  EXPECT_TRUE(roc::device(0).can_access(roc::device(0)));
  roc::peer_link const link = roc::device(0).link_to(roc::device(1));
  EXPECT_EQ(roc::peer_link_type::pcie, link.type);
  EXPECT_FALSE(link.has_access);
  EXPECT_FALSE(link.has_native_atomics);
}

TEST(UnconnectedDevices, DemandedAccessThrowsWithBothDevices) {
  std::error_code const code(hipErrorPeerAccessUnsupported, roc::hip_category());
  std::string const text = message_of(code, [] { roc::device(1).enable_access(roc::device(0)); });
  EXPECT_NE(std::string::npos,
            text.find("there is no access of device 1 to the memory of device 0"))
      << text;
  EXPECT_NO_THROW(roc::device(1).enable_access(roc::device(1)));
}

TEST(UnconnectedDevices, DemandedPathThrowsWithBothDevices) {
  roc::device_array<int, 2> const here(extents);
  auto const there = array_there();
  auto const half = roc::slice(0, 300);
  ASSERT_EQ(roc::copy_path::dma_2d, roc::planned_path(here(roc::all, half), there(roc::all, half)));
  std::string const text = message_of(std::make_error_code(std::errc::invalid_argument), [&] {
    roc::copy(here(roc::all, half), there(roc::all, half), {.path = roc::copy_path::dma_2d});
  });
  EXPECT_NE(std::string::npos, text.find("between the devices 0 and 1, which they do not have"))
      << text;
}

TEST(UnconnectedDevices, RowsArriveThroughScratchMemory) {
  roc::device_array<int, 2> const here(extents);
  auto const there = array_there();
  std::vector<int> numbers(here.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  roc::copy(roc::host_view<int const, 2>(numbers.data(), extents), here);
  auto const half = roc::slice(100, 400);
  for (bool const has_stream : {false, true}) {
    there.fill(-1);
    if (has_stream) {
      roc::stream const stream;
      roc::copy(here(roc::all, half), there(roc::all, half), stream);
      stream.synchronize();
    } else {
      roc::copy(here(roc::all, half), there(roc::all, half));
    }
    EXPECT_EQ(-1, there(39, 99).get());
    EXPECT_EQ(39 * 500 + 100, there(39, 100).get());
    EXPECT_EQ(7 * 500 + 399, there(7, 399).get());
    EXPECT_EQ(-1, there(39, 400).get());
  }
}

}  // namespace

// SPDX-License-Identifier: MIT
// The table of registered ranges: counting, overlaps, rollback, guards.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

// Whole pages of its own: the runtimes pin pages, and two tests must not share one.
class Registration : public testing::Test {
 protected:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t floats = page / sizeof(float);

  roc::host_array<float> memory_{roc::shape<1>{8 * floats}};

  // `count` pages, from page `first` on.
  roc::host_view<float> pages(std::size_t first, std::size_t count) {
    auto const address = reinterpret_cast<std::uintptr_t>(memory_.data());
    std::size_t const skip = (page - address % page) % page / sizeof(float);
    return {memory_.data() + skip + first * floats, roc::shape<1>{count * floats}};
  }
};

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (roc::registration_error const& error) {
    return error.what();
  }
  return "no registration_error";
}

std::string in_hexadecimal(void const* address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%zx", reinterpret_cast<std::size_t>(address));
  return text;
}

TEST_F(Registration, GuardRegistersForItsScope) {
  auto const range = pages(0, 2);
  {
    auto const guard = roc::register_host(range);
    auto const array = roc::device_array_like(range);
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(range, array));
  }
  auto const array = roc::device_array_like(range);
  EXPECT_EQ(roc::copy_path::staged, roc::planned_path(range, array));
  EXPECT_THROW(roc::deregister(range), roc::registration_error);
}

TEST_F(Registration, AgainRightAfterAScopeAndAfterAnException) {
  auto const range = pages(0, 1);
  { auto const guard = roc::register_host(range); }
  try {
    auto const guard = roc::register_host(range);
    throw std::runtime_error("on the way");
  } catch (std::runtime_error const&) {
  }
  EXPECT_NO_THROW(static_cast<void>(roc::register_host(range)));
}

TEST_F(Registration, TheSameRangeCounts) {
  auto const range = pages(0, 1);
  roc::register_host(range).release();
  roc::register_host(range).release();
  roc::deregister(range);
  auto const array = roc::device_array_like(range);
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(range, array));
  roc::deregister(range);
  EXPECT_EQ(roc::copy_path::staged, roc::planned_path(range, array));
  EXPECT_THROW(roc::deregister(range), roc::registration_error);
}

TEST_F(Registration, PartialOverlapNamesBothRanges) {
  auto const known = pages(2, 3);
  auto const guard = roc::register_host(known);
  for (auto const& other : {pages(1, 2), pages(4, 2), pages(3, 1), pages(1, 5), pages(2, 2)}) {
    auto const message = message_of([&] { static_cast<void>(roc::register_host(other)); });
    EXPECT_NE(std::string::npos, message.find(in_hexadecimal(known.data()))) << message;
    EXPECT_NE(std::string::npos, message.find(in_hexadecimal(other.data()))) << message;
  }
  EXPECT_NO_THROW(static_cast<void>(roc::register_host(pages(0, 2))));
  EXPECT_NO_THROW(static_cast<void>(roc::register_host(pages(5, 1))));
}

TEST_F(Registration, UnknownOrInteriorAddressCannotBeDeregistered) {
  EXPECT_THROW(roc::deregister(pages(0, 1)), roc::registration_error);
  auto const known = pages(2, 3);
  auto const guard = roc::register_host(known);
  auto const message = message_of([&] { roc::deregister(pages(3, 1)); });
  EXPECT_NE(std::string::npos, message.find(in_hexadecimal(known.data()))) << message;
  EXPECT_THROW(roc::deregister(pages(2, 2)), roc::registration_error);
}

TEST_F(Registration, FailureAmongSeveralTakesTheOthersBack) {
  auto const first = pages(0, 1);
  auto const second = pages(2, 1);
  ASSERT_TRUE(roc::platform::fail_call("hipHostRegister", 2, hipErrorOutOfMemory));
  EXPECT_THROW(static_cast<void>(roc::register_host(first, second)), roc::out_of_memory);
  EXPECT_THROW(roc::deregister(first), roc::registration_error);
  EXPECT_THROW(roc::deregister(second), roc::registration_error);
  auto const guard = roc::register_host(first, second);
}

TEST_F(Registration, ZeroLengthIsNothing) {
  std::vector<float> none;
  auto const guard = roc::register_host(none);
  EXPECT_NO_THROW(roc::deregister(none));
}

TEST_F(Registration, AStridedArrayRegistersItsExtent) {
  auto const range = pages(0, 2);
  // Backwards over every second element: from the last but one down to the first.
  roc::host_view<float> const every_second(range.data() + range.size() - 2,
                                           roc::shape<1>{range.size() / 2}, roc::strides<1>{-2});
  auto const guard = roc::register_host(every_second);
  auto const message = message_of([&] { static_cast<void>(roc::register_host(range)); });
  EXPECT_NE(std::string::npos, message.find(in_hexadecimal(range.data()))) << message;
}

TEST_F(Registration, ReleasedStaysUntilDeregistered) {
  auto const range = pages(0, 1);
  {
    auto guard = roc::register_host(range);
    guard.release();
  }
  EXPECT_NO_THROW(roc::deregister(range));
}

TEST_F(Registration, GuardMoves) {
  auto const range = pages(0, 1);
  auto first = roc::register_host(range);
  auto second = std::move(first);
  first = std::move(second);
  first.deregister();
  EXPECT_THROW(roc::deregister(range), roc::registration_error);
}

TEST_F(Registration, EarlyFormThrowsTheDestructorLogs) {
  auto const range = pages(0, 1);
  static std::string logged;
  auto guard = roc::register_host(range);
  ASSERT_TRUE(roc::platform::fail_call("hipHostUnregister", 1, hipErrorUnknown));
  EXPECT_THROW(guard.deregister(), roc::error);
  guard.deregister();  // what failed is still the guard's
  guard = roc::register_host(range);
  guard.release();
  auto const before = roc::set_log_hook([](char const* text) noexcept { logged = text; });
  {
    auto const other = roc::register_host(range);  // still registered: counts
    roc::deregister(range);
    ASSERT_TRUE(roc::platform::fail_call("hipHostUnregister", 1, hipErrorUnknown));
  }
  roc::set_log_hook(before);
  EXPECT_NE(std::string::npos, logged.find("hipHostUnregister")) << logged;
  roc::deregister(range);
}

TEST_F(Registration, MemoryThatIsPinnedAlreadyIsRefused) {
  auto pinned = roc::pinned_array<float>(1024);
  EXPECT_THROW(static_cast<void>(roc::register_host(pinned)), roc::registration_error);
}

TEST_F(Registration, WaitsForTheCopiesThatUseTheRange) {
  if (roc::test::run_mode() == roc::test::mode::threaded) {
    GTEST_SKIP() << "whether a copy was waited for shows in mode deferred alone";
  }
  auto const range = pages(0, 1);
  std::vector<float> numbers(floats);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  auto const array = roc::to_device(numbers);
  roc::stream const stream;
  {
    auto const guard = roc::register_host(range);
    array.copy_to_host(range, stream);
  }
  EXPECT_EQ(numbers.back(), range.data()[floats - 1]);
}

TEST_F(Registration, SeveralAreDeregisteredAllOrNone) {
  auto const known = pages(0, 1);
  auto const guard = roc::register_host(known);
  EXPECT_THROW(roc::deregister(known, pages(2, 1)), roc::registration_error);
  auto const array = roc::device_array_like(known);
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(known, array));
}

TEST_F(Registration, OptionsAreKept) {
  auto const range = pages(0, 1);
  auto const guard = roc::register_host(roc::registration_options{.portable = true}, range);
  EXPECT_THROW(static_cast<void>(roc::register_host(range)), roc::registration_error);
}

TEST_F(Registration, ContainersAndCArraysAreTaken) {
  static std::array<int, 4096> array{};
  static double table[64][64] = {};
  auto const guard = roc::register_host(array, table);
  roc::deregister(array);
  roc::register_host(array).release();  // what the guard gives back
}

}  // namespace

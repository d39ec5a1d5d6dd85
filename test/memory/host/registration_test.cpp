// SPDX-License-Identifier: MIT
// register_host and deregister: counts, overlaps, rollback, guards.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

// Provides whole pages: the runtimes pin pages, which two tests must not share.
class Registration : public testing::Test {
 protected:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t floats = page / sizeof(float);

  roc::host_array<float> memory_{roc::shape<1>{8 * floats}};

  // Returns `count` pages, beginning with page `first`.
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

TEST_F(Registration, CanBeRepeatedAfterScopeEndAndAfterAnException) {
  auto const range = pages(0, 1);
  {
    auto const guard = roc::register_host(range);
  }
  try {
    auto const guard = roc::register_host(range);
    throw std::runtime_error("test");
  } catch (std::runtime_error const&) {
  }
  EXPECT_NO_THROW(static_cast<void>(roc::register_host(range)));
}

TEST_F(Registration, SameRangeIsCounted) {
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

TEST_F(Registration, PartialOverlapThrowsAndNamesBothRanges) {
  auto const registered = pages(2, 3);
  auto const guard = roc::register_host(registered);
  for (auto const& other : {pages(1, 2), pages(4, 2), pages(3, 1), pages(1, 5), pages(2, 2)}) {
    auto const message = message_of([&] { static_cast<void>(roc::register_host(other)); });
    EXPECT_NE(std::string::npos, message.find(in_hexadecimal(registered.data()))) << message;
    EXPECT_NE(std::string::npos, message.find(in_hexadecimal(other.data()))) << message;
  }
  EXPECT_NO_THROW(static_cast<void>(roc::register_host(pages(0, 2))));
  EXPECT_NO_THROW(static_cast<void>(roc::register_host(pages(5, 1))));
}

TEST_F(Registration, DeregisterThrowsForUnknownAndInteriorAddresses) {
  EXPECT_THROW(roc::deregister(pages(0, 1)), roc::registration_error);
  auto const registered = pages(2, 3);
  auto const guard = roc::register_host(registered);
  auto const message = message_of([&] { roc::deregister(pages(3, 1)); });
  EXPECT_NE(std::string::npos, message.find(in_hexadecimal(registered.data()))) << message;
  EXPECT_THROW(roc::deregister(pages(2, 2)), roc::registration_error);
}

TEST_F(Registration, FailureAmongSeveralRangesDeregistersTheOthers) {
  auto const first = pages(0, 1);
  auto const second = pages(2, 1);
  ASSERT_TRUE(roc::platform::fail_call("hipHostRegister", 2, hipErrorOutOfMemory));
  EXPECT_THROW(static_cast<void>(roc::register_host(first, second)), roc::out_of_memory);
  EXPECT_THROW(roc::deregister(first), roc::registration_error);
  EXPECT_THROW(roc::deregister(second), roc::registration_error);
  auto const guard = roc::register_host(first, second);
}

TEST_F(Registration, EmptyRangeIsIgnored) {
  std::vector<float> none;
  auto const guard = roc::register_host(none);
  EXPECT_NO_THROW(roc::deregister(none));
}

TEST_F(Registration, StridedArrayRegistersItsExtent) {
  auto const range = pages(0, 2);
  // Every second element in reverse order, from the last but one to the first.
  roc::host_view<float> const every_second(range.data() + range.size() - 2,
                                           roc::shape<1>{range.size() / 2}, roc::strides<1>{-2});
  auto const guard = roc::register_host(every_second);
  auto const message = message_of([&] { static_cast<void>(roc::register_host(range)); });
  EXPECT_NE(std::string::npos, message.find(in_hexadecimal(range.data()))) << message;
}

TEST_F(Registration, ReleasedRangeStaysRegisteredUntilDeregistered) {
  auto const range = pages(0, 1);
  {
    auto guard = roc::register_host(range);
    guard.release();
  }
  EXPECT_NO_THROW(roc::deregister(range));
}

TEST_F(Registration, GuardCanBeMoved) {
  auto const range = pages(0, 1);
  auto first = roc::register_host(range);
  auto second = std::move(first);
  first = std::move(second);
  first.deregister();
  EXPECT_THROW(roc::deregister(range), roc::registration_error);
}

TEST_F(Registration, SecondDeregisterOfAGuardDoesNothing) {
  auto const range = pages(0, 1);
  auto guard = roc::register_host(range);
  guard.deregister();
  EXPECT_NO_THROW(guard.deregister());
  // Also if the range is registered again, by another guard.
  auto again = roc::register_host(range);
  EXPECT_NO_THROW(guard.deregister());
  EXPECT_NO_THROW(again.deregister());
  EXPECT_THROW(roc::deregister(range), roc::registration_error);
}

TEST_F(Registration, DeregisterThrowsAndGuardDestructorLogs) {
  auto const range = pages(0, 1);
  static std::string logged;
  auto guard = roc::register_host(range);
  ASSERT_TRUE(roc::platform::fail_call("hipHostUnregister", 1, hipErrorUnknown));
  EXPECT_THROW(guard.deregister(), roc::error);
  guard.deregister();  // the guard still owns the range after the failure
  guard = roc::register_host(range);
  guard.release();
  auto const previous_hook = roc::set_log_hook([](char const* text) noexcept { logged = text; });
  {
    auto const other = roc::register_host(range);  // increments the count
    roc::deregister(range);
    ASSERT_TRUE(roc::platform::fail_call("hipHostUnregister", 1, hipErrorUnknown));
  }
  roc::set_log_hook(previous_hook);
  EXPECT_NE(std::string::npos, logged.find("hipHostUnregister")) << logged;
  roc::deregister(range);
}

// As when static objects are destroyed at the end of the process.
TEST_F(Registration, GuardDestructorLogsNothingAfterTheRuntimeHasShutDown) {
  auto const range = pages(0, 1);
  static std::string logged;
  logged.clear();
  auto const hook = roc::set_log_hook([](char const* text) noexcept { logged = text; });
  {
    auto const guard = roc::register_host(range);
    ASSERT_TRUE(roc::platform::fail_call("hipHostUnregister", 1, hipErrorDeinitialized));
  }
  roc::set_log_hook(hook);
  EXPECT_EQ("", logged);
  roc::deregister(range);  // only this call has failed
}

TEST_F(Registration, ThrowsForPinnedMemory) {
  auto pinned = roc::pinned_array<float>(1024);
  EXPECT_THROW(static_cast<void>(roc::register_host(pinned)), roc::registration_error);
}

TEST_F(Registration, DeregisterBlocksUntilCopiesHaveFinished) {
  if (roc::test::run_mode() == roc::test::mode::threaded) {
    GTEST_SKIP() << "only mode deferred shows whether the call waits for the copy";
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

// The copies that deregistration waits for may depend on other uses of the range.
TEST_F(Registration, DeregisterThatWaitsDelaysNoOtherThread) {
  if (roc::test::run_mode() != roc::test::mode::threaded) {
    GTEST_SKIP() << "only in mode threaded, a gate holds work back until it is opened";
  }
  auto guard = roc::register_host(pages(0, 2));
  roc::device_array<float> const first(pages(0, 2).shape());
  roc::device_array<float> const second(pages(0, 2).shape());
  roc::stream const held_back;
  roc::stream const stream;
  roc::test::gate gate;
  gate.close(held_back);
  first.copy_to_device(pages(0, 2), held_back);
  std::atomic<bool> is_registered = true;
  std::jthread other([&] {
    guard.deregister();
    is_registered = false;
  });
  std::atomic<bool> is_copied = false;
  std::jthread const opener([&] {
    for (int i = 0; i != 1000 && !is_copied; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    gate.open();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  second.copy_to_device(pages(0, 2), stream);
  stream.synchronize();
  EXPECT_TRUE(is_registered);
  is_copied = true;
  other.join();
  EXPECT_FALSE(is_registered);
}

TEST_F(Registration, DeregisterOfSeveralRangesIsAllOrNothing) {
  auto const registered = pages(0, 1);
  auto const guard = roc::register_host(registered);
  EXPECT_THROW(roc::deregister(registered, pages(2, 1)), roc::registration_error);
  auto const array = roc::device_array_like(registered);
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(registered, array));
}

TEST_F(Registration, ThrowsIfRepeatedWithOtherOptions) {
  auto const range = pages(0, 1);
  auto const guard = roc::register_host(roc::registration_options{.portable = true}, range);
  EXPECT_THROW(static_cast<void>(roc::register_host(range)), roc::registration_error);
}

TEST_F(Registration, AcceptsContainersAndArrays) {
  static std::array<int, 4096> array{};
  static double table[64][64] = {};
  auto const on_device = roc::device_array_like(array);
  auto const table_on_device = roc::device_array_like(table);
  auto const path = [&] { return roc::planned_path(array, on_device); };
  EXPECT_NE(roc::copy_path::dma, path());
  {
    auto const guard = roc::register_host(array, table);
    EXPECT_EQ(roc::copy_path::dma, path());
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(table, table_on_device));
    roc::deregister(array);
    EXPECT_NE(roc::copy_path::dma, path());
    roc::register_host(array).release();  // deregistered by the guard
    EXPECT_EQ(roc::copy_path::dma, path());
  }
  EXPECT_NE(roc::copy_path::dma, path());
  EXPECT_THROW(roc::deregister(table), roc::registration_error);
}

}  // namespace

// SPDX-License-Identifier: MIT
// Registration of large ranges in segments, here of 64 KiB: rollback, copies across segments,
// adoption, device addresses, invalid arguments.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "memory/host/host_registrations.hpp"
#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/options.hpp"

namespace {

constexpr std::size_t segment = 64 * 1024;
roc::test::program_options const options_of_tests([] {
  return roc::options{.register_chunk = segment};
});

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (roc::registration_error const& error) {
    return error.what();
  }
  return "no registration_error";
}

std::atomic<int> registered = 0;
std::atomic<int> unregistered = 0;

void count_calls(roc::platform::call_record const& record) {
  if (record.result != hipSuccess) return;
  if (std::string_view(record.name) == "hipHostRegister") ++registered;
  if (std::string_view(record.name) == "hipHostUnregister") ++unregistered;
}

// Provides memory that begins at the beginning of a segment.
class RegistrationSegments : public testing::Test {
 protected:
  void SetUp() override {
    registered = unregistered = 0;
    previous_hook_ = roc::platform::set_call_hook(count_calls);
  }
  void TearDown() override {
    roc::platform::set_call_hook(previous_hook_);
    roc::platform::clear_failures();
    EXPECT_EQ(registered, unregistered);
  }

  roc::host_view<char> bytes(std::size_t first, std::size_t count) {
    auto const address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return {memory_.data() + (segment - address % segment) % segment + first, roc::shape<1>{count}};
  }

  roc::host_array<char> memory_{roc::shape<1>{10 * segment}};
  roc::platform::call_hook previous_hook_ = nullptr;
};

TEST_F(RegistrationSegments, LargeRangeIsRegisteredInSegments) {
  auto const range = bytes(100, 3 * segment);
  {
    auto const guard = roc::register_host(range);
    EXPECT_EQ(4, registered);  // the first and the last one are smaller
    auto const array = roc::device_array_like(range);
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(range, array));
    EXPECT_THROW(static_cast<void>(roc::register_host(bytes(100, segment))),
                 roc::registration_error);
  }
  EXPECT_EQ(4, unregistered);
}

TEST_F(RegistrationSegments, FailureUnregistersAllSegments) {
  auto const range = bytes(0, 4 * segment);
  for (unsigned nth = 1; nth <= 4; ++nth) {
    ASSERT_TRUE(roc::platform::fail_call("hipHostRegister", nth, hipErrorOutOfMemory));
    EXPECT_THROW(static_cast<void>(roc::register_host(range)), roc::out_of_memory);
    EXPECT_EQ(registered, unregistered);
    EXPECT_THROW(roc::deregister(range), roc::registration_error);
  }
  EXPECT_NO_THROW(static_cast<void>(roc::register_host(range)));
}

TEST_F(RegistrationSegments, DeregisterCanBeRepeatedAfterAFailure) {
  auto const range = bytes(0, 4 * segment);
  roc::register_host(range).release();
  ASSERT_TRUE(roc::platform::fail_call("hipHostUnregister", 3, hipErrorUnknown));
  EXPECT_THROW(roc::deregister(range), roc::error);
  auto const array = roc::device_array_like(range);
  EXPECT_EQ(roc::copy_path::staged, roc::planned_path(range, array));
  roc::deregister(range);
  EXPECT_EQ(4, unregistered);
}

TEST_F(RegistrationSegments, ContiguousCopiesMayCrossSegments) {
  auto const range = bytes(8, 5 * segment);
  auto const guard = roc::register_host(range);
  for (std::size_t i = 0; i < range.size(); ++i) range(i) = static_cast<char>(i * 7 / 5);
  auto const array = roc::to_device(range);
  std::vector<char> back(range.size());
  array.copy_to_host(back);
  EXPECT_EQ(0, std::memcmp(back.data(), range.data(), back.size()));
  std::memset(range.data(), 0, range.size());
  roc::stream const stream;
  array.copy_to_host(range, stream);
  stream.synchronize();
  EXPECT_EQ(0, std::memcmp(back.data(), range.data(), back.size()));
}

// Rows and planes with gaps, some of which cross the end of a segment.
TEST_F(RegistrationSegments, StridedCopiesMayCrossSegments) {
  auto const range = bytes(8, 5 * segment);
  auto const guard = roc::register_host(range);
  for (std::size_t i = 0; i < range.size(); ++i) range(i) = static_cast<char>(i * 11 / 7);
  std::vector<char> const before(range.data(), range.data() + range.size());
  roc::host_view<char, 3> const planes(range.data() + 4, {17, 18, 900},
                                       roc::strides<3>{19'000, 1'000, 1});
  roc::host_view<char, 2> const rows(range.data() + 4, {300, 900}, roc::strides<2>{1'000, 1});
  auto const check = [&](auto const& host, roc::copy_path path) {
    auto const array = roc::device_array_like(host);
    ASSERT_EQ(path, roc::planned_path(host, array));
    array.copy_to_device(host);
    auto const copied = array.copy_to_host();
    roc::host_array<char, std::remove_cvref_t<decltype(host)>::rank> expected(host.shape());
    roc::copy(host, expected);  // by the CPU
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), copied.begin()));
    array.zero();
    array.copy_to_device(copied);
    host.zero();
    array.copy_to_host(host);
    EXPECT_EQ(0, std::memcmp(before.data(), range.data(), before.size()));
  };
  check(rows, roc::copy_path::dma_2d);
  check(planes, roc::copy_path::dma_3d);
}

TEST_F(RegistrationSegments, MappedMemoryIsOneSegment) {
  auto const range = bytes(0, 3 * segment);
  auto const guard = roc::register_host(roc::registration_options{.mapped = true}, range);
  EXPECT_EQ(1, registered);
  auto const view = roc::device_view_of(range);
  void* address = nullptr;
  ROCARRAY_HIP(hipHostGetDevicePointer, &address, range.data(), 0);
  EXPECT_EQ(address, view.data());
  // Device views of a part, and copies by device address, which may differ from the host address.
  auto const part = range(roc::slice(segment, 2 * segment));
  EXPECT_EQ(view.data() + segment, roc::device_view_of(part).data());
  std::memset(range.data(), 'a', range.size());
  roc::device_array<char> const device({range.size()});
  device.copy_to_device(view);
  view.fill('b');
  EXPECT_EQ('b', range(-1));
  view.copy_to_device(device);
  EXPECT_EQ('a', range(-1));
}

TEST_F(RegistrationSegments, DeviceViewThrowsIfMemoryIsNotMapped) {
  auto const range = bytes(0, segment);
  auto const guard = roc::register_host(range);
  EXPECT_THROW(static_cast<void>(roc::device_view_of(range)), roc::registration_error);
}

TEST_F(RegistrationSegments, CopyToReadOnlyMemoryThrows) {
  auto const range = bytes(0, 2 * segment);
  auto const device = roc::device_array_like(range);
  device.zero();
  std::memset(range.data(), 'r', range.size());
  roc::registration_options const options{.mapped = true, .read_only = true};
  try {
    auto const guard = roc::register_host(options, range);
  } catch (roc::error const& error) {
    ASSERT_EQ(std::errc::not_supported, error.code()) << error.what();
    GTEST_SKIP() << "this device has no read-only registration";
  }
  auto const guard = roc::register_host(options, range);
  roc::stream const stream;
  auto const part = range(roc::slice(10, 20));
  auto const from = device(roc::slice(10, 20));
  for (auto const& message : {message_of([&] { device.copy_to_host(range); }),
                              message_of([&] { device.copy_to_host(range, stream); }),
                              message_of([&] { from.copy_to_host(part); })}) {
    EXPECT_NE(std::string::npos, message.find("read-only")) << message;
  }
  EXPECT_EQ('r', range(15));
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(range, device));
  device.copy_to_device(range);
  EXPECT_EQ('r', device(-1).get());
  EXPECT_THROW(static_cast<void>(roc::device_view_of(range)), roc::registration_error);
  roc::host_view<char const> const constant = range;
  EXPECT_NE(nullptr, roc::device_view_of(constant).data());
}

// The memory is pinned, but not by the library.
TEST_F(RegistrationSegments, AdoptAcceptsMemoryPinnedByOthers) {
  auto const range = bytes(0, segment);
  ROCARRAY_HIP(hipHostRegister, range.data(), range.size(), hipHostRegisterDefault);
  auto const message = message_of([&] { static_cast<void>(roc::register_host(range)); });
  EXPECT_NE(std::string::npos, message.find("adopt_registered")) << message;
  EXPECT_EQ(1, registered);
  auto const array = roc::device_array_like(range);
  EXPECT_EQ(roc::copy_path::staged, roc::planned_path(range, array));
  {
    auto const guard = roc::adopt_registered(range);
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(range, array));
    { auto const second_adoption = roc::adopt_registered(range); }  // increments the count
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(range, array));
    EXPECT_THROW(static_cast<void>(roc::adopt_registered(bytes(0, 100))), roc::registration_error);
    EXPECT_NE(nullptr, roc::device_view_of(range).data());
  }
  EXPECT_EQ(0, unregistered);  // adopted memory is not unregistered
  EXPECT_EQ(roc::copy_path::staged, roc::planned_path(range, array));
  ROCARRAY_HIP(hipHostUnregister, range.data());
}

TEST_F(RegistrationSegments, AlreadyRegisteredErrorOfHipAdvisesAdoption) {
  auto const range = bytes(0, 3 * segment);
  ASSERT_TRUE(roc::platform::fail_call("hipHostRegister", 2, hipErrorHostMemoryAlreadyRegistered));
  auto const message = message_of([&] { static_cast<void>(roc::register_host(range)); });
  EXPECT_NE(std::string::npos, message.find("adopt_registered")) << message;
}

TEST_F(RegistrationSegments, AdoptAcceptsMemoryOfHipHostMalloc) {
  void* memory = nullptr;
  ROCARRAY_HIP(hipHostMalloc, &memory, segment, hipHostMallocDefault);
  roc::host_view<char> const range(static_cast<char*>(memory), roc::shape<1>{segment});
  EXPECT_THROW(static_cast<void>(roc::register_host(range)), roc::registration_error);
  {
    auto const part = range(roc::slice(100, 200));
    auto const guard = roc::adopt_registered(part);
    auto const array = roc::device_array_like(part);
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(part, array));
  }
  ROCARRAY_HIP(hipHostFree, memory);
}

TEST_F(RegistrationSegments, AdoptThrowsIfMemoryIsNotPinned) {
  auto const range = bytes(0, segment);
  auto const message = message_of([&] { static_cast<void>(roc::adopt_registered(range)); });
  EXPECT_NE(std::string::npos, message.find("register_host")) << message;
  // Pinned in part; then one of two ranges is not pinned.
  ROCARRAY_HIP(hipHostRegister, range.data(), segment / 2, hipHostRegisterDefault);
  EXPECT_THROW(static_cast<void>(roc::adopt_registered(range)), roc::registration_error);
  auto const half = bytes(0, segment / 2);
  EXPECT_THROW(static_cast<void>(roc::adopt_registered(half, bytes(2 * segment, 100))),
               roc::registration_error);
  EXPECT_THROW(roc::deregister(half), roc::registration_error);
  ROCARRAY_HIP(hipHostUnregister, range.data());
}

TEST_F(RegistrationSegments, AdoptThrowsForPinnedArrays) {
  auto pinned = roc::pinned_array<char>(segment);
  EXPECT_THROW(static_cast<void>(roc::adopt_registered(pinned)), roc::registration_error);
}

TEST_F(RegistrationSegments, AdoptionGuardBlocksUntilCopiesHaveFinished) {
  if (roc::test::run_mode() == roc::test::mode::threaded) {
    GTEST_SKIP() << "only mode deferred shows whether the guard waits for the copy";
  }
  auto const range = bytes(0, segment);
  ROCARRAY_HIP(hipHostRegister, range.data(), range.size(), hipHostRegisterDefault);
  range.fill('a');
  auto const array = roc::device_array_like(range);
  array.fill('b');
  roc::stream const stream;
  {
    auto const guard = roc::adopt_registered(range);
    array.copy_to_host(range, stream);
  }
  EXPECT_EQ('b', range(-1));
  // A copy by device address.
  array.fill('c');
  {
    auto const guard = roc::adopt_registered(range);
    roc::device_view_of(range).copy_to_device(array, stream);
  }
  EXPECT_EQ('c', range(-1));
  {
    auto const guard = roc::adopt_registered(range);
    roc::device_view_of(range).fill('d', stream);
  }
  EXPECT_EQ('d', range(-1));
  ROCARRAY_HIP(hipHostUnregister, range.data());
}

TEST_F(RegistrationSegments, AcceptsAnyAlignmentAndLength) {
  for (std::size_t first : {0u, 1u, 63u, 4095u}) {
    for (std::size_t length : {1u, 4095u, 4096u, 4097u}) {
      auto const range = bytes(first, length);
      auto const guard = roc::register_host(range);
      range.fill('q');
      auto const array = roc::to_device(range);
      EXPECT_EQ('q', array(-1).get());
    }
  }
}

TEST_F(RegistrationSegments, EmptyRangeIsIgnored) {
  auto const empty = bytes(0, 0);
  auto const guard = roc::register_host(empty);
  auto const adopted = roc::adopt_registered(empty);
  EXPECT_EQ(0, registered);
  EXPECT_EQ(nullptr, roc::device_view_of(empty).data());
}

TEST_F(RegistrationSegments, RangeBeyondAllocatedMemoryThrowsAndIsNotRegistered) {
  // Only the first segments are memory. The range is huge, so that other memory cannot fill it.
  auto const memory = bytes(0, 1);
  roc::host_view<char> const range(memory.data(), roc::shape<1>{std::size_t{1} << 40});
  EXPECT_THROW(static_cast<void>(roc::register_host(range)), roc::error);
  EXPECT_EQ(registered, unregistered);
  EXPECT_THROW(roc::deregister(range), roc::registration_error);
}

TEST_F(RegistrationSegments, ManyThreadsMayRegisterTheSameRange) {
  auto const range = bytes(0, 4 * segment);
  auto const other = bytes(5 * segment, segment);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        auto const guard = roc::register_host(range, other);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THROW(roc::deregister(range), roc::registration_error);
}

// Copies look for the boundaries of segments only while there are any.
TEST_F(RegistrationSegments, AreCountedWhileRangesOfOneSegmentComeAndGo) {
  auto& registrations = roc::memory::host_registrations::instance();
  EXPECT_FALSE(registrations.has_segmented_ranges());
  std::vector<std::uint8_t> large(4 * segment);
  std::vector<std::uint8_t> small(100);
  {
    auto const pins = roc::register_host(large);
    EXPECT_TRUE(registrations.has_segmented_ranges());
    { auto const other = roc::register_host(small); }
    EXPECT_TRUE(registrations.has_segmented_ranges());
  }
  EXPECT_FALSE(registrations.has_segmented_ranges());
  { auto const other = roc::register_host(small); }
  EXPECT_FALSE(registrations.has_segmented_ranges());
}

}  // namespace

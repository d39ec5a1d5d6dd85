// SPDX-License-Identifier: MIT
// roc::launch, and kernels with shared memory, barriers, atomics and functions of a warp.
#include "kernels/launch_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <roc/detail/launch.hpp>

#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "runtime/stream_id.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::launch_size;

std::vector<int> consecutive(std::size_t n) {
  std::vector<int> result(n);
  std::iota(result.begin(), result.end(), 1);
  return result;
}

// Returns the values with each group of `threads` reversed.
std::vector<int> reversed_in_groups(std::vector<int> values, std::ptrdiff_t threads) {
  for (auto begin = values.begin(); begin != values.end(); begin += threads) {
    std::reverse(begin, begin + threads);
  }
  return values;
}

template <class T, std::size_t N>
std::vector<T> read(roc::device_array<T, N> const& array) {
  std::vector<T> result(array.size());
  array.copy_to_host(result);
  return result;
}

TEST(Launch, HasIndicesInThreeDimensionalGrid) {
  roc::device_array<unsigned> const out({5 * 3 * 2 * 3 * 2 * 4});
  roc::test::number_threads({}, {{3, 2, 4}, {5, 3, 2}}, out.view());
  std::vector<unsigned> expected(out.size());
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(expected, read(out));
}

// A kernel argument may look like the address of memory that has been freed.
TEST(Launch, RecordsNoUseOfFreeMemory) {
  roc::stream const stream;
  void const* address = nullptr;
  {
    roc::device_array<int> const freed({100});
    address = freed.data();
  }
  auto const* const record = roc::memory::find_record(address);
  ASSERT_NE(nullptr, record);
  roc::detail::launch_scope scope(stream, &address, sizeof address);
  scope.check(hipSuccess, "kernel");
  EXPECT_FALSE(record->uses().contains(roc::runtime::stream_id_of(stream, 0)));
}

TEST(Launch, SharesStaticMemoryOfABlock) {
  auto const values = consecutive(64 * 37);
  auto const array = roc::to_device(values);
  roc::stream const stream;
  roc::test::reverse_blocks(stream, array.view());
  stream.synchronize();
  EXPECT_EQ(reversed_in_groups(values, 64), read(array));
}

TEST(Launch, IsCapturedInAGraph) {
  auto const values = consecutive(64 * 38);
  auto array = std::make_optional(roc::to_device(values));
  roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
    roc::test::reverse_blocks(stream, array->view());
    roc::test::reverse_blocks(stream, array->view(), 128);
  }));
  EXPECT_EQ(values, read(*array));
  auto expected = values;
  for (int launch = 0; launch != 2; ++launch) {
    executable.launch();
    expected = reversed_in_groups(reversed_in_groups(expected, 64), 128);
    EXPECT_EQ(expected, read(*array));
  }
  array.reset();
  EXPECT_THROW(executable.launch(), roc::lifetime_error);
}

TEST(Launch, IsRefusedOnTheDefaultStreamDuringACapture) {
  auto const values = consecutive(64);
  auto const array = roc::to_device(values);
  roc::graph_exec executable(roc::capture([&](roc::stream_ref) {
    try {
      roc::test::reverse_blocks({}, array.view());
      ADD_FAILURE() << "no error";
    } catch (roc::error const& error) {
      EXPECT_NE(std::string::npos, std::string(error.what()).find("default stream"))
          << error.what();
    }
  }));
  executable.launch();
  EXPECT_EQ(values, read(array));
}

TEST(Launch, SharesDynamicMemoryOfABlock) {
  for (unsigned threads : {1u, 2u, 33u, 64u, 100u, 1024u}) {
    auto const values = consecutive(threads * 9);
    auto const array = roc::to_device(values);
    roc::test::reverse_blocks({}, array.view(), threads);
    EXPECT_EQ(reversed_in_groups(values, threads), read(array)) << threads;
  }
}

TEST(Launch, BarriersReducePredicates) {
  std::vector<int> values(96 * 3, 1);
  std::fill(values.begin() + 96, values.begin() + 192, -1);
  values[192 + 7] = 0;
  roc::device_array<int> const out({9});
  auto const array = roc::to_device(values);
  roc::test::count_positive({}, array.view(), out.view());
  EXPECT_EQ((std::vector<int>{96, 1, 1, 0, 0, 0, 95, 0, 1}), read(out));
}

TEST(Launch, RunsInstancesOfATemplate) {
  std::size_t const n = 10'000;
  roc::device_array<float> const floats({(n + 255) / 256});
  roc::device_array<double> const doubles({(n + 255) / 256});
  auto const ones = roc::to_device(std::vector<float>(n, 1.0f));
  auto const halves = roc::to_device(std::vector<double>(n, 0.5));
  roc::test::add_blocks<float>({}, ones.view(), floats.view());
  roc::test::add_blocks<double>({}, halves.view(), doubles.view());
  auto const float_sums = read(floats);
  auto const double_sums = read(doubles);
  EXPECT_EQ(10'000.0f, std::accumulate(float_sums.begin(), float_sums.end(), 0.0f));
  EXPECT_EQ(5'000.0, std::accumulate(double_sums.begin(), double_sums.end(), 0.0));
}

TEST(Launch, CountsWithAtomicsInSharedAndDeviceMemory) {
  std::vector<int> values(20'000);
  std::vector<unsigned> expected(16);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(i * i % 16);
    ++expected[static_cast<std::size_t>(values[i])];
  }
  roc::device_array<unsigned> const counts({16});
  counts.zero();
  auto const array = roc::to_device(values);
  roc::test::count_values({}, array.view(), counts.view());
  EXPECT_EQ(expected, read(counts));
}

TEST(Launch, AtomicsOfAllThreadsTakeEffect) {
  roc::device_array<int> const out({11});
  roc::device_array<double> const sum({1});
  out.zero();
  sum.zero();
  unsigned const threads = 32 * 65;
  roc::test::apply_atomics({}, threads, out.view(), sum.view());
  EXPECT_EQ((std::vector<int>{3 * 2080, -2 * 2080, -2079, 2079, 255, 0, 0, 2 * 2080, 7, 2080 % 5,
                              (5 - 2080 % 5) % 5}),
            read(out));
  EXPECT_EQ(1040.0, read(sum)[0]);
}

TEST(Launch, FunctionsOfAWarpExchangeValues) {
  int const lanes = roc::device().warp_size();
  for (unsigned threads : {64u, 128u, 192u}) {
    roc::device_array<roc::test::warp_results> const out({threads});
    out.zero();  // also the padding, which read() copies
    roc::test::call_warp_functions({}, threads, out.view());
    auto const results = read(out);
    for (unsigned i = 0; i < threads; ++i) {
      auto const& r = results[i];
      int const lane = static_cast<int>(i) % lanes;
      int const in_group = lane % 16;
      ASSERT_EQ(lanes, r.warp_size);
      ASSERT_EQ(lane, r.lane);
      ASSERT_EQ(103, r.shuffled) << i;
      ASSERT_EQ(100 + std::max(lane - 1, 0), r.up) << i;
      ASSERT_EQ(100 + (lane + 2 < lanes ? lane + 2 : lane), r.down) << i;
      ASSERT_EQ(100 + (lane ^ 1), r.exchanged) << i;
      ASSERT_EQ(100 + (in_group >= 3 ? lane - 3 : lane), r.up_in_group) << i;
      ASSERT_EQ(100 + (in_group + 3 < 16 ? lane + 3 : lane), r.down_in_group) << i;
      ASSERT_EQ(100 + lane - in_group + (in_group + 1) % 16, r.next_in_group) << i;
      ASSERT_EQ(100 + lane - in_group + 15, r.last_in_group) << i;
      ASSERT_EQ((1LL << 40) + (lane + 1) % lanes, r.wide) << i;
      ASSERT_EQ(lanes == 64 ? 0xAAAAAAAAAAAAAAAAULL : 0xAAAAAAAAULL, r.is_odd) << i;
      ASSERT_TRUE(r.any);
      ASSERT_TRUE(r.all);
    }
  }
}

TEST(Launch, BallotInABranchSeesTheLanesOfTheBranch) {
  int const lanes = roc::device().warp_size();
  roc::device_array<unsigned long long> const out({128});
  roc::test::ballot_in_branch({}, 128, out.view());
  auto const results = read(out);
  for (int i = 0; i < 128; ++i) {
    ASSERT_EQ(i % lanes < 10 ? 0x3ffULL : 0, results[static_cast<std::size_t>(i)]) << i;
  }
}

TEST(Launch, FunctionsOfAWarpWaitForLanesThatAreInAnEarlierBranch) {
  int const lanes = roc::device().warp_size();
  roc::device_array<roc::test::warp_branch_results> const out({64});
  roc::test::call_warp_functions_in_branches({}, out.view());
  auto const results = read(out);
  for (int i = 0; i < 64; ++i) {
    auto const& r = results[static_cast<std::size_t>(i)];
    int const lane = i % lanes;
    auto const in_arm = [](int of_lane) { return of_lane < 20 ? 7 : 23; };
    ASSERT_EQ((lane < 16 ? 3 : lane) + lanes - 1, r.after_branch) << i;
    ASSERT_EQ(16, r.after_reduction) << i;
    ASSERT_EQ(in_arm(lane) + in_arm(lane ^ 31), r.after_arms) << i;
    ASSERT_EQ(lane ^ 31, r.after_synchronization) << i;
    ASSERT_EQ((lane < 16 ? 16 : 0) + lanes - 1, r.after_ballot) << i;
    ASSERT_EQ(lane < 24 ? 23 + (lane ^ 1) : -1, r.after_end) << i;
  }
}

TEST(Launch, MasksOfTheSameLanesMatch) {
  if (roc::device().warp_size() != 32) GTEST_SKIP() << "the masks name the lanes of a warp of 32";
  roc::device_array<int> const out({32});
  roc::test::call_with_two_masks({}, out.view());
  auto const results = read(out);
  for (int i = 0; i < 32; ++i) ASSERT_EQ(2 * (31 - i), results[static_cast<std::size_t>(i)]) << i;
}

TEST(Launch, SynchronizesWarps) {
  auto const values = consecutive(128);
  auto const array = roc::to_device(values);
  roc::test::reverse_warps({}, array.view());
  EXPECT_EQ(reversed_in_groups(values, roc::device().warp_size()), read(array));
}

TEST(Launch, UsesVectorTypes) {
  auto const values = roc::to_device(std::vector<float>{1, 2, 3, 4, 10, 20, 30, 40});
  roc::device_array<float> const sums({2});
  roc::test::add_vector_elements({}, values.view(), sums.view());
  EXPECT_EQ((std::vector<float>{10, 101}), read(sums));
}

TEST(Launch, ConvertsArgumentsToParameters) {
  roc::device_array<long long> const out({1});
  roc::stream const stream;
  roc::test::convert_arguments(stream, out.view(), -4, 7);
  EXPECT_EQ(-33, read(out)[0]);
}

TEST(Launch, RunsKernelWithoutParameters) {
  roc::stream const stream;
  for (std::ptrdiff_t threads : {1, 31, 32, 65, 1024}) {
    roc::test::wait_only(stream, {{20, 2, 1}, {threads, 1, 1}});
  }
  EXPECT_NO_THROW(stream.synchronize());
}

TEST(Launch, ThreadsThatHaveEndedAreNotAwaited) {
  roc::device_array<int> const out({128});
  out.fill(-1);
  roc::test::end_early({}, 50, out.view());
  auto const results = read(out);
  for (int i = 0; i < 128; ++i) {
    ASSERT_EQ(i < 50 ? 49 - i : -1, results[static_cast<std::size_t>(i)]) << i;
  }
}

TEST(Launch, RunsInStreamOrder) {
  auto const values = consecutive(64 * 20);
  std::vector<int> back(values.size());
  roc::device_array<int> const array({values.size()});
  roc::stream const stream;
  // Loads the kernel before the gate is closed: CUDA synchronizes the device for that.
  array.zero();
  roc::test::reverse_blocks(stream, array.view());
  stream.synchronize();
  roc::test::gate hold;
  hold.close(stream);
  array.copy_to_device(values, stream);
  for (int i = 0; i < 3; ++i) roc::test::reverse_blocks(stream, array.view());
  array.copy_to_host(back, stream);
  hold.open();
  stream.synchronize();
  EXPECT_EQ(reversed_in_groups(values, 64), back);
}

TEST(Launch, ArrayMayBeDestroyedAfterIt) {
  auto const values = consecutive(64 * 200);
  std::vector<int> back(values.size());
  roc::stream const stream;
  roc::stream const other;
  roc::test::gate hold;
  {
    roc::device_array<int> array({values.size()}, roc::order::c, other);
    array.copy_to_device(values, other);
    other.synchronize();
    roc::test::reverse_blocks(stream, array.view());
    stream.synchronize();
    hold.close(stream);
    roc::test::reverse_blocks(stream, array.view());
    array.copy_to_host(back, stream);
  }
  // The pool must not give the memory to this array before the work on `stream` has finished.
  roc::device_array<int> const later({values.size()}, roc::order::c, other);
  later.fill(-1, other);
  hold.open();
  stream.synchronize();
  other.synchronize();
  EXPECT_EQ(values, back);
}

TEST(Launch, GridWithoutBlocksEnqueuesNothing) {
  roc::device_array<unsigned> const out({0});
  EXPECT_NO_THROW(roc::test::number_threads({}, {{0, 1, 1}, {64, 1, 1}}, out.view()));
}

// Returns the message of the error that the launch throws; it must name the place of the launch.
std::string error_of(launch_size const& size) {
  try {
    roc::test::wait_only({}, size);
  } catch (roc::shape_error const& error) {
    if (!roc::test::passes_places()) return error.what();
    std::string const file = error.location().file_name();
    EXPECT_NE(std::string::npos, file.find("launch_kernels.hip")) << file;
    EXPECT_NE(0u, error.location().line());
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

#if ROCARRAY_PLATFORM_AMD
TEST(LaunchErrors, MoreThreadsThanAmdCanCountAreRefused) {
  std::ptrdiff_t const blocks = std::ptrdiff_t{1} << 24;
  EXPECT_NE(std::string::npos, error_of({{blocks, 1, 1}, {256, 1, 1}}).find("4294967295 threads"));
}
#endif

TEST(LaunchErrors, NameTheValueAndTheLimit) {
  roc::device const device;
  auto const expect = [](std::string const& text, std::string const& message) {
    EXPECT_NE(std::string::npos, message.find(text)) << message;
  };
  expect("block (2048, 1, 1)", error_of({{1, 1, 1}, {2048, 1, 1}}));
  expect("allows 1 to (1024, 1024, ", error_of({{1, 1, 1}, {2048, 1, 1}}));
  expect("block (64, 32, 1) has 2048 threads: device 0 allows " +
             std::to_string(device.max_threads_per_block()),
         error_of({{1, 1, 1}, {64, 32, 1}}));
  expect("block (0, 1, 1) has no threads", error_of({{1, 1, 1}, {0, 1, 1}}));
  expect("block (-1, 1, 1)", error_of({{1, 1, 1}, {-1, 1, 1}}));
  expect("grid (4294967296, 1, 1) is not possible: device 0 allows 0 to (2147483647",
         error_of({{std::ptrdiff_t{1} << 32, 1, 1}, {1, 1, 1}}));
  expect("grid (1, -3, 1)", error_of({{1, -3, 1}, {1, 1, 1}}));
  expect("1 GiB of shared memory for a block: device 0 allows ",
         error_of({{1, 1, 1}, {1, 1, 1}, std::size_t{1} << 30}));
  expect(roc::test::passes_places() ? "launch at launch_kernels.hip:" : "launch: ",
         error_of({{1, 1, 1}, {0, 1, 1}}));
}

// Returns how many elements of `add_shared` are possible beside its static shared memory.
unsigned largest_count() {
  int limit = 0;
  EXPECT_EQ(hipSuccess, roc::native_detail::shared_memory_limit(&limit, 0));
  return (static_cast<unsigned>(limit) - 40'000) / 4;
}

TEST(Launch, UsesAllSharedMemoryOfTheDevice) {
  roc::device_array<int> const out({1});
  for (unsigned const count : {1u, 2'000u, largest_count(), 3'000u}) {
    roc::test::add_shared({}, out.view(), count);
    EXPECT_EQ(10'000 + 2 * static_cast<int>(count), read(out)[0]);
  }
}

// A kernel whose first launch needs a little more than the 48 KiB that every kernel can have.
TEST(Launch, UsesMoreThan48KiBOfSharedMemory) {
  roc::device_array<int> const out({1});
  for (unsigned const count : {3'000u, 2'000u, largest_count()}) {
    roc::test::add_shared_in_other_kernel({}, out.view(), count);
    EXPECT_EQ(10'000 + 2 * static_cast<int>(count), read(out)[0]);
  }
}

TEST(Launch, ThreadsUseDifferentAmountsOfSharedMemory) {
  unsigned const largest = largest_count();
  std::vector<int> differences(4);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < differences.size(); ++i) {
    threads.emplace_back([&, i] {
      roc::stream const stream;
      roc::device_array<int> const out({1});
      unsigned const count = largest / (i + 1);
      for (int k = 0; k < 20; ++k) roc::test::add_shared(stream, out.view(), count);
      stream.synchronize();
      differences[i] = read(out)[0] - 10'000 - 2 * static_cast<int>(count);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::vector<int>(differences.size()), differences);
}

TEST(LaunchErrors, StaticSharedMemoryCounts) {
  roc::device_array<int> const out({1});
  try {
    roc::test::add_shared({}, out.view(), largest_count() + 1);
    FAIL();
  } catch (roc::shape_error const& error) {
    std::string const message = error.what();
    EXPECT_NE(std::string::npos,
              message.find(" of dynamic and 39.06 KiB of static shared memory for a block"))
        << message;
  }
}

TEST(LaunchErrors, SharedMemoryBeyondTheAddressSpaceIsNamed) {
  EXPECT_NE(std::string::npos,
            error_of({{1, 1, 1}, {1, 1, 1}, std::numeric_limits<std::size_t>::max()})
                .find("TiB of shared memory for a block"));
}

// Returns the message of the shape_error of a launch with one block of `threads` threads of a
// kernel that allows 100.
std::string error_of_bounded_kernel(std::ptrdiff_t threads) {
  auto const query = [](void const*, roc::detail::kernel_limits* limits) {
    *limits = {0, 100};
    return 0;
  };
  static char const kernel = 0;
  try {
    roc::detail::check_launch({}, {&kernel, query, nullptr}, {1, 1, 1}, {threads, 1, 1}, 0);
    return {};
  } catch (roc::shape_error const& error) {
    return error.what();
  }
}

TEST(LaunchErrors, BlockBeyondTheKernelsLimitNamesBoth) {
  EXPECT_EQ("", error_of_bounded_kernel(100));
  std::string const message = error_of_bounded_kernel(101);
  EXPECT_NE(std::string::npos,
            message.find("block (101, 1, 1) has 101 threads: the kernel allows 100 on device 0"))
      << message;
}

TEST(LaunchErrors, LaunchBoundsAreLimitsOnGpus) {
  EXPECT_NO_THROW(roc::test::launch_bounded({}, 64));
  if (roc::test::on_cpu()) {
    EXPECT_NO_THROW(roc::test::launch_bounded({}, 128));
  } else {
    EXPECT_THROW(roc::test::launch_bounded({}, 1024), roc::shape_error);
  }
  roc::device().synchronize();
}

#if !ROCARRAY_PLATFORM_NVIDIA  // a program for amd also runs on the fake HIP runtime
// Launches, in a process in which the first launch fails, and ends it.
[[noreturn]] void fail_first_launch() {
  int failures = 0;
  for (int i = 0; i < 2; ++i) {
    try {
      roc::test::wait_only({}, {});
    } catch (roc::error const& error) {
      bool const is_typed = error.code().value() == static_cast<int>(hipErrorLaunchFailure) &&
                            error.code().category() == roc::hip_category();
      failures += is_typed ? 1 : 100;
    }
    if (hipGetLastError() != hipSuccess) failures += 1'000;  // left by the failed launch
  }
  roc::device().synchronize();
  std::exit(failures == 1 ? 0 : 1);
}

TEST(LaunchErrorsDeathTest, ErrorOfTheLaunchIsTypedAndCleared) {
  if (!roc::test::on_cpu()) GTEST_SKIP() << "only on the CPU can a launch be made to fail";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::string const call = roc::test::on_fake_runtime() ? "hipLaunchKernel" : "launch_host_grid";
  std::string const failure = call + ":1:" + std::to_string(hipErrorLaunchFailure);
  ::setenv("ROCARRAY_HOST_INJECT_FAILURE", failure.c_str(), 1);  // for the new process
  EXPECT_EXIT(fail_first_launch(), testing::ExitedWithCode(0), "");
  ::unsetenv("ROCARRAY_HOST_INJECT_FAILURE");
}
#endif

#if ROCARRAY_PLATFORM_HOST
TEST(LaunchErrors, FailedForEachLeavesNoLastError) {
  roc::device_array<int> const out({10});
  ASSERT_TRUE(roc::host_hip::fail_at("launch_host_kernel", 1, hipErrorLaunchFailure));
  auto const call = [&] {
    roc::for_each({}, out.shape(), [view = out.view()](std::size_t i) { view(i) = 1; });
  };
  EXPECT_THROW(call(), roc::error);
  EXPECT_EQ(hipSuccess, hipGetLastError());
}

// A box with a long axis is several launches, of which the last may fail.
TEST(LaunchErrors, FailedForEachWaitsForEarlierLaunches) {
  roc::device_array<int> const out({10});
  roc::stream const stream;
  std::atomic<bool> is_done = false;
  stream.launch_host_function([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_done = true;
  });
  ASSERT_TRUE(roc::host_hip::fail_at("launch_host_kernel", 1, hipErrorLaunchFailure));
  EXPECT_THROW(
      roc::for_each(stream, out.shape(), [view = out.view()](std::size_t i) { view(i) = 1; }),
      roc::error);
  EXPECT_TRUE(is_done);
}
#endif

TEST(LaunchErrors, ViewBoundToAnotherStreamThrows) {
  roc::device_array<long long> const out({1});
  roc::stream const stream;
  roc::stream const other;
  try {
    roc::test::launch_with_bound_view(stream, other, out.view());
    FAIL();
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::invalid_argument, error.code());
    EXPECT_NE(std::string::npos,
              std::string(error.what()).find("argument 0 of the kernel is bound"))
        << error.what();
  }
  EXPECT_NO_THROW(roc::test::launch_with_bound_view(stream, stream, out.view()));
  stream.synchronize();
  EXPECT_EQ(12, read(out)[0]);
}

TEST(LaunchErrors, MovedFromStreamThrowsLifetimeError) {
  roc::stream first;
  auto const second = std::move(first);
  EXPECT_THROW(roc::test::wait_only(first, {}), roc::lifetime_error);
}

}  // namespace

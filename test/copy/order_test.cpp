// SPDX-License-Identifier: MIT
// When things happen: calls without a stream come after all work, calls with one return before the
// work is done, and host memory is read and written when the contract says.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::gate;

constexpr std::size_t count = 1000;

std::vector<int> numbers(int first) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

TEST(Order, ACallWithoutStreamComesAfterAllStreams) {
  auto const expected = numbers(1);
  roc::device_array<int> array({count});
  auto pinned = roc::pinned_array<int>(count);
  std::copy(expected.begin(), expected.end(), pinned.begin());
  roc::stream const stream;
  gate hold;
  hold.close(stream);
  array.copy_to_device(pinned, stream);
  if (gate::holds()) {
    EXPECT_FALSE(stream.query());
  }
  hold.open();
  std::vector<int> back(count);
  array.copy_to_host(back);
  EXPECT_EQ(expected, back);
  EXPECT_TRUE(stream.query());
}

// Host memory that a stream still writes is read only when that is over.
TEST(Order, ACallWithoutStreamReadsWhatStreamsHaveWritten) {
  auto const expected = numbers(51);
  auto const first = roc::to_device(expected);
  roc::device_array<int> const second({count});
  std::vector<int> between(count, -1);
  std::vector<int> last(count, -1);
  roc::stream const stream;
  {
    gate hold;
    hold.close(stream);
    first.copy_to_host(between, stream);
    hold.open();
    second.copy_to_device(between);
  }
  auto const back = second.copy_to_host();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), back.begin()));
  first.copy_to_host(between, stream);
  roc::copy(between, last);
  EXPECT_EQ(expected, last);
}

TEST(Order, ACallWithoutStreamComesAfterWorkOnNonBlockingStreams) {
  auto const expected = numbers(5);
  roc::device_array<int> array({count});
  auto pinned = roc::pinned_array<int>(count);
  std::copy(expected.begin(), expected.end(), pinned.begin());
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  auto const stream = roc::from_native(native);
  std::vector<int> back(count);
  {
    gate hold;
    hold.close(stream);
    array.copy_to_device(pinned, stream);
    hold.open();
    array.copy_to_host(back);
  }
  EXPECT_EQ(expected, back);
  ROCARRAY_HIP(hipStreamDestroy, native);
}

TEST(Order, ACallWithStreamReturnsBeforeTheWorkIsDone) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  auto const source = numbers(9);
  roc::device_array<int> const array({count});
  std::vector<int> back(count, -1);
  roc::stream const stream;
  gate hold;
  hold.close(stream);
  array.copy_to_device(source, stream);
  array.copy_to_host(back, stream);
  EXPECT_FALSE(stream.query());
  EXPECT_EQ(-1, back[0]);
  hold.open();
  stream.synchronize();
  EXPECT_EQ(source, back);
}

TEST(Order, APageableSourceMayChangeOnReturn) {
  auto const expected = numbers(3);
  auto source = expected;
  roc::device_array<int> const array({count});
  roc::stream const stream;
  gate hold;
  hold.close(stream);
  array.copy_to_device(source, stream);
  std::fill(source.begin(), source.end(), -1);
  hold.open();
  stream.synchronize();
  auto const back = array.copy_to_host();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), back.begin()));
}

TEST(Order, AStridedPageableSourceMayChangeOnReturn) {
  auto source = numbers(3);
  roc::device_array<int> const array({count / 2});
  roc::stream const stream;
  gate hold;
  hold.close(stream);
  roc::host_view<int> const all(source);
  array.copy_to_device(all(roc::slice(0, roc::none, 2)), stream);
  std::fill(source.begin(), source.end(), -1);
  hold.open();
  stream.synchronize();
  auto const back = array.copy_to_host();
  for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(static_cast<int>(2 * i) + 3, back(i));
}

TEST(Order, ABorrowedSourceIsReadInTheStreamsOrder) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  auto source = numbers(3);
  roc::device_array<int> const array({count});
  roc::stream const stream;
  gate hold;
  hold.close(stream);
  array.copy_to_device(source, stream, roc::borrow_source);
  std::iota(source.begin(), source.end(), 77);
  hold.open();
  stream.synchronize();
  auto const back = array.copy_to_host();
  EXPECT_TRUE(std::equal(source.begin(), source.end(), back.begin()));
}

// Pinned memory is the stream's until it is synchronised: what earlier work there writes is what
// later work reads, also when the CPU does the packing.
TEST(Order, APinnedStridedSourceIsReadInTheStreamsOrder) {
  auto const expected = numbers(11);
  auto const first = roc::to_device(expected);
  auto pinned = roc::pinned_array<int>(count);
  std::fill(pinned.begin(), pinned.end(), -1);
  roc::device_array<int> const second({count / 2});
  roc::stream const stream;
  gate hold;
  hold.close(stream);
  first.copy_to_host(pinned, stream);
  second.copy_to_device(pinned.view()(roc::slice(1, roc::none, 2)), stream);
  hold.open();
  stream.synchronize();
  auto const back = second.copy_to_host();
  for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(expected[2 * i + 1], back(i));
}

TEST(Order, HostToHostOnAStreamIsInItsOrder) {
  auto const expected = numbers(21);
  auto const array = roc::to_device(expected);
  auto pinned = roc::pinned_array<int>(count);
  std::vector<int> last(count);
  roc::stream const stream;
  array.copy_to_host(pinned, stream);
  roc::copy(pinned, last, stream);
  stream.synchronize();
  EXPECT_EQ(expected, last);
}

// The handle of a thread's own default stream means another stream to every worker.
TEST(Order, AThreadsOwnStreamKeepsItsOrderInALargeCopy) {
  constexpr std::size_t large = std::size_t{8} << 20;
  roc::device_array<std::uint8_t> const array({large});
  auto before = roc::pinned_array<std::uint8_t>(large);
  array.fill(9);
  hipStream_t beside = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &beside, hipStreamNonBlocking);
  auto const stream = roc::per_thread_stream();
  {
    std::vector<std::uint8_t> const source(large, 4);
    gate hold;
    hold.close(stream);
    array.copy_to_device(source, stream);
    if (roc::test::run_mode() == roc::test::mode::threaded) {
      // Nobody has told this stream to wait. In mode deferred any question moves work on.
      ROCARRAY_HIP(hipMemcpyAsync, before.data(), array.data(), large, hipMemcpyDeviceToHost, beside);
      ROCARRAY_HIP(hipStreamSynchronize, beside);
      EXPECT_EQ(0, std::count(before.begin(), before.end(), 4));
    }
  }
  ROCARRAY_HIP(hipStreamDestroy, beside);
  std::vector<std::uint8_t> back(large);
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(std::vector<std::uint8_t>(large, 4), back);
}

// Two streams, one event: the second sees what the first has done.
TEST(Order, AnEventOrdersTwoStreams) {
  auto const expected = numbers(31);
  roc::device_array<int> const array({count});
  std::vector<int> back(count);
  roc::stream const writer;
  roc::stream const reader;
  gate hold;
  hold.close(writer);
  array.copy_to_device(expected, writer);
  roc::event written;
  written.record(writer);
  reader.wait(written);
  array.copy_to_host(back, reader);
  hold.open();
  reader.synchronize();
  EXPECT_EQ(expected, back);
}

TEST(Order, ManySmallCopiesBehindAGateDoNotBlock) {
  roc::device_array<int> const array({count});
  roc::stream const stream;
  gate hold;
  hold.close(stream);
  int const copies = 500;  // a GPU's queue itself takes about a thousand entries
  for (int i = 0; i < copies; ++i) {
    int const value = i;
    array(i).copy_to_device(roc::host_view<int const, 0>(&value, {}), stream);
  }
  hold.open();
  stream.synchronize();
  auto const back = array.copy_to_host();
  for (int i = 0; i < copies; ++i) ASSERT_EQ(i, back(i));
}

// The upload reads the vector at once: what the download before it writes is waited for.
TEST(Order, AnUploadReadsWhatADownloadBeforeItWrites) {
  auto const expected = numbers(61);
  auto const first = roc::to_device(expected);
  roc::device_array<int> const second({count});
  std::vector<int> between(count, -1);
  roc::stream const stream;
  first.copy_to_host(between, stream);
  second.copy_to_device(between, stream);
  stream.synchronize();
  auto const back = second.copy_to_host();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), back.begin()));
}

// Each takes several pieces of staging memory: none may wait while it holds one.
TEST(Order, ManyThreadsDownloadAtOnce) {
  auto const n = roc::test::scaled(2'000'000);
  auto const expected = std::vector<int>(n, 7);
  auto const array = roc::to_device(expected);
  std::vector<std::vector<int>> results(24, std::vector<int>(n));
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { array.copy_to_host(result); });
  for (auto& thread : threads) thread.join();
  for (auto const& result : results) EXPECT_EQ(expected, result);
}

TEST(Order, AnArrayMayGoWhileItsCopyIsPending) {
  std::vector<int> const source = numbers(41);
  std::vector<int> back(count);
  roc::stream const stream;
  {
    auto const array = roc::to_device(source, stream);
    array.copy_to_host(back, stream);
  }
  stream.synchronize();
  EXPECT_EQ(source, back);
}

// A write on its way is waited for by everyone who reads the memory, not by the first alone.
TEST(Order, TwoReadersOfPageableMemoryWaitForTheSameWrite) {
  roc::device_array<int> const source({1000});
  source.fill(7);
  roc::device_array<int> const first({1000});
  roc::device_array<int> const second({1000});
  std::vector<int> host(1000, -1);
  roc::stream const writing;
  roc::stream const reading[2];
  source.copy_to_host(host, writing);
  std::thread other([&] { first.copy_to_device(host, reading[0]); });
  second.copy_to_device(host, reading[1]);
  other.join();
  EXPECT_EQ(7, first(999).get());
  EXPECT_EQ(7, second(999).get());
}

}  // namespace

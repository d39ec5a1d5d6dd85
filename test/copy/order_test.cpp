// SPDX-License-Identifier: MIT
// The order of copies: a copy without a stream runs after all earlier work, a copy on a stream
// returns before it is done, and host memory is read and written when the contract allows.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "memory/host/host_registrations.hpp"
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

TEST(CopyOrder, CopyWithoutStreamRunsAfterAllStreams) {
  auto const expected = numbers(1);
  roc::device_array<int> array({count});
  auto pinned = roc::pinned_array<int>(count);
  std::copy(expected.begin(), expected.end(), pinned.begin());
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  array.copy_to_device(pinned, stream);
  if (gate::holds()) {
    EXPECT_FALSE(stream.query());
  }
  stream_gate.open();
  std::vector<int> back(count);
  array.copy_to_host(back);
  EXPECT_EQ(expected, back);
  EXPECT_TRUE(stream.query());
}

// A copy reads host memory only after pending work that writes it is done.
TEST(CopyOrder, CopyWithoutStreamReadsWhatAPendingDownloadWrites) {
  auto const expected = numbers(51);
  auto const first = roc::to_device(expected);
  roc::device_array<int> const second({count});
  std::vector<int> between(count, -1);
  std::vector<int> last(count, -1);
  roc::stream const stream;
  {
    gate stream_gate;
    stream_gate.close(stream);
    first.copy_to_host(between, stream);
    stream_gate.open();
    second.copy_to_device(between);
  }
  auto const back = second.copy_to_host();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), back.begin()));
  first.copy_to_host(between, stream);
  roc::copy(between, last);
  EXPECT_EQ(expected, last);
}

TEST(CopyOrder, CopyWithoutStreamRunsAfterNonBlockingStreams) {
  auto const expected = numbers(5);
  roc::device_array<int> array({count});
  auto pinned = roc::pinned_array<int>(count);
  std::copy(expected.begin(), expected.end(), pinned.begin());
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  auto const stream = roc::from_native(native);
  std::vector<int> back(count);
  {
    gate stream_gate;
    stream_gate.close(stream);
    array.copy_to_device(pinned, stream);
    stream_gate.open();
    array.copy_to_host(back);
  }
  EXPECT_EQ(expected, back);
  ROCARRAY_HIP(hipStreamDestroy, native);
}

TEST(CopyOrder, CopyOnStreamReturnsBeforeItIsDone) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline, work is done by the call that enqueues it";
  auto const source = numbers(9);
  roc::device_array<int> const array({count});
  std::vector<int> back(count, -1);
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  array.copy_to_device(source, stream);
  array.copy_to_host(back, stream);
  EXPECT_FALSE(stream.query());
  EXPECT_EQ(-1, back[0]);
  stream_gate.open();
  stream.synchronize();
  EXPECT_EQ(source, back);
}

TEST(CopyOrder, PageableSourceMayChangeOnReturn) {
  auto const expected = numbers(3);
  auto source = expected;
  roc::device_array<int> const array({count});
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  array.copy_to_device(source, stream);
  std::fill(source.begin(), source.end(), -1);
  stream_gate.open();
  stream.synchronize();
  auto const back = array.copy_to_host();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), back.begin()));
}

TEST(CopyOrder, StridedPageableSourceMayChangeOnReturn) {
  auto source = numbers(3);
  roc::device_array<int> const array({count / 2});
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  roc::host_view<int> const all(source);
  array.copy_to_device(all(roc::slice(0, roc::none, 2)), stream);
  std::fill(source.begin(), source.end(), -1);
  stream_gate.open();
  stream.synchronize();
  auto const back = array.copy_to_host();
  for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(static_cast<int>(2 * i) + 3, back(i));
}

TEST(CopyOrder, BorrowedSourceIsReadInStreamOrder) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline, work is done by the call that enqueues it";
  auto source = numbers(3);
  roc::device_array<int> const array({count});
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  array.copy_to_device(source, stream, roc::borrow_source);
  std::iota(source.begin(), source.end(), 77);
  stream_gate.open();
  stream.synchronize();
  auto const back = array.copy_to_host();
  EXPECT_TRUE(std::equal(source.begin(), source.end(), back.begin()));
}

// A pinned source is read in the stream's order, also if the CPU packs it: it contains what earlier
// work of the stream has written.
TEST(CopyOrder, StridedPinnedSourceIsReadInStreamOrder) {
  auto const expected = numbers(11);
  auto const first = roc::to_device(expected);
  auto pinned = roc::pinned_array<int>(count);
  std::fill(pinned.begin(), pinned.end(), -1);
  roc::device_array<int> const second({count / 2});
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  first.copy_to_host(pinned, stream);
  second.copy_to_device(pinned.view()(roc::slice(1, roc::none, 2)), stream);
  stream_gate.open();
  stream.synchronize();
  auto const back = second.copy_to_host();
  for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(expected[2 * i + 1], back(i));
}

TEST(CopyOrder, HostToHostCopyOnStreamKeepsTheStreamsOrder) {
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

// The handle of the per-thread default stream means another stream in every worker thread.
TEST(CopyOrder, LargeCopyOnPerThreadStreamKeepsTheStreamsOrder) {
  constexpr std::size_t large = std::size_t{8} << 20;
  roc::device_array<std::uint8_t> const array({large});
  auto before = roc::pinned_array<std::uint8_t>(large);
  array.fill(9);
  hipStream_t other_stream = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &other_stream, hipStreamNonBlocking);
  auto const stream = roc::per_thread_stream();
  {
    std::vector<std::uint8_t> const source(large, 4);
    gate stream_gate;
    stream_gate.close(stream);
    array.copy_to_device(source, stream);
    if (roc::test::run_mode() == roc::test::mode::threaded) {
      // other_stream is not ordered after the copy. In mode deferred any query runs pending work.
      ROCARRAY_HIP(hipMemcpyAsync, before.data(), array.data(), large, hipMemcpyDeviceToHost,
                   other_stream);
      ROCARRAY_HIP(hipStreamSynchronize, other_stream);
      EXPECT_EQ(0, std::count(before.begin(), before.end(), 4));
    }
  }
  ROCARRAY_HIP(hipStreamDestroy, other_stream);
  std::vector<std::uint8_t> back(large);
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(std::vector<std::uint8_t>(large, 4), back);
}

TEST(CopyOrder, EventOrdersCopiesOfTwoStreams) {
  auto const expected = numbers(31);
  roc::device_array<int> const array({count});
  std::vector<int> back(count);
  roc::stream const writer;
  roc::stream const reader;
  gate stream_gate;
  stream_gate.close(writer);
  array.copy_to_device(expected, writer);
  roc::event written;
  written.record(writer);
  reader.wait(written);
  array.copy_to_host(back, reader);
  stream_gate.open();
  reader.synchronize();
  EXPECT_EQ(expected, back);
}

TEST(CopyOrder, ManySmallCopiesOnBusyStreamDoNotBlock) {
  roc::device_array<int> const array({count});
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  int const copies = 500;  // the queue of a GPU has about a thousand entries
  for (int i = 0; i < copies; ++i) {
    int const value = i;
    array(i).copy_to_device(roc::host_view<int const, 0>(&value, {}), stream);
  }
  stream_gate.open();
  stream.synchronize();
  auto const back = array.copy_to_host();
  for (int i = 0; i < copies; ++i) ASSERT_EQ(i, back(i));
}

// The upload reads the vector during the call, so it waits for the download before it.
TEST(CopyOrder, UploadReadsWhatAnEarlierDownloadWrites) {
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

// HIP orders the default stream and blocking streams without events. CUDA 13.0 reads the source of
// a small copy before the other stream has written it: see runtime::order_small_upload.
class SmallUpload : public testing::TestWithParam<std::size_t> {
 protected:
  // Enqueues a download to `between` on `writer`, then an upload from it on `reader`, or without a
  // stream if that is nullopt. Expects the upload to read what the download writes.
  void expect_order(std::span<int> between, roc::stream_ref writer,
                    std::optional<roc::stream_ref> reader) {
    std::vector<int> expected(between.size());
    std::iota(expected.begin(), expected.end(), ++first_);
    roc::device_array<int> const first({between.size()});
    roc::device_array<int> const second({between.size()});
    first.copy_to_device(expected);
    second.fill(-1);
    std::fill(between.begin(), between.end(), -2);
    {
      gate stream_gate;
      stream_gate.close(writer);
      first.copy_to_host(between, writer);
      if (reader) {
        second.copy_to_device(between, *reader);
      } else {
        std::jthread const opener([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
          stream_gate.open();
        });
        second.copy_to_device(between);
      }
    }
    if (reader) reader->synchronize();
    auto const back = second.copy_to_host();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), back.begin()));
  }

 private:
  int first_ = 0;
};

TEST_P(SmallUpload, ReadsWhatAStreamThatHipOrdersBeforeItWrites) {
  roc::stream const stream;
  auto const per_thread = roc::per_thread_stream();
  constexpr roc::stream_ref default_stream;
  struct order {
    char const* name;
    roc::stream_ref writer;
    std::optional<roc::stream_ref> reader;
  };
  std::vector<order> const orders = {
      {"default stream before stream", default_stream, stream},
      {"default stream before per-thread stream", default_stream, per_thread},
      {"stream before default stream", stream, default_stream},
      {"per-thread stream before default stream", per_thread, default_stream},
      {"stream before call without stream", stream, std::nullopt},
  };
  auto pinned = roc::pinned_array<int>(GetParam());
  std::vector<int> vector(GetParam());
  auto const registration = roc::register_host(vector);
  for (order const& next : orders) {
    SCOPED_TRACE(next.name);
    expect_order(std::span<int>(pinned.data(), pinned.size()), next.writer, next.reader);
    expect_order(vector, next.writer, next.reader);
  }
}

// Enqueues an upload of `between`, in which pending work writes `expected`, on `reader`. Expects
// the upload to read that.
void expect_upload_reads(std::span<int> between, std::vector<int> const& expected,
                         roc::stream_ref reader, gate& writer_gate) {
  roc::device_array<int> const array({between.size()});
  array.copy_to_device(between, reader);
  writer_gate.open();
  reader.synchronize();
  auto const back = array.copy_to_host();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), back.begin()));
}

TEST(SmallUploadOrder, FollowsAWaitOfTheDefaultStream) {
  auto const expected = numbers(71);
  auto const array = roc::to_device(expected);
  auto pinned = roc::pinned_array<int>(count);
  std::fill(pinned.begin(), pinned.end(), -1);
  roc::stream const writer(roc::non_blocking);
  roc::stream const reader;
  gate writer_gate;
  writer_gate.close(writer);
  array.copy_to_host(pinned, writer);
  roc::event written;
  written.record(writer);
  roc::stream_ref{}.wait(written);
  expect_upload_reads({pinned.data(), count}, expected, reader, writer_gate);
}

TEST(SmallUploadOrder, FollowsAnEventOfTheDefaultStream) {
  auto const expected = numbers(81);
  auto const array = roc::to_device(expected);
  auto pinned = roc::pinned_array<int>(count);
  std::fill(pinned.begin(), pinned.end(), -1);
  roc::stream const writer;
  roc::stream const reader;
  gate writer_gate;
  writer_gate.close(writer);
  array.copy_to_host(pinned, writer);
  roc::event event;
  event.record();  // after the writer's work, and before the reader's
  expect_upload_reads({pinned.data(), count}, expected, reader, writer_gate);
}

TEST(SmallUploadOrder, FollowsAHostFunctionOfTheDefaultStream) {
  auto const expected = numbers(91);
  auto pinned = roc::pinned_array<int>(count);
  std::fill(pinned.begin(), pinned.end(), -1);
  roc::stream const reader;
  gate writer_gate;
  writer_gate.close({});
  roc::stream_ref{}.launch_host_function(
      [&] { std::copy(expected.begin(), expected.end(), pinned.begin()); });
  expect_upload_reads({pinned.data(), count}, expected, reader, writer_gate);
}

TEST(SmallUploadOrder, FollowsAFillOfMappedMemoryOnTheDefaultStream) {
  auto mapped = roc::mapped_array<int>(count);
  std::fill(mapped.begin(), mapped.end(), -1);
  roc::stream const reader;
  gate writer_gate;
  writer_gate.close({});
  mapped.device_view().fill(7, roc::stream_ref{});
  expect_upload_reads({mapped.data(), count}, std::vector<int>(count, 7), reader, writer_gate);
}

// A large copy has a call of its own for each piece of the registration, here a small one at first.
TEST(SmallUploadOrder, HoldsForARegistrationInPieces) {
  constexpr std::size_t piece = 64 << 10;
  roc::scoped_options const options({.register_chunk = piece});
  std::vector<int> registered(8 * piece / sizeof(int));
  auto const registration = roc::register_host(registered);
  auto const begin = reinterpret_cast<std::uintptr_t>(registered.data());
  std::uintptr_t const end = begin + registered.size() * sizeof(int);
  std::uintptr_t const boundary =
      roc::memory::host_registrations::instance().end_of_segment({begin + 2 * piece, end});
  ASSERT_LT(boundary, begin + 4 * piece);
  auto const between =
      std::span(registered).subspan((boundary - begin) / sizeof(int) - count, 20 * count);
  std::vector<int> expected(between.size());
  std::iota(expected.begin(), expected.end(), 1);
  auto const array = roc::to_device(expected);
  std::fill(between.begin(), between.end(), -1);
  roc::stream const reader;
  gate writer_gate;
  writer_gate.close({});
  array.copy_to_host(between, roc::stream_ref{});
  expect_upload_reads(between, expected, reader, writer_gate);
}

INSTANTIATE_TEST_SUITE_P(Elements, SmallUpload, testing::Values(1, 1000, 6144, 6145, 20000));

// Every download needs several staging buffers; waiting for one while holding another would
// deadlock.
TEST(CopyOrder, ManyConcurrentDownloadsDoNotDeadlock) {
  auto const n = roc::test::scaled(2'000'000);
  auto const expected = std::vector<int>(n, 7);
  auto const array = roc::to_device(expected);
  std::vector<std::vector<int>> results(24, std::vector<int>(n));
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { array.copy_to_host(result); });
  for (auto& thread : threads) thread.join();
  for (auto const& result : results) EXPECT_EQ(expected, result);
}

TEST(CopyOrder, ArrayMayBeDestroyedWhileItsCopyIsPending) {
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

// Every reader of the memory waits for a pending write, not only the first.
TEST(CopyOrder, TwoReadersOfPageableMemoryWaitForTheSameWrite) {
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

// SPDX-License-Identifier: MIT
// Two blocks of the least staging memory are enough for everything that goes through it.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::gate;
using bytes = std::vector<std::uint8_t>;

bytes numbered(std::size_t count) {
  bytes result(count);
  for (std::size_t i = 0; i != count; ++i) result[i] = static_cast<std::uint8_t>(1 + i * 7);
  return result;
}

// Rows of a byte take more to describe than a block has room for, whatever is left of them.
TEST(LeastStaging, BatchesOfScatteredBytes) {
  for (std::size_t rows = 1; rows != 70; ++rows) {
    bytes const source = numbered(2 * rows);
    roc::device_array<std::uint8_t, 2> const wide({rows, 9});
    wide.fill(0);
    auto const scattered = wide(roc::all, roc::slice(0, 8, 4));
    bytes back(2 * rows);
    roc::copy_batch batch;
    batch.add(source, scattered).add(scattered, back);
    roc::stream const stream;
    batch.submit(stream, roc::borrow_source);
    stream.synchronize();
    ASSERT_EQ(source, back) << rows << " rows";
    std::fill(back.begin(), back.end(), std::uint8_t{0});
    batch.submit();
    ASSERT_EQ(source, back) << rows << " rows";
  }
}

// Scratch memory on the device goes round in the stream's order, as staging memory does.
TEST(LeastStaging, AStridedCopyBackDoesNotWait) {
  if (roc::test::run_mode() != roc::test::mode::threaded) {
    GTEST_SKIP() << "where a question moves work on, nobody can tell that from waiting";
  }
  constexpr std::size_t rows = 20'000;
  roc::device_array<std::uint8_t, 2> const wide({rows, 9});
  wide.fill(6);
  auto const part = wide(roc::all, roc::slice(0, 9, 3));
  bytes back(3 * rows);
  roc::host_view const to(back.data(), roc::shape<2>{rows, 3});
  roc::stream const stream;
  part.copy_to_host(to, stream);  // memory is there now
  stream.synchronize();
  std::fill(back.begin(), back.end(), std::uint8_t{0});
  gate held;
  held.close(stream);
  auto enqueued = std::async(std::launch::async, [&] { part.copy_to_host(to, stream); });
  EXPECT_EQ(std::future_status::ready, enqueued.wait_for(std::chrono::seconds(10)));
  EXPECT_EQ(0, back[0]);
  held.open();
  enqueued.get();
  stream.synchronize();
  EXPECT_EQ(bytes(3 * rows, 6), back);
}

// Nor do several copies, as many as there may be, with the memory of the one before.
TEST(LeastStaging, CopiesBackOnOneStreamDoNotWaitForEachOther) {
  if (roc::test::run_mode() != roc::test::mode::threaded) {
    GTEST_SKIP() << "where a question moves work on, nobody can tell that from waiting";
  }
  constexpr std::size_t length = 30'000, copies = 6;
  bytes const source = numbered(length);
  roc::device_array<std::uint8_t> const array({length});
  array.copy_to_device(source);
  std::vector<bytes> back(copies, bytes(length));
  roc::stream const stream;
  array.copy_to_host(back[0], stream);  // memory is there now
  stream.synchronize();
  back[0][0] = 0;
  gate held;
  held.close(stream);
  auto enqueued = std::async(std::launch::async, [&] {
    for (bytes& each : back) array.copy_to_host(each, stream);
  });
  EXPECT_EQ(std::future_status::ready, enqueued.wait_for(std::chrono::seconds(10)));
  EXPECT_EQ(0, back[0][0]);
  held.open();
  enqueued.get();
  // At once into the same memory: not before the work there is done.
  roc::device_array<std::uint8_t> const other({length});
  bytes changed(length, 7);
  for (bytes& each : back) array.copy_to_host(each, stream);
  other.copy_to_device(changed, stream);
  std::fill(changed.begin(), changed.end(), std::uint8_t{0});
  other.copy_to_host(changed, stream);
  stream.synchronize();
  for (bytes const& each : back) EXPECT_EQ(source, each);
  EXPECT_EQ(bytes(length, 7), changed);
}

// Several streams take turns with it, and keep apart what each has there.
TEST(LeastStaging, StridedCopiesOfSeveralStreams) {
  constexpr std::size_t rows = 5000, streams = 4;
  bytes const source = numbered(3 * rows);
  std::vector<bytes> back(streams, bytes(3 * rows));
  std::vector<std::future<void>> done;
  for (std::size_t i = 0; i != streams; ++i) {
    done.push_back(std::async(std::launch::async, [&source, &mine = back[i]] {
      roc::device_array<std::uint8_t, 2> const wide({rows, 9});
      auto const part = wide(roc::all, roc::slice(0, 9, 3));
      roc::stream const stream;
      for (int round = 0; round != 5; ++round) {
        std::fill(mine.begin(), mine.end(), std::uint8_t{0});
        wide.fill(0, stream);
        part.copy_to_device(roc::host_view(source.data(), roc::shape<2>{rows, 3}), stream);
        part.copy_to_host(roc::host_view(mine.data(), roc::shape<2>{rows, 3}), stream);
        stream.synchronize();
        if (mine != source) return;
      }
    }));
  }
  for (auto& each : done) each.get();
  for (bytes const& each : back) EXPECT_EQ(source, each);
}

std::atomic<int> made = 0;

TEST(LeastStaging, HalfAPairOfStreamsIsGivenBack) {
  roc::device_array<std::uint8_t> const array({50'000});
  array.fill(3);
  bytes back(50'000);
  roc::stream const stream;
  ASSERT_TRUE(roc::platform::fail_call("hipStreamCreateWithFlags", 2, hipErrorOutOfMemory));
  auto const before = roc::platform::set_call_hook([](roc::platform::call_record const& record) {
    std::string const name = record.name;
    if (name == "hipStreamCreateWithFlags" && record.result == hipSuccess) ++made;
    if (name == "hipStreamDestroy") --made;
  });
  EXPECT_THROW(array.copy_to_host(back, stream), roc::error);
  roc::platform::set_call_hook(before);
  roc::platform::clear_failures();
  EXPECT_EQ(0, made);
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(bytes(50'000, 3), back);
}

}  // namespace

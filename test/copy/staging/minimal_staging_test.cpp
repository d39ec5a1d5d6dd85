// SPDX-License-Identifier: MIT
// All staged transfers work with the minimum of staging memory: two blocks of the smallest size.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "platform/call.hpp"
#include "runtime/default_stream_sync.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/held_auxiliary_streams.hpp"
#include "support/numbered_bytes.hpp"
#include "support/options.hpp"

namespace {

using roc::test::bytes;
using roc::test::gate;
using roc::test::numbered;

roc::test::program_options const options_of_tests([]() -> roc::options {
  return {.staging_limit = 4096, .staging_block = 4096, .staging_chunk = 4096};
});

// The first test, because later ones use the streams that it fails to create.
TEST(MinimalStaging, FirstAuxiliaryStreamIsKeptIfTheSecondFails) {
  roc::device_array<std::uint8_t> const array({50'000});
  array.fill(3);
  bytes back(50'000);
  roc::stream const stream;
  ASSERT_TRUE(roc::platform::fail_call("hipStreamCreateWithFlags", 2, hipErrorOutOfMemory));
  EXPECT_THROW(array.copy_to_host(back, stream), roc::error);
  roc::device().synchronize();
  // The first stream was kept, so that the next pair creates one native stream, not two.
  ASSERT_TRUE(roc::platform::fail_call("hipStreamCreateWithFlags", 2, hipErrorOutOfMemory));
  array.copy_to_host(back, stream);
  roc::platform::clear_failures();
  stream.synchronize();
  EXPECT_EQ(bytes(50'000, 3), back);
}

// The description of rows of one byte is larger than a block, for any number of remaining rows.
TEST(MinimalStaging, BatchOfScatteredBytesIsCopied) {
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

// Scratch memory on the device is reused in the stream's order, as staging memory is.
TEST(MinimalStaging, StridedDownloadOnBusyStreamDoesNotBlock) {
  if (roc::test::run_mode() != roc::test::mode::threaded) {
    GTEST_SKIP() << "in this mode a query runs pending work, so blocking cannot be observed";
  }
  constexpr std::size_t rows = 20'000;
  roc::device_array<std::uint8_t, 2> const wide({rows, 9});
  wide.fill(6);
  auto const part = wide(roc::all, roc::slice(0, 9, 3));
  bytes back(3 * rows);
  roc::host_view const to(back.data(), roc::shape<2>{rows, 3});
  roc::stream const stream;
  part.copy_to_host(to, stream);  // allocates the staging memory
  stream.synchronize();
  std::fill(back.begin(), back.end(), std::uint8_t{0});
  gate stream_gate;
  stream_gate.close(stream);
  auto enqueued = std::async(std::launch::async, [&] { part.copy_to_host(to, stream); });
  EXPECT_EQ(std::future_status::ready, enqueued.wait_for(std::chrono::seconds(10)));
  EXPECT_EQ(0, back[0]);
  stream_gate.open();
  enqueued.get();
  stream.synchronize();
  EXPECT_EQ(bytes(3 * rows, 6), back);
}

// Every copy reuses the staging memory of the copy before it, whose work is pending.
TEST(MinimalStaging, SeveralDownloadsOnBusyStreamDoNotBlock) {
  if (roc::test::run_mode() != roc::test::mode::threaded) {
    GTEST_SKIP() << "in this mode a query runs pending work, so blocking cannot be observed";
  }
  constexpr std::size_t length = 30'000, copies = 6;
  bytes const source = numbered(length);
  roc::device_array<std::uint8_t> const array({length});
  array.copy_to_device(source);
  std::vector<bytes> back(copies, bytes(length));
  roc::stream const stream;
  array.copy_to_host(back[0], stream);  // allocates the staging memory
  stream.synchronize();
  back[0][0] = 0;
  gate stream_gate;
  stream_gate.close(stream);
  auto enqueued = std::async(std::launch::async, [&] {
    for (bytes& destination : back) array.copy_to_host(destination, stream);
  });
  EXPECT_EQ(std::future_status::ready, enqueued.wait_for(std::chrono::seconds(10)));
  EXPECT_EQ(0, back[0][0]);
  stream_gate.open();
  enqueued.get();
  // An upload writes staging memory now, so it must wait until the pending work is done with it.
  roc::device_array<std::uint8_t> const other({length});
  bytes changed(length, 7);
  for (bytes& destination : back) array.copy_to_host(destination, stream);
  other.copy_to_device(changed, stream);
  std::fill(changed.begin(), changed.end(), std::uint8_t{0});
  other.copy_to_host(changed, stream);
  stream.synchronize();
  for (bytes const& result : back) EXPECT_EQ(source, result);
  EXPECT_EQ(bytes(length, 7), changed);
}

// Several streams share the staging memory without overwriting each other's data.
TEST(MinimalStaging, StridedCopiesOnSeveralStreamsKeepTheirData) {
  constexpr std::size_t rows = 5000, streams = 4;
  bytes const source = numbered(3 * rows);
  std::vector<bytes> back(streams, bytes(3 * rows));
  std::vector<std::future<void>> done;
  for (std::size_t i = 0; i != streams; ++i) {
    done.push_back(std::async(std::launch::async, [&source, &result = back[i]] {
      roc::device_array<std::uint8_t, 2> const wide({rows, 9});
      auto const part = wide(roc::all, roc::slice(0, 9, 3));
      roc::stream const stream;
      for (int round = 0; round != 5; ++round) {
        std::fill(result.begin(), result.end(), std::uint8_t{0});
        wide.fill(0, stream);
        part.copy_to_device(roc::host_view(source.data(), roc::shape<2>{rows, 3}), stream);
        part.copy_to_host(roc::host_view(result.data(), roc::shape<2>{rows, 3}), stream);
        stream.synchronize();
        if (result != source) return;
      }
    }));
  }
  for (auto& task : done) task.get();
  for (bytes const& result : back) EXPECT_EQ(source, result);
}

// Three failures in a row make a block unusable, because its work may still be pending. Once the
// device is idle, the block is used again: with two blocks, eight lost ones would end all copies.
TEST(MinimalStaging, BlocksAreUsedAgainAfterFailedSynchronization) {
  constexpr std::size_t length = 30'000;
  bytes const source = numbered(length);
  roc::device_array<std::uint8_t> const array({length});
  roc::stream const stream;
  bytes back(length);
  array.copy_to_device(source, stream);
  stream.synchronize();
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  for (unsigned nth = 1; nth != 9; ++nth) {
    ASSERT_TRUE(roc::platform::fail_call("hipEventRecord", nth, hipErrorUnknown));
    ASSERT_TRUE(roc::platform::fail_call("hipStreamSynchronize", 1, hipErrorUnknown));
    ASSERT_TRUE(roc::platform::fail_call("hipDeviceSynchronize", 1, hipErrorUnknown));
    try {
      array.copy_to_host(back, stream);
    } catch (roc::error const&) {
    }
    roc::platform::clear_failures();
    stream.synchronize();
  }
  roc::set_log_hook(log);
  std::fill(back.begin(), back.end(), std::uint8_t{0});
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(source, back);
}

// If it cannot be awaited, the work of a failed copy may wait for the stream of its user for ever.
TEST(MinimalStaging, StreamsOfAFailedCopyAreNotUsedBeforeTheDeviceIsIdle) {
  roc::scoped_options const scope({.stream_staging = roc::stream_staging_method::host_functions});
  constexpr std::size_t length = 30'000;
  bytes const source = numbered(length);
  roc::device_array<std::uint8_t> const array({length});
  roc::stream const stream;
  array.copy_to_device(source, stream, roc::borrow_source);
  stream.synchronize();
  roc::test::held_auxiliary_streams held(0, stream);
  ASSERT_LT(0u, held.size());
  held.release_one();
  EXPECT_EQ(1u, roc::test::held_auxiliary_streams(0, stream).size());
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  ASSERT_TRUE(roc::platform::fail_call("hipMemcpyAsync", 2, hipErrorLaunchFailure));
  for (char const* const name : {"hipStreamSynchronize", "hipDeviceSynchronize"}) {
    ASSERT_TRUE(roc::platform::fail_call(name, 1, hipErrorLaunchFailure,
                                         roc::platform::failing_uses::all_later));
  }
  EXPECT_THROW(array.copy_to_device(source, stream, roc::borrow_source), roc::error);
  roc::platform::clear_failures();
  roc::set_log_hook(log);
  EXPECT_EQ(0u, roc::test::held_auxiliary_streams(0, stream).size());
  ASSERT_TRUE(roc::runtime::wait_for_abandoned_work());
  EXPECT_EQ(1u, roc::test::held_auxiliary_streams(0, stream).size());
  array.copy_to_device(source, stream, roc::borrow_source);
  bytes back(length);
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(source, back);
}

}  // namespace

// SPDX-License-Identifier: MIT
// Copies without a stream in both directions at the same time: the thread that drives the copies on
// streams does the CPU's part of them too, if values are used (options::stream_staging).
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "copy/staging/staged_copy.hpp"
#include "copy/staging/staging_pool.hpp"
#include "copy/staging/stream_ordered_staging.hpp"
#include "platform/call.hpp"
#include "support/call_counter.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/numbered_bytes.hpp"
#include "support/options.hpp"

namespace {

using roc::test::bytes;
using roc::test::call_counter;
using roc::test::gate;
using roc::test::numbered;
using roc::transfer::copy_kind;

roc::test::program_options const options_of_tests(roc::test::small_value_staging);

constexpr std::size_t length = 100'000;

constexpr char const* value_wait = "hipStreamWaitValue64";

// Returns true if copies to and from an array of its own, without a stream, are right until `ends`
// returns true.
template <class Condition>
bool copies_are_right(bool are_uploads, unsigned seed, Condition ends) {
  bytes const source = numbered(length, seed);
  roc::device_array<std::uint8_t> const array({length});
  array.copy_to_device(source);
  while (!ends()) {
    if (are_uploads) {
      array.copy_to_device(source);
    } else {
      bytes back(length);
      array.copy_to_host(back);
      if (back != source) return false;
    }
  }
  bytes back(length);
  array.copy_to_host(back);
  return back == source;
}

std::shared_ptr<roc::transfer::staged_copy> staged(copy_kind kind, std::uint8_t const* source,
                                                   std::uint8_t* destination) {
  roc::transfer::plan result(kind);
  result.canonical.source = reinterpret_cast<std::byte const*>(source);
  result.canonical.destination = reinterpret_cast<std::byte*>(destination);
  result.canonical.run = length;
  result.path = roc::copy_path::staged;
  return std::make_shared<roc::transfer::staged_copy>(
      roc::transfer::staged_copy::for_value_staging(result));
}

bool upload(bytes const& source, roc::device_array<std::uint8_t> const& destination) {
  return transfer_by_values_and_wait(
      staged(copy_kind::host_to_device, source.data(), destination.data()),
      copy_kind::host_to_device);
}

bool download(roc::device_array<std::uint8_t> const& source, bytes& destination) {
  return transfer_by_values_and_wait(
      staged(copy_kind::device_to_host, source.data(), destination.data()),
      copy_kind::device_to_host);
}

TEST(OppositeCopies, AreStagedByValues) {
  roc::device_array<std::uint8_t> const array({length});
  ASSERT_TRUE(upload(numbered(length, 1), array));  // finds out whether the device can wait
  call_counter const value_waits(value_wait);
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  auto const ends = [&] {
    return value_waits.count() != 0 || std::chrono::steady_clock::now() > end;
  };
  auto uploads = std::async(std::launch::async, [&] { return copies_are_right(true, 1, ends); });
  EXPECT_TRUE(copies_are_right(false, 2, ends));
  EXPECT_TRUE(uploads.get());
  EXPECT_NE(0, value_waits.count());
}

TEST(OppositeCopies, CopiesInOneDirectionUseNoValues) {
  bytes const source = numbered(length, 1);
  roc::device_array<std::uint8_t> const array({length});
  call_counter const value_waits(value_wait);
  for (int i = 0; i != 3; ++i) array.copy_to_device(source);
  auto const copy_often = [&] {
    for (int i = 0; i != 20; ++i) {
      bytes back(length);
      array.copy_to_host(back);
      if (back != source) return false;
    }
    return true;
  };
  auto others = std::async(std::launch::async, copy_often);
  EXPECT_TRUE(copy_often());
  EXPECT_TRUE(others.get());
  EXPECT_EQ(0, value_waits.count());
}

TEST(OppositeCopies, UseNoValuesIfTheOptionSaysSo) {
  call_counter const value_waits(value_wait);
  auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  auto const copies = [&](bool are_uploads) {
    roc::scoped_options const scope({.stream_staging = roc::stream_staging_method::host_functions});
    return copies_are_right(are_uploads, 3, [&] { return std::chrono::steady_clock::now() > end; });
  };
  auto uploads = std::async(std::launch::async, [&] { return copies(true); });
  EXPECT_TRUE(copies(false));
  EXPECT_TRUE(uploads.get());
  EXPECT_EQ(0, value_waits.count());
}

TEST(OppositeCopies, TransferByValuesIsCompleteOnReturn) {
  roc::device_array<std::uint8_t> const array({length});
  for (unsigned round = 0; round != 20; ++round) {
    bytes const source = numbered(length, round);
    bytes back(length);
    ASSERT_TRUE(upload(source, array));
    ASSERT_TRUE(download(array, back));
    ASSERT_EQ(source, back);
  }
}

TEST(OppositeCopies, TransferByValuesTellsThatItTransfersNothing) {
  roc::scoped_options const scope({.stream_staging = roc::stream_staging_method::host_functions});
  roc::device_array<std::uint8_t> const array({length});
  array.fill(7);
  bytes back(length);
  EXPECT_FALSE(upload(numbered(length, 1), array));
  EXPECT_FALSE(download(array, back));
  EXPECT_EQ(bytes(length), back);
  array.copy_to_host(back);
  EXPECT_EQ(bytes(length, 7), back);
}

// Copies of several threads in each direction share the internal stream of the direction.
TEST(OppositeCopies, ManyThreadsCopyInBothDirections) {
  std::vector<std::future<bool>> results;
  for (unsigned i = 0; i != 6; ++i) {
    results.push_back(std::async(std::launch::async, [i] {
      int rounds = 20;
      return copies_are_right(i % 2 == 0, i, [&] { return rounds-- == 0; });
    }));
  }
  for (auto& result : results) EXPECT_TRUE(result.get());
  // No copy counts any more.
  roc::device_array<std::uint8_t> const array({length});
  call_counter const value_waits(value_wait);
  array.copy_to_device(numbered(length, 1));
  EXPECT_EQ(0, value_waits.count());
}

// If no wait of HIP succeeds, the device must not wait for the CPU's part of the transfer, which
// nobody does. Once it is idle, the pair of streams is used again.
TEST(OppositeCopies, DeviceGoesOnIfATransferCannotBeAwaited) {
  bytes const source = numbered(length, 1);
  roc::device_array<std::uint8_t> const array({length});
  bytes back(length);
  ASSERT_TRUE(upload(source, array));
  ASSERT_TRUE(download(array, back));
  for (bool const is_upload : {true, false}) {
    auto const all_later = roc::platform::failing_uses::all_later;
    for (char const* const wait :
         {"hipEventSynchronize", "hipStreamSynchronize", "hipDeviceSynchronize"}) {
      ASSERT_TRUE(roc::platform::fail_call(wait, 1, hipErrorUnknown, all_later));
    }
    EXPECT_THROW(is_upload ? upload(source, array) : download(array, back), roc::error);
    roc::platform::clear_failures();
    auto synchronized = std::async(std::launch::async, [] { roc::device().synchronize(); });
    ASSERT_EQ(std::future_status::ready, synchronized.wait_for(std::chrono::seconds(20)));
    synchronized.get();
    for (unsigned round = 2; round != 4; ++round) {
      bytes const sent = numbered(length, round);
      ASSERT_TRUE(upload(sent, array));
      ASSERT_TRUE(download(array, back));
      ASSERT_EQ(sent, back);
    }
    ASSERT_EQ(0u, roc::transfer::staging_pool::count_lost_blocks());
  }
}

// A transfer by values does not wait for staging memory that a busy stream holds.
TEST(OppositeCopies, TransferByValuesNeedsFreeStagingMemory) {
  if (roc::test::run_mode() != roc::test::mode::threaded) {
    GTEST_SKIP() << "in the other modes nothing holds back the work that a call waits for";
  }
  bytes const source = numbered(length, 1), held(52 << 10, 3);  // held: in all four blocks
  roc::device_array<std::uint8_t> const array({length});
  roc::device_array<std::uint8_t> const other({held.size()});
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  other.copy_to_device(held, stream);
  EXPECT_FALSE(upload(source, array));
  stream_gate.open();
  stream.synchronize();
  EXPECT_TRUE(upload(source, array));
}

// A transfer by values to or from strided device memory does not wait for scratch memory on the
// device that busy streams hold.
TEST(OppositeCopies, TransferByValuesUsesNoScratchMemoryOfUsersStreams) {
  using roc::transfer::staging_pool;
  constexpr std::size_t rows = 300, run = 100, pitch = 160;
  bytes const source = numbered(rows * run, 1);
  bytes back(rows * run);
  roc::device_array<std::uint8_t, 2> const array({rows, pitch});
  roc::transfer::plan sent(copy_kind::host_to_device);
  sent.path = roc::copy_path::packed;
  sent.canonical.run = run;
  sent.canonical.rank = 1;
  roc::transfer::plan received = sent;
  received.kind = copy_kind::device_to_host;
  sent.canonical.source = reinterpret_cast<std::byte const*>(source.data());
  sent.canonical.destination = reinterpret_cast<std::byte*>(array.data());
  sent.canonical.axes[0] = {rows, run, pitch};
  received.canonical.source = reinterpret_cast<std::byte const*>(array.data());
  received.canonical.destination = reinterpret_cast<std::byte*>(back.data());
  received.canonical.axes[0] = {rows, pitch, run};
  roc::stream const stream;
  std::vector<roc::transfer::staging_buffer_ptr> held;
  for (auto const user : {staging_pool::client::user_upload, staging_pool::client::user_download}) {
    auto& pool = staging_pool::device_scratch(user);
    while (auto buffer = pool.try_acquire(pool.block_bytes(), stream)) {
      held.push_back(std::move(buffer));
    }
  }
  ASSERT_FALSE(held.empty());
  auto transfers = std::async(std::launch::async, [&] {
    auto const transfer = [](roc::transfer::plan const& p) {
      return transfer_by_values_and_wait(std::make_shared<roc::transfer::staged_copy>(
                                             roc::transfer::staged_copy::for_value_staging(p)),
                                         p.kind);
    };
    return transfer(sent) && transfer(received);
  });
  EXPECT_EQ(std::future_status::ready, transfers.wait_for(std::chrono::seconds(20)));
  held.clear();
  EXPECT_TRUE(transfers.get());
  EXPECT_EQ(source, back);
}

// Each call of HIP that the transfers make fails in turn. After an error nothing accesses the
// caller's memory, no staging memory is lost, and later transfers are right.
class OppositeCopyFailure : public testing::TestWithParam<char const*> {};

TEST_P(OppositeCopyFailure, LeavesTheCallersMemoryIntact) {
  bytes const source = numbered(length, 1);
  roc::device_array<std::uint8_t> const array({length});
  bytes back(length);
  ASSERT_TRUE(upload(source, array));
  ASSERT_TRUE(download(array, back));
  bool has_failed = true;
  unsigned failures = 0;
  for (unsigned nth = 1; has_failed && nth != 300; nth += 1 + nth / 8) {
    bytes sent = numbered(length, nth);
    std::fill(back.begin(), back.end(), std::uint8_t{0});
    array.fill(77);
    ASSERT_TRUE(roc::platform::fail_call(GetParam(), nth, hipErrorUnknown));
    has_failed = false;
    try {
      ASSERT_TRUE(upload(sent, array));
      ASSERT_TRUE(download(array, back));
    } catch (roc::error const&) {
      has_failed = true;
    }
    roc::platform::clear_failures();
    failures += has_failed ? 1 : 0;
    bytes const original = sent, after_error = back;
    std::fill(sent.begin(), sent.end(), std::uint8_t{1});
    roc::device().synchronize();
    ASSERT_EQ(after_error, back) << GetParam() << ':' << nth;
    bytes there(length);
    array.copy_to_host(there);
    for (std::size_t i = 0; i != length; ++i) {
      ASSERT_TRUE(there[i] == 77 || there[i] == original[i]) << GetParam() << ':' << nth;
    }
    if (!has_failed) {
      ASSERT_EQ(original, back);
    }
    ASSERT_EQ(0u, roc::transfer::staging_pool::count_lost_blocks()) << GetParam() << ':' << nth;
    ASSERT_TRUE(upload(source, array));
    ASSERT_TRUE(download(array, back));
    ASSERT_EQ(source, back) << GetParam() << ':' << nth;
  }
  EXPECT_NE(0u, failures);
  EXPECT_FALSE(has_failed) << "raise the limit of nth: the call has more uses";
}

INSTANTIATE_TEST_SUITE_P(OfCalls, OppositeCopyFailure,
                         testing::Values("hipStreamWaitValue64", "hipStreamWriteValue64",
                                         "hipMemcpyAsync", "hipEventRecord",
                                         "hipEventSynchronize"));

}  // namespace

// SPDX-License-Identifier: MIT
// A batch gives what its copies would give one after the other, whatever they touch.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::gate;
using roc::test::scaled;
using bytes = std::vector<std::uint8_t>;

bytes numbered(std::size_t count, unsigned first = 1) {
  bytes result(count);
  for (std::size_t i = 0; i != count; ++i) result[i] = static_cast<std::uint8_t>(first + i * 7);
  return result;
}

// Pieces of all sizes, some empty, none touching another.
std::vector<std::size_t> sizes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::size_t> result(count);
  for (auto& each : result) each = random() % (random() % 8 == 0 ? 9000 : 200);
  return result;
}

enum class submitted { at_once, on_a_stream, borrowed };

char const* name_of(submitted how) {
  switch (how) {
    case submitted::at_once: return "AtOnce";
    case submitted::on_a_stream: return "OnAStream";
    case submitted::borrowed: break;
  }
  return "Borrowed";
}

void PrintTo(submitted how, std::ostream* out) { *out << name_of(how); }

void submit(roc::copy_batch& batch, submitted how, roc::stream const& stream) {
  switch (how) {
    case submitted::at_once: return batch.submit();
    case submitted::on_a_stream: return batch.submit(stream);
    case submitted::borrowed: return batch.submit(stream, roc::borrow_source);
  }
}

class CopyBatch : public testing::TestWithParam<submitted> {};

INSTANTIATE_TEST_SUITE_P(Submitted, CopyBatch,
                         testing::Values(submitted::at_once, submitted::on_a_stream,
                                         submitted::borrowed),
                         [](auto const& of) { return std::string(name_of(of.param)); });

TEST_P(CopyBatch, ManyPiecesThereAndBack) {
  for (auto const kind : {roc::host_memory::pageable, roc::host_memory::pinned}) {
    auto const count = sizes(scaled(1500));
    std::size_t const total = std::accumulate(count.begin(), count.end(), std::size_t{0}) +
                              3 * count.size();
    auto from = roc::host_array<std::uint8_t, 1>({total}, roc::order::c, kind);
    auto const filled = numbered(total);
    std::copy(filled.begin(), filled.end(), from.data());
    auto back = roc::host_array<std::uint8_t, 1>({total}, roc::order::c, kind);
    std::fill_n(back.data(), total, std::uint8_t{0xee});
    roc::device_array<std::uint8_t> const array({total});
    roc::device_array<std::uint8_t> const other({total});
    array.fill(0xdd);
    other.fill(0xdd);

    // At odd places, in an order that is not that of the memory.
    roc::copy_batch up, within, down;
    bytes expected(total, 0xee);
    std::size_t at = 0;
    std::size_t wanted = 0;
    for (std::size_t i = 0; i != count.size(); ++i) {
      std::size_t const here = at + i % 3;
      auto const part = roc::slice(static_cast<std::ptrdiff_t>(here),
                                   static_cast<std::ptrdiff_t>(here + count[i]));
      auto const moved = roc::slice(static_cast<std::ptrdiff_t>(total - here - count[i]),
                                    static_cast<std::ptrdiff_t>(total - here));
      up.add(from(part), array(moved));
      within.add(array(moved), other(part));
      down.add(other(part), back(part));
      std::copy_n(filled.begin() + static_cast<std::ptrdiff_t>(here), count[i],
                  expected.begin() + static_cast<std::ptrdiff_t>(here));
      at += count[i] + 3;
      wanted += count[i];
    }
    EXPECT_EQ(wanted, up.size_bytes());
    EXPECT_EQ(wanted, down.size_bytes());
    EXPECT_LE(up.size(), count.size());

    roc::stream const stream;
    submit(up, GetParam(), stream);
    submit(within, GetParam(), stream);
    submit(down, GetParam(), stream);
    stream.synchronize();
    EXPECT_EQ(expected, bytes(back.data(), back.data() + total));
    // What lay between the pieces has stayed.
    EXPECT_EQ(0xdd, other.copy_to_host()(static_cast<std::ptrdiff_t>(total) - 1));
  }
}

TEST_P(CopyBatch, TilesOfAMatrix) {
  constexpr std::size_t side = 48, tile = 8, tiles = side / tile;
  std::vector<std::vector<float>> parts(tiles * tiles, std::vector<float>(tile * tile));
  for (std::size_t t = 0; t != parts.size(); ++t) {
    std::iota(parts[t].begin(), parts[t].end(), static_cast<float>(1000 * t));
  }
  roc::device_array<float, 2> const matrix({side, side});
  roc::device_array<float, 2> const turned({side, side});
  roc::host_array<float, 2> back({side, side});
  matrix.fill(-1);
  turned.fill(-1);
  auto const region = [&](auto& of, std::size_t t) {
    auto const row = static_cast<std::ptrdiff_t>(t / tiles * tile);
    auto const column = static_cast<std::ptrdiff_t>(t % tiles * tile);
    auto const length = static_cast<std::ptrdiff_t>(tile);
    return of(roc::slice(row, row + length), roc::slice(column, column + length));
  };
  roc::copy_batch batch;
  for (std::size_t t = 0; t != parts.size(); ++t) batch.add(parts[t], region(matrix, t));
  roc::stream const stream;
  submit(batch, GetParam(), stream);
  batch.clear();
  EXPECT_TRUE(batch.empty());
  // Transposed within the device, and every second tile upside down on the way back.
  for (std::size_t t = 0; t != parts.size(); ++t) {
    batch.add(region(matrix, t).transpose(), region(turned, t));
  }
  for (std::size_t t = 0; t != parts.size(); ++t) {
    auto const from = region(turned, t);
    if (t % 2 == 0) {
      batch.add(from, region(back, t));
    } else {
      batch.add(from(roc::slice(roc::none, roc::none, -1), roc::all), region(back, t));
    }
  }
  submit(batch, GetParam(), stream);
  stream.synchronize();
  for (std::size_t t = 0; t != parts.size(); ++t) {
    auto const found = region(back, t);
    for (std::ptrdiff_t i = 0; i != tile; ++i) {
      for (std::ptrdiff_t j = 0; j != tile; ++j) {
        auto const row = t % 2 == 0 ? i : static_cast<std::ptrdiff_t>(tile) - 1 - i;
        ASSERT_EQ(parts[t][static_cast<std::size_t>(j) * tile + static_cast<std::size_t>(row)],
                  found(i, j))
            << "tile " << t << " at " << i << ", " << j;
      }
    }
  }
}

// Longer than a chunk of staging memory, and rows so short that they take more to describe than to
// copy.
TEST_P(CopyBatch, LongAndScatteredPieces) {
  std::size_t const length = scaled(200'000);
  auto const source = numbered(length);
  roc::device_array<std::uint8_t> const array({length});
  roc::device_array<std::uint8_t, 3> const scattered({length / 20, 2, 7});
  array.fill(0);
  scattered.fill(0);
  bytes back(length);
  auto const few = numbered(length / 20 * 2 * 3, 9);
  bytes few_back(few.size());
  auto const inner = scattered(roc::all, roc::all, roc::slice(1, 7, 2));

  roc::copy_batch batch;
  batch.add(source, array)
      .add(few, inner)
      .add(array, back)
      .add(inner, few_back);
  roc::stream const stream;
  submit(batch, GetParam(), stream);
  stream.synchronize();
  EXPECT_EQ(source, back);
  EXPECT_EQ(few, few_back);
  EXPECT_EQ(0, scattered.copy_to_host()(0, 1, 2));
}

// Every copy depends on the one before it.
TEST_P(CopyBatch, AChainOfCopies) {
  constexpr std::size_t length = 300;
  auto const first = numbered(length);
  roc::device_array<std::uint8_t> const a({length});
  roc::device_array<std::uint8_t> const b({length});
  for (auto const kind : {roc::host_memory::pageable, roc::host_memory::pinned}) {
    roc::host_array<std::uint8_t, 1> between({length}, roc::order::c, kind);
    roc::host_array<std::uint8_t, 1> moved({length}, roc::order::c, kind);
    std::fill_n(between.data(), length, std::uint8_t{0});
    bytes last(length);
    a.fill(1);
    b.fill(2);
    roc::copy_batch batch;
    batch.add(first, a)
        .add(a, b)
        .add(b, between)
        .add(between, moved)
        .add(moved, a(roc::slice(roc::none, roc::none, -1)))
        .add(a, last);
    // Borrowed sources must not change before the stream has been synchronised: these do.
    bool const changed = GetParam() == submitted::borrowed && kind == roc::host_memory::pageable;
    roc::stream const stream;
    submit(batch, changed ? submitted::at_once : GetParam(), stream);
    stream.synchronize();
    EXPECT_EQ(bytes(first.rbegin(), first.rend()), last);
  }
}

// Random copies between parts of few arrays, many of which meet.
TEST_P(CopyBatch, AsOneCopyAfterTheOther) {
  constexpr std::size_t length = 240;
  std::mt19937 random(GetParam() == submitted::at_once ? 11 : 12);
  for (int round = 0; round != 40; ++round) {
    roc::device_array<std::uint8_t> const array({length});
    roc::host_array<std::uint8_t, 1> pinned({length}, roc::order::c, roc::host_memory::pinned);
    bytes const start = numbered(length, static_cast<unsigned>(round));
    array.copy_to_device(start);
    std::copy(start.begin(), start.end(), pinned.data());
    bytes device_model = start, host_model = start;
    roc::copy_batch batch;
    for (int i = 0; i != 20; ++i) {
      std::size_t const count = 1 + random() % 20;
      std::size_t const step = 1 + random() % 4;
      std::size_t const from = random() % (length - count * step);
      std::size_t const to = random() % (length - count * step);
      auto const part = [&](std::size_t first) {
        return roc::slice(static_cast<std::ptrdiff_t>(first),
                          static_cast<std::ptrdiff_t>(first + (count - 1) * step + 1),
                          static_cast<std::ptrdiff_t>(step));
      };
      bytes& source = random() % 2 == 0 ? device_model : host_model;
      bytes& destination = random() % 2 == 0 ? device_model : host_model;
      try {
        if (&source == &device_model) {
          if (&destination == &device_model) {
            batch.add(array(part(from)), array(part(to)));
          } else {
            batch.add(array(part(from)), pinned(part(to)));
          }
        } else if (&destination == &device_model) {
          batch.add(pinned(part(from)), array(part(to)));
        } else {
          batch.add(pinned(part(from)), pinned(part(to)));
        }
      } catch (roc::overlap_error const&) {
        continue;  // with itself
      }
      bytes const before = source;
      for (std::size_t k = 0; k != count; ++k) {
        destination[to + k * step] = before[from + k * step];
      }
    }
    roc::stream const stream;
    submit(batch, GetParam(), stream);
    stream.synchronize();
    auto const found = array.copy_to_host();
    ASSERT_EQ(device_model, bytes(found.data(), found.data() + length)) << "round " << round;
    ASSERT_EQ(host_model, bytes(pinned.data(), pinned.data() + length)) << "round " << round;
  }
}

TEST_P(CopyBatch, MayBeSubmittedAgain) {
  bytes source = numbered(500);
  bytes back(500);
  roc::device_array<std::uint8_t> const array({500});
  roc::stream const stream;
  roc::copy_batch batch;
  batch.add(source, array).add(array, back);
  submit(batch, GetParam(), stream);
  stream.synchronize();
  EXPECT_EQ(source, back);
  bytes const next = numbered(500, 77);
  std::copy(next.begin(), next.end(), source.begin());
  submit(batch, GetParam(), stream);
  stream.synchronize();
  EXPECT_EQ(source, back);
}

TEST_P(CopyBatch, OfNothing) {
  roc::stream const stream;
  roc::copy_batch batch;
  submit(batch, GetParam(), stream);
  bytes none;
  roc::device_array<std::uint8_t> const array({0});
  batch.add(none, array);
  EXPECT_EQ(0u, batch.size());
  EXPECT_EQ(0u, batch.size_bytes());
  submit(batch, GetParam(), stream);
}

TEST(CopyBatchOrder, APageableSourceMayChangeOnReturn) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  roc::device_array<std::uint8_t> const array({1000});
  bytes source = numbered(1000);
  bytes const wanted = source;
  roc::stream const stream;
  gate held;
  held.close(stream);
  {
    roc::copy_batch batch;
    batch.add(source, array);
    batch.submit(stream);
  }
  std::fill(source.begin(), source.end(), std::uint8_t{0});
  held.open();
  bytes back(1000);
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(wanted, back);
}

TEST(CopyBatchOrder, PinnedAndBorrowedSourcesAreReadInTheStreamsOrder) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  for (bool const pinned : {false, true}) {
    roc::host_array<std::uint8_t, 1> source(
        {1000}, roc::order::c, pinned ? roc::host_memory::pinned : roc::host_memory::pageable);
    std::fill_n(source.data(), 1000, std::uint8_t{1});
    roc::device_array<std::uint8_t> const array({1000});
    roc::stream const stream;
      gate held;
    held.close(stream);
    roc::copy_batch batch;
    batch.add(source, array);
    if (pinned) {
      batch.submit(stream);
    } else {
      batch.submit(stream, roc::borrow_source);
    }
    std::fill_n(source.data(), 1000, std::uint8_t{2});
    held.open();
    stream.synchronize();
    EXPECT_EQ(2, array.copy_to_host()(500)) << (pinned ? "pinned" : "borrowed");
  }
}

TEST(CopyBatchOrder, TheWayBackDoesNotWait) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  roc::device_array<std::uint8_t> const array({3000});
  bytes const wanted = numbered(3000);
  bytes back(3000, 0);
  roc::stream const stream;
  roc::copy_batch batch;
  for (std::ptrdiff_t i = 0; i != 3000; i += 100) {
    batch.add(array(roc::slice(i, i + 100)), roc::host_view(back.data() + i, roc::shape<1>{100}));
  }
  array.copy_to_device(wanted);
  batch.submit();  // warm
  std::fill(back.begin(), back.end(), std::uint8_t{0});
  gate held;
  held.close(stream);
  batch.submit(stream);
  EXPECT_EQ(0, back[1]);
  EXPECT_FALSE(stream.query());
  held.open();
  stream.synchronize();
  EXPECT_EQ(wanted, back);
}

// Of one array every second column is read, every other one written: neither waits for the other.
TEST(CopyBatchOrder, WhatTheBatchItselfWritesIsNotWaitedFor) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  roc::host_array<std::uint8_t, 2> columns({64, 2});
  std::fill_n(columns.data(), 128, std::uint8_t{5});
  roc::device_array<std::uint8_t> const to({64});
  roc::device_array<std::uint8_t> const from({64});
  to.fill(1);
  from.fill(2);
  roc::copy_batch batch;
  batch.add(columns(roc::all, 0), to).add(from, columns(roc::all, 1));
  roc::stream const stream;
  gate held;
  held.close(stream);
  auto enqueued = std::async(std::launch::async, [&] { batch.submit(stream); });
  EXPECT_EQ(std::future_status::ready, enqueued.wait_for(std::chrono::seconds(10)));
  EXPECT_EQ(5, columns(0, 1));
  held.open();
  enqueued.get();
  stream.synchronize();
  EXPECT_EQ(5, to.copy_to_host()(0));
  EXPECT_EQ(2, columns(0, 1));
}

std::atomic<int> events = 0;

TEST(CopyBatchCost, AnArrayIsNotedOnceForAStreamOfOthers) {
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  {
    auto const stream = roc::from_native(native);
    roc::host_array<std::uint8_t, 1> pinned({400}, roc::order::c, roc::host_memory::pinned);
    std::fill_n(pinned.data(), 400, std::uint8_t{4});
    roc::device_array<std::uint8_t> const array({400});
    std::vector<int> counted;
    for (std::ptrdiff_t const pieces : {5, 100}) {
      roc::copy_batch batch;
      for (std::ptrdiff_t i = 0; i != pieces; ++i) {
        batch.add(pinned(roc::slice(4 * i, 4 * i + 3)), array(roc::slice(4 * i, 4 * i + 3)));
      }
      batch.submit(stream);
      stream.synchronize();
      events = 0;
      auto const before =
          roc::platform::set_call_hook([](roc::platform::call_record const& record) {
            events += std::string(record.name).starts_with("hipEvent");
          });
      batch.submit(stream);
      roc::platform::set_call_hook(before);
      stream.synchronize();
      counted.push_back(events);
    }
    EXPECT_LT(counted[1], counted[0] + 50);
  }
  ROCARRAY_HIP(hipStreamDestroy, native);
}

std::atomic<int> calls = 0;

// Of HIP: as many for two thousand copies as for twenty, but for what a few chunks more take.
TEST(CopyBatchCost, CallsOfHipDoNotGrowWithTheCopies) {
  roc::stream const stream;
  bytes const from = numbered(40'000);
  bytes back(40'000);
  roc::device_array<std::uint8_t> const array({40'000}), other({40'000});
  std::vector<int> counted;
  for (std::ptrdiff_t const pieces : {20, 2000}) {
    roc::copy_batch batch;
    for (std::ptrdiff_t i = 0; i != pieces; ++i) {
      auto const part = roc::slice(20 * i, 20 * i + 2);
      auto const host = [&](auto& of) {
        return roc::host_view(of.data() + 20 * i, roc::shape<1>{2});
      };
      batch.add(host(from), array(part));
      batch.add(other(part), host(back));
      auto const next = roc::slice(20 * i + 4, 20 * i + 6);
      batch.add(other(next), array(next));
    }
    batch.submit(stream);
    stream.synchronize();
    calls = 0;
    auto const before = roc::platform::set_call_hook([](roc::platform::call_record const& call) {
      // How often it is asked whether something is over goes by how fast the device is.
      if (!std::string_view(call.name).ends_with("Query")) calls.fetch_add(1);
    });
    batch.submit(stream);
    roc::platform::set_call_hook(before);
    stream.synchronize();
    counted.push_back(calls);
  }
  EXPECT_LT(counted[1], counted[0] + 600) << counted[0];  // of 6000 copies
}

// More axes than one that are left, as many as there may be.
TEST(CopyBatchLayouts, AsManyAxesAsACopyMayHave) {
  roc::shape<16> extents;
  extents.fill(2);
  roc::host_array<int, 16> from(extents);
  roc::host_array<int, 16> to(extents);
  std::iota(from.data(), from.data() + from.size(), 0);
  roc::copy_batch batch;
  batch.add(from, to.view().transpose());
  batch.submit();
  EXPECT_EQ(1, to.data()[1u << 15]);
  EXPECT_EQ(1 << 15, to.data()[1]);
}

// What a stream still reads stays as it was.
TEST(CopyBatchOrder, ItMayBeChangedWhileItsWorkEnds) {
  roc::device_array<std::uint8_t> const array({200});
  bytes const source = numbered(200);
  bytes back(200);
  roc::stream const stream;
  roc::copy_batch batch;
  for (std::ptrdiff_t i = 0; i != 200; i += 10) {
    batch.add(roc::host_view(source.data() + i, roc::shape<1>{10}), array(roc::slice(i, i + 10)));
    batch.submit(stream, roc::borrow_source);
    // The work may end meanwhile, without a word between the threads: for the thread sanitizer.
    for (std::atomic<int> turns = 0; turns.load(std::memory_order_relaxed) < 300'000;) {
      turns.fetch_add(1, std::memory_order_relaxed);
    }
  }
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(source, back);
}

TEST(CopyBatchErrors, AreThoseOfACopy) {
  roc::copy_batch batch;
  roc::device_array<int, 2> const array({4, 5});
  std::vector<int> const wrong(19);
  EXPECT_THROW(batch.add(wrong, array), roc::shape_error);
  EXPECT_THROW(batch.add(array(roc::slice(0, 3), roc::all), array(roc::slice(1, 4), roc::all)),
               roc::overlap_error);
  roc::device_array<int, 2> gone({2, 2});
  auto const taken = std::move(gone);
  EXPECT_THROW(batch.add(taken, gone), roc::lifetime_error);
  EXPECT_TRUE(batch.empty()) << "what threw was not added";
}

TEST(CopyBatchErrors, ADestinationForReadingOnly) {
  std::vector<int> memory(5000, 3);
  roc::registration_options const options{.mapped = true, .read_only = true};
  std::optional<roc::registration> registered;
  try {
    registered.emplace(roc::register_host(options, memory));
  } catch (roc::error const& error) {
    GTEST_SKIP() << "this platform registers nothing for reading only: " << error.what();
  }
  roc::device_array<int> const array({5000});
  array.zero();
  roc::copy_batch batch;
  batch.add(array, memory);
  EXPECT_THROW(batch.submit(), roc::registration_error);
  EXPECT_EQ(3, memory[0]);
}

TEST(CopyBatchMove, TheOtherOneIsEmpty) {
  bytes const source = numbered(64);
  bytes back(64);
  roc::device_array<std::uint8_t> const array({64});
  roc::copy_batch batch;
  batch.add(source, array);
  roc::copy_batch taken = std::move(batch);
  EXPECT_EQ(1u, taken.size());
  EXPECT_TRUE(batch.empty());  // NOLINT(bugprone-use-after-move): it says so
  batch.add(array, back);
  taken.submit();
  batch.submit();
  EXPECT_EQ(source, back);
}

}  // namespace

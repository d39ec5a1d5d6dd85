// SPDX-License-Identifier: MIT
// The result of a batch is that of its copies one after the other, also if they conflict.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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
#include "support/options.hpp"

namespace {

using roc::test::gate;
using roc::test::scaled;
using bytes = std::vector<std::uint8_t>;

// Staging memory is small, so that copies take many chunks.
roc::test::program_options const options_of_tests(roc::test::small_staging);

bytes numbered(std::size_t count, unsigned first = 1) {
  bytes result(count);
  for (std::size_t i = 0; i != count; ++i) result[i] = static_cast<std::uint8_t>(first + i * 7);
  return result;
}

// Returns sizes of copies, from empty to large.
std::vector<std::size_t> random_sizes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::size_t> result(count);
  for (auto& size : result) size = random() % (random() % 8 == 0 ? 9000 : 200);
  return result;
}

enum class submission { without_stream, on_stream, borrowed };

char const* name_of(submission kind) {
  switch (kind) {
    case submission::without_stream: return "WithoutStream";
    case submission::on_stream: return "OnStream";
    case submission::borrowed: break;
  }
  return "Borrowed";
}

void PrintTo(submission kind, std::ostream* out) { *out << name_of(kind); }

void submit(roc::copy_batch& batch, submission kind, roc::stream const& stream) {
  switch (kind) {
    case submission::without_stream: return batch.submit();
    case submission::on_stream: return batch.submit(stream);
    case submission::borrowed: return batch.submit(stream, roc::borrow_source);
  }
}

class CopyBatch : public testing::TestWithParam<submission> {};

INSTANTIATE_TEST_SUITE_P(Submission, CopyBatch,
                         testing::Values(submission::without_stream, submission::on_stream,
                                         submission::borrowed),
                         [](auto const& test) { return std::string(name_of(test.param)); });

TEST_P(CopyBatch, RoundTripOfManyCopiesKeepsTheBytes) {
  for (auto const kind : {roc::host_memory::pageable, roc::host_memory::pinned}) {
    auto const count = random_sizes(scaled(1500));
    std::size_t const total =
        std::accumulate(count.begin(), count.end(), std::size_t{0}) + 3 * count.size();
    auto from = roc::host_array<std::uint8_t, 1>({total}, roc::order::c, kind);
    auto const filled = numbered(total);
    std::copy(filled.begin(), filled.end(), from.data());
    auto back = roc::host_array<std::uint8_t, 1>({total}, roc::order::c, kind);
    std::fill_n(back.data(), total, std::uint8_t{0xee});
    roc::device_array<std::uint8_t> const array({total});
    roc::device_array<std::uint8_t> const other({total});
    array.fill(0xdd);
    other.fill(0xdd);

    // At unaligned offsets; on the first array in descending order of addresses.
    roc::copy_batch uploads, device_copies, downloads;
    bytes expected(total, 0xee);
    std::size_t offset = 0;
    std::size_t copied_bytes = 0;
    for (std::size_t i = 0; i != count.size(); ++i) {
      std::size_t const begin = offset + i % 3;
      auto const part = roc::slice(static_cast<std::ptrdiff_t>(begin),
                                   static_cast<std::ptrdiff_t>(begin + count[i]));
      auto const mirrored = roc::slice(static_cast<std::ptrdiff_t>(total - begin - count[i]),
                                       static_cast<std::ptrdiff_t>(total - begin));
      uploads.add(from(part), array(mirrored));
      device_copies.add(array(mirrored), other(part));
      downloads.add(other(part), back(part));
      std::copy_n(filled.begin() + static_cast<std::ptrdiff_t>(begin), count[i],
                  expected.begin() + static_cast<std::ptrdiff_t>(begin));
      offset += count[i] + 3;
      copied_bytes += count[i];
    }
    EXPECT_EQ(copied_bytes, uploads.size_bytes());
    EXPECT_EQ(copied_bytes, downloads.size_bytes());
    EXPECT_LE(uploads.size(), count.size());

    roc::stream const stream;
    submit(uploads, GetParam(), stream);
    submit(device_copies, GetParam(), stream);
    submit(downloads, GetParam(), stream);
    stream.synchronize();
    EXPECT_EQ(expected, bytes(back.data(), back.data() + total));
    // The bytes between the copies are unchanged.
    EXPECT_EQ(0xdd, other.copy_to_host()(static_cast<std::ptrdiff_t>(total) - 1));
  }
}

TEST_P(CopyBatch, TilesOfAMatrixAreCopied) {
  constexpr std::size_t side = 48, tile = 8, tiles = side / tile;
  std::vector<std::vector<float>> parts(tiles * tiles, std::vector<float>(tile * tile));
  for (std::size_t t = 0; t != parts.size(); ++t) {
    std::iota(parts[t].begin(), parts[t].end(), static_cast<float>(1000 * t));
  }
  roc::device_array<float, 2> const matrix({side, side});
  roc::device_array<float, 2> const transposed({side, side});
  roc::host_array<float, 2> back({side, side});
  matrix.fill(-1);
  transposed.fill(-1);
  auto const region = [&](auto& array, std::size_t t) {
    auto const row = static_cast<std::ptrdiff_t>(t / tiles * tile);
    auto const column = static_cast<std::ptrdiff_t>(t % tiles * tile);
    auto const length = static_cast<std::ptrdiff_t>(tile);
    return array(roc::slice(row, row + length), roc::slice(column, column + length));
  };
  roc::copy_batch batch;
  for (std::size_t t = 0; t != parts.size(); ++t) batch.add(parts[t], region(matrix, t));
  roc::stream const stream;
  submit(batch, GetParam(), stream);
  batch.clear();
  EXPECT_TRUE(batch.empty());
  // Tiles are transposed within the device; every second download reverses the rows of its tile.
  for (std::size_t t = 0; t != parts.size(); ++t) {
    batch.add(region(matrix, t).transpose(), region(transposed, t));
  }
  for (std::size_t t = 0; t != parts.size(); ++t) {
    auto const from = region(transposed, t);
    if (t % 2 == 0) {
      batch.add(from, region(back, t));
    } else {
      batch.add(from(roc::slice(roc::none, roc::none, -1), roc::all), region(back, t));
    }
  }
  submit(batch, GetParam(), stream);
  stream.synchronize();
  for (std::size_t t = 0; t != parts.size(); ++t) {
    auto const actual = region(back, t);
    for (std::ptrdiff_t i = 0; i != tile; ++i) {
      for (std::ptrdiff_t j = 0; j != tile; ++j) {
        auto const row = t % 2 == 0 ? i : static_cast<std::ptrdiff_t>(tile) - 1 - i;
        ASSERT_EQ(parts[t][static_cast<std::size_t>(j) * tile + static_cast<std::size_t>(row)],
                  actual(i, j))
            << "tile " << t << " at " << i << ", " << j;
      }
    }
  }
}

// A copy longer than a staging chunk, and one with rows so short that their description is larger
// than their data.
TEST_P(CopyBatch, LongAndScatteredCopiesAreCopied) {
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
  batch.add(source, array).add(few, inner).add(array, back).add(inner, few_back);
  roc::stream const stream;
  submit(batch, GetParam(), stream);
  stream.synchronize();
  EXPECT_EQ(source, back);
  EXPECT_EQ(few, few_back);
  EXPECT_EQ(0, scattered.copy_to_host()(0, 1, 2));
}

// Every copy depends on the one before it.
TEST_P(CopyBatch, DependentCopiesRunInOrder) {
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
    // Borrowed sources must not change before the stream is synchronized, but `between` does.
    bool const changes_source =
        GetParam() == submission::borrowed && kind == roc::host_memory::pageable;
    roc::stream const stream;
    submit(batch, changes_source ? submission::without_stream : GetParam(), stream);
    stream.synchronize();
    EXPECT_EQ(bytes(first.rbegin(), first.rend()), last);
  }
}

// Random copies between parts of few arrays, many of which conflict.
TEST_P(CopyBatch, RandomConflictingCopiesHaveTheResultOfSequentialCopies) {
  constexpr std::size_t length = 240;
  std::mt19937 random(GetParam() == submission::without_stream ? 11 : 12);
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
        continue;  // the source overlaps the destination
      }
      bytes const before = source;
      for (std::size_t k = 0; k != count; ++k) {
        destination[to + k * step] = before[from + k * step];
      }
    }
    roc::stream const stream;
    submit(batch, GetParam(), stream);
    stream.synchronize();
    auto const actual = array.copy_to_host();
    ASSERT_EQ(device_model, bytes(actual.data(), actual.data() + length)) << "round " << round;
    ASSERT_EQ(host_model, bytes(pinned.data(), pinned.data() + length)) << "round " << round;
  }
}

TEST_P(CopyBatch, SecondSubmissionCopiesAgain) {
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

TEST_P(CopyBatch, EmptyBatchCopiesNothing) {
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

TEST(CopyBatchOrder, PageableSourceMayChangeOnReturn) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline, work is done by the call that enqueues it";
  roc::device_array<std::uint8_t> const array({1000});
  bytes source = numbered(1000);
  bytes const expected = source;
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  {
    roc::copy_batch batch;
    batch.add(source, array);
    batch.submit(stream);
  }
  std::fill(source.begin(), source.end(), std::uint8_t{0});
  stream_gate.open();
  bytes back(1000);
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(expected, back);
}

TEST(CopyBatchOrder, PinnedAndBorrowedSourcesAreReadInStreamOrder) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline, work is done by the call that enqueues it";
  for (bool const pinned : {false, true}) {
    roc::host_array<std::uint8_t, 1> source(
        {1000}, roc::order::c, pinned ? roc::host_memory::pinned : roc::host_memory::pageable);
    std::fill_n(source.data(), 1000, std::uint8_t{1});
    roc::device_array<std::uint8_t> const array({1000});
    roc::stream const stream;
    gate stream_gate;
    stream_gate.close(stream);
    roc::copy_batch batch;
    batch.add(source, array);
    if (pinned) {
      batch.submit(stream);
    } else {
      batch.submit(stream, roc::borrow_source);
    }
    std::fill_n(source.data(), 1000, std::uint8_t{2});
    stream_gate.open();
    stream.synchronize();
    EXPECT_EQ(2, array.copy_to_host()(500)) << (pinned ? "pinned" : "borrowed");
  }
}

TEST(CopyBatchOrder, DownloadOnBusyStreamDoesNotBlock) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline, work is done by the call that enqueues it";
  roc::device_array<std::uint8_t> const array({3000});
  bytes const expected = numbered(3000);
  bytes back(3000, 0);
  roc::stream const stream;
  roc::copy_batch batch;
  for (std::ptrdiff_t i = 0; i != 3000; i += 100) {
    batch.add(array(roc::slice(i, i + 100)), roc::host_view(back.data() + i, roc::shape<1>{100}));
  }
  array.copy_to_device(expected);
  batch.submit();  // allocates the staging memory
  std::fill(back.begin(), back.end(), std::uint8_t{0});
  gate stream_gate;
  stream_gate.close(stream);
  batch.submit(stream);
  EXPECT_EQ(0, back[1]);
  EXPECT_FALSE(stream.query());
  stream_gate.open();
  stream.synchronize();
  EXPECT_EQ(expected, back);
}

// The batch reads one column of an array and writes the other one, so that the bounding ranges of
// the two overlap. Submitting must not wait for the batch's own write.
TEST(CopyBatchOrder, SubmitDoesNotWaitForTheBatchsOwnWrites) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline, work is done by the call that enqueues it";
  roc::host_array<std::uint8_t, 2> columns({64, 2});
  std::fill_n(columns.data(), 128, std::uint8_t{5});
  roc::device_array<std::uint8_t> const to({64});
  roc::device_array<std::uint8_t> const from({64});
  to.fill(1);
  from.fill(2);
  roc::copy_batch batch;
  batch.add(columns(roc::all, 0), to).add(from, columns(roc::all, 1));
  roc::stream const stream;
  gate stream_gate;
  stream_gate.close(stream);
  auto enqueued = std::async(std::launch::async, [&] { batch.submit(stream); });
  EXPECT_EQ(std::future_status::ready, enqueued.wait_for(std::chrono::seconds(10)));
  EXPECT_EQ(5, columns(0, 1));
  stream_gate.open();
  enqueued.get();
  stream.synchronize();
  EXPECT_EQ(5, to.copy_to_host()(0));
  EXPECT_EQ(2, columns(0, 1));
}

std::atomic<int> event_calls = 0;

TEST(CopyBatchCost, UseOfAnArrayIsRecordedOnceForAForeignStream) {
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  {
    auto const stream = roc::from_native(native);
    roc::host_array<std::uint8_t, 1> pinned({400}, roc::order::c, roc::host_memory::pinned);
    std::fill_n(pinned.data(), 400, std::uint8_t{4});
    roc::device_array<std::uint8_t> const array({400});
    std::vector<int> counted;
    for (std::ptrdiff_t const copies : {5, 100}) {
      roc::copy_batch batch;
      for (std::ptrdiff_t i = 0; i != copies; ++i) {
        batch.add(pinned(roc::slice(4 * i, 4 * i + 3)), array(roc::slice(4 * i, 4 * i + 3)));
      }
      batch.submit(stream);
      stream.synchronize();
      event_calls = 0;
      auto const previous_hook =
          roc::platform::set_call_hook([](roc::platform::call_record const& record) {
            event_calls += std::string(record.name).starts_with("hipEvent");
          });
      batch.submit(stream);
      roc::platform::set_call_hook(previous_hook);
      stream.synchronize();
      counted.push_back(event_calls);
    }
    EXPECT_LT(counted[1], counted[0] + 50);
  }
  ROCARRAY_HIP(hipStreamDestroy, native);
}

std::atomic<int> calls = 0;

// Two thousand copies need as many HIP calls as twenty, except for the calls of a few more chunks.
TEST(CopyBatchCost, HipCallsDoNotGrowWithTheNumberOfCopies) {
  roc::stream const stream;
  bytes const from = numbered(40'000);
  bytes back(40'000);
  roc::device_array<std::uint8_t> const array({40'000}), other = roc::to_device(from);
  std::vector<int> counted;
  for (std::ptrdiff_t const copies : {20, 2000}) {
    roc::copy_batch batch;
    for (std::ptrdiff_t i = 0; i != copies; ++i) {
      auto const part = roc::slice(20 * i, 20 * i + 2);
      auto const host = [&](auto& range) {
        return roc::host_view(range.data() + 20 * i, roc::shape<1>{2});
      };
      batch.add(host(from), array(part));
      batch.add(other(part), host(back));
      auto const next = roc::slice(20 * i + 4, 20 * i + 6);
      batch.add(other(next), array(next));
    }
    batch.submit(stream);
    stream.synchronize();
    calls = 0;
    auto const previous_hook =
        roc::platform::set_call_hook([](roc::platform::call_record const& call) {
          // The number of queries depends on the speed of the device.
          if (!std::string_view(call.name).ends_with("Query")) calls.fetch_add(1);
        });
    batch.submit(stream);
    roc::platform::set_call_hook(previous_hook);
    stream.synchronize();
    counted.push_back(calls);
  }
  EXPECT_LT(counted[1], counted[0] + 1200) << counted[0];  // one for five copies
}

TEST(CopyBatchLayouts, CopyWithTheMaximumNumberOfAxesIsCopied) {
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

// Enqueued work keeps its own copy of the batch.
TEST(CopyBatchOrder, BatchMayBeChangedWhileItsWorkIsPending) {
  roc::device_array<std::uint8_t> const array({200});
  bytes const source = numbered(200);
  bytes back(200);
  roc::stream const stream;
  roc::copy_batch batch;
  for (std::ptrdiff_t i = 0; i != 200; i += 10) {
    batch.add(roc::host_view(source.data() + i, roc::shape<1>{10}), array(roc::slice(i, i + 10)));
    batch.submit(stream, roc::borrow_source);
    // The work may end meanwhile, with no synchronization between the threads that would hide a
    // race from ThreadSanitizer.
    for (std::atomic<int> turns = 0; turns.load(std::memory_order_relaxed) < 300'000;) {
      turns.fetch_add(1, std::memory_order_relaxed);
    }
  }
  array.copy_to_host(back, stream);
  stream.synchronize();
  EXPECT_EQ(source, back);
}

TEST(CopyBatch, LogNamesCopiesAndBytes) {
  roc::device_array<int> const array({100});
  auto const host = roc::pinned_array<int>(roc::shape<1>{100});
  roc::copy_batch batch;
  batch.add(host(roc::slice(0, 50)), array(roc::slice(0, 50)));
  batch.add(host(roc::slice(70, 90)), array(roc::slice(70, 90)));
  auto const logged_at = [&](roc::log_level level) {
    roc::scoped_options const scope({.log = level});
    testing::internal::CaptureStderr();
    batch.submit();
    return testing::internal::GetCapturedStderr();
  };
  auto const text = logged_at(roc::log_level::trace);
  EXPECT_NE(std::string::npos, text.find("rocarray: trace: roc::copy_batch 2 copies 280 bytes\n"))
      << text;
  EXPECT_EQ("", logged_at(roc::log_level::warning));
}

TEST(CopyBatchErrors, InvalidCopyThrowsAndIsNotAdded) {
  roc::copy_batch batch;
  roc::device_array<int, 2> const array({4, 5});
  std::vector<int> const wrong(19);
  EXPECT_THROW(batch.add(wrong, array), roc::shape_error);
  roc::device_array<int, 2> const wider({4, 6});
  EXPECT_THROW(batch.add(wider, array), roc::shape_error);
  EXPECT_THROW(batch.add(array(roc::slice(0, 3), roc::all), array(roc::slice(1, 4), roc::all)),
               roc::overlap_error);
  roc::device_array<int, 2> moved_from({2, 2});
  auto const moved_to = std::move(moved_from);
  EXPECT_THROW(batch.add(moved_to, moved_from), roc::lifetime_error);
  roc::device_view<int, 2> const null(nullptr, {2, 2});
  EXPECT_THROW(batch.add(null, moved_to), roc::lifetime_error);
  EXPECT_THROW(batch.add(moved_to, null), roc::lifetime_error);
  EXPECT_TRUE(batch.empty()) << "a copy was added although add threw";
}

TEST(CopyBatchErrors, ReadOnlyDestinationThrowsRegistrationError) {
  std::vector<int> memory(5000, 3);
  roc::registration_options const options{.mapped = true, .read_only = true};
  std::optional<roc::registration> registered;
  try {
    registered.emplace(roc::register_host(options, memory));
  } catch (roc::error const& error) {
    GTEST_SKIP() << "this platform cannot register read-only memory: " << error.what();
  }
  roc::device_array<int> const array({5000});
  array.zero();
  roc::copy_batch batch;
  batch.add(array, memory);
  EXPECT_THROW(batch.submit(), roc::registration_error);
  EXPECT_EQ(3, memory[0]);
}

// One side of a copy within the device is the host's memory under its device address: its release
// waits for the batch.
TEST(CopyBatch, MappedMemoryOutlivesPendingCopies) {
  std::size_t const count = 3000;
  auto const expected = numbered(count);
  auto const array = roc::to_device(expected);
  auto const make_filled = [&](std::uint8_t value) {
    auto mapped = roc::mapped_array<std::uint8_t>(count);
    std::fill_n(mapped.data(), count, value);
    return mapped;
  };
  roc::stream const stream(roc::non_blocking);
  auto written = make_filled(0);
  roc::copy_batch().add(array, roc::device_view_of(written)).submit(stream);
  written = {};
  auto const after_write = make_filled(99);  // in the same memory
  auto read = make_filled(7);
  array.zero(stream);
  roc::copy_batch().add(roc::device_view_of(read), array).submit(stream);
  read = {};
  auto const after_read = make_filled(98);
  stream.synchronize();
  EXPECT_EQ(bytes(count, 99), bytes(after_write.data(), after_write.data() + count));
  bytes copied(count);
  array.copy_to_host(copied);
  EXPECT_EQ(bytes(count, 7), copied);
}

TEST(CopyBatchMove, MovedFromBatchIsEmptyAndUsable) {
  bytes const source = numbered(64);
  bytes back(64);
  roc::device_array<std::uint8_t> const array({64});
  roc::copy_batch batch;
  batch.add(source, array);
  roc::copy_batch moved_to = std::move(batch);
  EXPECT_EQ(1u, moved_to.size());
  EXPECT_TRUE(batch.empty());  // NOLINT(bugprone-use-after-move): documented to be empty
  batch.add(array, back);
  moved_to.submit();
  batch.submit();
  EXPECT_EQ(source, back);
}

}  // namespace

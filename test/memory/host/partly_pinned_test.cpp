// SPDX-License-Identifier: MIT
// Host memory that is registered in part or by several registrations: it is staged, after every
// pending copy that touches a part of it.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

using roc::base::byte_range;
using roc::memory::access;
using roc::memory::host_table;

constexpr std::size_t page = 4096;

byte_range range_of(roc::host_view<int> view) {
  return byte_range::of(view.data(), view.size() * sizeof(int));
}

std::vector<int> numbers(std::size_t count, int first) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

// Provides a vector, of `bytes` bytes, whose halves are whole pages.
class halves {
 public:
  explicit halves(std::size_t bytes)
      : memory_((bytes + 2 * page) / sizeof(int)),
        all([&] {
          auto const skip = page - reinterpret_cast<std::uintptr_t>(memory_.data()) % page;
          return roc::host_view<int>(memory_.data() + skip / sizeof(int),
                                     roc::shape<1>{bytes / sizeof(int)});
        }()),
        half(all.size() / 2),
        x(all(roc::slice(roc::none, static_cast<std::ptrdiff_t>(half)))),
        y(all(roc::slice(static_cast<std::ptrdiff_t>(half), roc::none))) {
    std::fill(memory_.begin(), memory_.end(), -1);
  }

  std::vector<int> values() const { return {all.data(), all.data() + all.size()}; }

 private:
  std::vector<int> memory_;

 public:
  roc::host_view<int> all;
  std::size_t half;
  roc::host_view<int> x;
  roc::host_view<int> y;
};

// The parameter is the size in bytes.
class PartlyPinned : public testing::TestWithParam<std::size_t> {
 protected:
  // Enqueues copies of other numbers to both halves: 0, 1, 2, ...
  void download(roc::stream_ref first, roc::stream_ref second) {
    from_.copy_to_device(numbers(count_, 0));
    gate_.close(first);
    from_(roc::slice(roc::none, static_cast<std::ptrdiff_t>(a_.half))).copy_to_host(a_.x, first);
    from_(roc::slice(static_cast<std::ptrdiff_t>(a_.half), roc::none)).copy_to_host(a_.y, second);
  }
  // The gate must open while a copy waits for the stream that it blocks.
  void open_soon() {
    opener_ = std::thread([this] { gate_.open(); });
  }
  void TearDown() override {
    if (opener_.joinable()) opener_.join();
  }
  std::vector<int> uploaded() const {
    std::vector<int> result(count_);
    to_.copy_to_host(result);
    return result;
  }

  halves a_{GetParam()};
  std::size_t count_ = a_.all.size();
  roc::device_array<int> from_{roc::shape<1>{count_}};
  roc::device_array<int> to_{roc::shape<1>{count_}};
  roc::test::gate gate_;
  std::thread opener_;
};

TEST_P(PartlyPinned, UploadSendsBytesOfPendingCopiesToTwoRegistrations) {
  auto const guard = roc::register_host(a_.x, a_.y);
  roc::stream const stream;
  download(stream, stream);
  open_soon();
  to_.copy_to_device(a_.all, stream);
  stream.synchronize();
  EXPECT_EQ(numbers(count_, 0), uploaded());
}

TEST_P(PartlyPinned, UploadSendsBytesOfPendingCopiesToARegisteredPart) {
  auto const guard = roc::register_host(a_.y);
  roc::stream const stream;
  download(stream, stream);
  open_soon();
  to_.copy_to_device(a_.all, stream);
  stream.synchronize();
  EXPECT_EQ(numbers(count_, 0), uploaded());
}

TEST_P(PartlyPinned, UploadSendsBytesOfPendingCopiesOfOtherStreams) {
  auto const guard = roc::register_host(a_.x, a_.y);
  roc::stream const first, second, third;
  download(first, second);
  open_soon();
  to_.copy_to_device(a_.all, third);
  third.synchronize();
  EXPECT_EQ(numbers(count_, 0), uploaded());
}

TEST_P(PartlyPinned, UploadSendsBytesOfCopiesOfADestroyedStream) {
  auto const guard = roc::register_host(a_.x, a_.y);
  roc::stream const third;
  {
    roc::stream const first, second;
    download(first, second);
    open_soon();
  }
  to_.copy_to_device(a_.all, third);
  third.synchronize();
  EXPECT_EQ(numbers(count_, 0), uploaded());
}

TEST_P(PartlyPinned, UploadSendsBytesOfCopiesOfForeignStreams) {
  auto const guard = roc::register_host(a_.x, a_.y);
  hipStream_t native[2] = {};
  for (hipStream_t& stream : native) {
    ROCARRAY_HIP(hipStreamCreateWithFlags, &stream, hipStreamNonBlocking);
  }
  roc::stream const third;
  download(roc::from_native(native[0]), roc::from_native(native[1]));
  open_soon();
  to_.copy_to_device(a_.all, third);
  third.synchronize();
  EXPECT_EQ(numbers(count_, 0), uploaded());
  for (hipStream_t const stream : native) {
    ROCARRAY_HIP(hipStreamSynchronize, stream);
    ROCARRAY_HIP(hipStreamDestroy, stream);
  }
}

TEST_P(PartlyPinned, BatchSendsBytesOfPendingCopies) {
  auto const guard = roc::register_host(a_.x, a_.y);
  roc::stream const stream;
  download(stream, stream);
  open_soon();
  roc::copy_batch batch;
  batch.add(a_.all, to_);
  batch.submit(stream);
  stream.synchronize();
  EXPECT_EQ(numbers(count_, 0), uploaded());
}

TEST_P(PartlyPinned, CopyOnTheHostReadsBytesOfPendingCopies) {
  auto const guard = roc::register_host(a_.x, a_.y);
  roc::stream const stream;
  download(stream, stream);
  open_soon();
  std::vector<int> copied(count_);
  roc::copy(a_.all, roc::host_view<int>(copied), stream);
  stream.synchronize();
  EXPECT_EQ(numbers(count_, 0), copied);
}

TEST_P(PartlyPinned, DeregisterBlocksUntilACopyThatTouchesTheRangeHasFinished) {
  for (bool const is_first : {true, false}) {
    auto x = roc::register_host(a_.x);
    auto y = roc::register_host(a_.y);
    roc::stream const stream;
    from_.copy_to_device(numbers(count_, 7));
    gate_.close(stream);
    from_.copy_to_host(a_.all, stream);
    open_soon();
    (is_first ? x : y).deregister();
    EXPECT_EQ(numbers(count_, 7), a_.values());
    opener_.join();
    std::fill_n(a_.all.data(), count_, -1);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PartlyPinned,
                         testing::Values(2 * page, 16 * page, std::size_t{8} << 20));

// Enqueues work that sets a flag after a gate.
class flagged_work {
 public:
  explicit flagged_work(roc::stream_ref stream) {
    gate_.close(stream);
    ROCARRAY_HIP(
        hipLaunchHostFunc, roc::native(stream),
        [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &is_done_);
  }
  void open() { gate_.open(); }
  bool is_done() const { return is_done_; }

 private:
  roc::test::gate gate_;
  std::atomic<bool> is_done_ = false;
};

class HostTableWait : public testing::Test {
 protected:
  void SetUp() override {
    if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  }
  halves a_{4 * page};
  roc::registration guard_ = roc::register_host(a_.x, a_.y);
  host_table& table_ = host_table::instance();
  roc::stream stream_;  // destroyed first: its work uses the flags
};

TEST_F(HostTableWait, ForWritesIgnoresReads) {
  flagged_work work(stream_);
  for (int i = 0; i < 2; ++i) table_.record_use(range_of(a_.x), stream_, access::read);
  table_.record_uses(std::vector{range_of(a_.all), range_of(a_.y)}, stream_, access::read);
  table_.wait_for_writes(range_of(a_.all));
  EXPECT_FALSE(work.is_done());
  work.open();
  table_.wait_for_uses(range_of(a_.all));
  EXPECT_TRUE(work.is_done());
}

TEST_F(HostTableWait, ForWritesWaitsForAWriteAfterTrackedReads) {
  flagged_work work(stream_);
  for (int i = 0; i < 2; ++i) table_.record_use(range_of(a_.y), stream_, access::read);
  table_.record_use(range_of(a_.y), stream_, access::write);
  table_.record_use(range_of(a_.y), stream_, access::read);
  work.open();
  table_.wait_for_writes(range_of(a_.all));
  EXPECT_TRUE(work.is_done());
}

TEST_F(HostTableWait, UseOfARangeCountsForEveryRegistrationThatItTouches) {
  for (auto const& part : {a_.x, a_.y}) {
    roc::stream const stream;
    flagged_work work(stream);
    table_.record_use(range_of(a_.all), stream, access::write);
    work.open();
    table_.wait_for_writes(range_of(part));
    EXPECT_TRUE(work.is_done());
  }
}

TEST_F(HostTableWait, IgnoresOtherMemory) {
  flagged_work work(stream_);
  std::vector<int> other(100);
  table_.record_use(range_of(a_.y), stream_, access::write);
  table_.wait_for_writes(range_of(a_.x));
  table_.wait_for_uses(range_of(a_.x));
  table_.wait_for_uses(byte_range::of(other.data(), 400));
  EXPECT_FALSE(work.is_done());
  work.open();
  stream_.synchronize();
}

TEST_F(HostTableWait, ForWritesWaitsForHostFunctionsOfTheSameBytesOnly) {
  roc::host_array<int> pageable({1000});
  auto const part = [&](std::size_t first) { return byte_range::of(pageable.data() + first, 400); };
  flagged_work work(stream_);
  table_.record_writes({part(500), part(0)}, stream_);
  table_.record_use(part(0), stream_, access::write);
  table_.wait_for_writes(part(200));
  EXPECT_FALSE(work.is_done());
  work.open();
  table_.wait_for_writes(std::vector{part(200), part(550)});
  EXPECT_TRUE(work.is_done());
}

TEST_F(HostTableWait, ForUsesWaitsForAllUsesOfAnArray) {
  roc::host_array<int> pageable({1000});
  auto const whole = byte_range::of(pageable.data(), 4000);
  flagged_work work(stream_);
  table_.record_use(whole, stream_, access::read);
  work.open();
  table_.wait_for_uses(whole);
  EXPECT_TRUE(work.is_done());
}

TEST(HostTable, RangeOfSeveralRegistrationsIsPartlyPinned) {
  halves a(4 * page);
  std::optional<roc::registration> x = roc::register_host(a.x);
  auto const y = roc::register_host(a.y);
  auto const& table = host_table::instance();
  auto const all = range_of(a.all);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(table.query_access(range_of(a.x), true).pinned);
    EXPECT_FALSE(table.query_access(range_of(a.x), true).partly_pinned);
    EXPECT_FALSE(table.query_access(all, true).pinned);
    EXPECT_TRUE(table.query_access(all, true).partly_pinned);
  }
  x.reset();
  EXPECT_TRUE(table.query_access(all, true).partly_pinned) << "begins before a registration";
  EXPECT_TRUE(table.query_access({all.end - 1, all.end + 1}, true).partly_pinned);
  EXPECT_FALSE(table.query_access({all.end, all.end + 1}, true).partly_pinned);
  EXPECT_FALSE(table.query_access(range_of(a.x), true).partly_pinned);
  EXPECT_FALSE(table.query_access(range_of(a.x), true).pinned);
}

TEST(HostTable, RangeAroundAPinnedArrayIsPartlyPinned) {
  auto const pinned = roc::pinned_array<int>(std::size_t{1000});
  auto const range = byte_range::of(pinned.data(), 4000);
  auto const& table = host_table::instance();
  EXPECT_TRUE(table.query_access(range, true).pinned);
  EXPECT_TRUE(table.query_access({range.begin, range.end + 1}, true).partly_pinned);
  EXPECT_FALSE(table.query_access({range.begin, range.end + 1}, true).pinned);
}

TEST(HostTable, RangeIsPartlyPinnedWhileItIsRegistered) {
  static byte_range range;
  static bool was_partly_pinned = false;
  halves a(4 * page);
  range = range_of(a.all);
  auto const previous_hook = roc::platform::set_call_hook([](auto const& record) {
    if (std::string_view(record.name) != "hipHostRegister") return;
    auto const memory = host_table::instance().query_access(range, true);
    was_partly_pinned = memory.partly_pinned && !memory.pinned;
  });
  auto const guard = roc::register_host(a.all);
  roc::platform::set_call_hook(previous_hook);
  EXPECT_TRUE(was_partly_pinned);
  EXPECT_TRUE(host_table::instance().query_access(range, true).pinned);
}

TEST(HostTable, QueryThrowsIfOneOfSeveralRegistrationsIsReadOnly) {
  halves a(4 * page);
  roc::registration_options options;
  options.read_only = true;
  auto const x = roc::register_host(a.x);
  std::optional<roc::registration> y;
  try {
    y.emplace(roc::register_host(options, a.y));
  } catch (roc::error const& error) {
    GTEST_SKIP() << "this platform has no read-only registration: " << error.what();
  }
  auto const& table = host_table::instance();
  EXPECT_NO_THROW(static_cast<void>(table.query_access(range_of(a.all), false)));
  EXPECT_THROW(static_cast<void>(table.query_access(range_of(a.all), true)),
               roc::registration_error);
  EXPECT_NO_THROW(static_cast<void>(table.query_access(range_of(a.x), true)));
}

}  // namespace

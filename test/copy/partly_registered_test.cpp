// SPDX-License-Identifier: MIT
// Host memory that is registered in part or by several registrations: it can be copied at every
// size, and every copy comes after the pending copies that touch a part of it.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/gate.hpp"

namespace {

using roc::test::gate;
using bytes = std::vector<std::uint8_t>;
using view = roc::host_view<std::uint8_t>;

// Which part of the range is registered.
enum class registered { both_halves, first_half, second_half, middle, begins_before };

char const* name_of(registered part) {
  switch (part) {
    case registered::both_halves: return "BothHalves";
    case registered::first_half: return "FirstHalf";
    case registered::second_half: return "SecondHalf";
    case registered::middle: return "Middle";
    case registered::begins_before: break;
  }
  return "BeginsBefore";
}

constexpr std::size_t page = 4096;

view slice_of(view const& whole, std::size_t first, std::size_t count) {
  return view(whole.data() + first, roc::shape<1>{count});
}

bytes numbered(std::size_t count, unsigned first) {
  bytes result(count);
  for (std::size_t i = 0; i != count; ++i) result[i] = static_cast<std::uint8_t>(first + i * 7);
  return result;
}

// Opens a gate after a short time, because the test's thread may wait for the gated stream.
class opened_soon {
 public:
  explicit opened_soon(roc::stream_ref stream) {
    gate_.close(stream);
    opener_ = std::thread([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      gate_.open();
    });
  }
  ~opened_soon() { opener_.join(); }

 private:
  gate gate_;
  std::thread opener_;
};

// A range of which a part is registered. `x` and `y` are its halves; those that are not registered
// are pageable.
class partly_registered_range {
 public:
  partly_registered_range(registered part, std::size_t count) : count_(count) {
    switch (part) {
      case registered::both_halves:
        first_.emplace(roc::register_host(before_boundary(pages_)));
        second_.emplace(roc::register_host(after_boundary(pages_)));
        break;
      case registered::first_half:
        first_.emplace(roc::register_host(before_boundary(pages_)));
        break;
      case registered::second_half:
        second_.emplace(roc::register_host(after_boundary(pages_)));
        break;
      case registered::middle:
        second_.emplace(roc::register_host(after_boundary(count / 4 / page * page)));
        break;
      case registered::begins_before:
        first_.emplace(roc::register_host(before_boundary(pages_ / 2 / page * page + page)));
        break;
    }
    fill(0);
  }

  void fill(std::uint8_t value) const { std::fill_n(a.data(), count_, value); }
  bytes read() const { return {a.data(), a.data() + count_}; }
  void deregister_one() { (second_ ? second_ : first_)->deregister(); }

 private:
  // Returns whole pages that end or begin at the boundary between the halves.
  view before_boundary(std::size_t size) const { return {boundary_ - size, roc::shape<1>{size}}; }
  view after_boundary(std::size_t size) const { return {boundary_, roc::shape<1>{size}}; }

  std::size_t const count_;
  std::size_t const pages_ = (count_ + page - 1) / page * page;
  bytes memory_ = bytes(2 * pages_ + page);
  std::uint8_t* const boundary_ = [this] {
    auto const address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (page - address % page) % page + pages_;
  }();

 public:
  view const a{boundary_ - count_ / 2, roc::shape<1>{count_}};
  view const x = slice_of(a, 0, count_ / 2);
  view const y = slice_of(a, count_ / 2, count_ - count_ / 2);

 private:
  std::optional<roc::registration> first_;
  std::optional<roc::registration> second_;
};

class PartlyRegistered : public testing::TestWithParam<registered> {
 protected:
  // Calls test(range) with ranges of 1 KiB to 1 MiB, and of 8 MiB if both halves are registered.
  template <class F>
  static void for_each_size(F test) {
    for (std::size_t const count : {1u << 10, 40'000u, 1u << 20, 8u << 20}) {
      if (GetParam() == registered::middle && count < 4 * page) continue;  // no page in the middle
      if (GetParam() != registered::both_halves && count > 1u << 20) continue;  // takes long
      SCOPED_TRACE(count);
      partly_registered_range range(GetParam(), count);
      test(range, count);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Parts, PartlyRegistered,
                         testing::Values(registered::both_halves, registered::first_half,
                                         registered::second_half, registered::middle,
                                         registered::begins_before),
                         [](auto const& test) { return std::string(name_of(test.param)); });

TEST_P(PartlyRegistered, CopiesWithoutStreamKeepTheBytes) {
  for_each_size([](partly_registered_range& range, std::size_t count) {
    auto const source = numbered(count, 3);
    std::copy(source.begin(), source.end(), range.a.data());
    roc::device_array<std::uint8_t> const array({count});
    EXPECT_EQ(roc::copy_path::staged, roc::planned_path(range.a, array));
    EXPECT_EQ(roc::copy_path::staged, roc::planned_path(array, range.a));
    array.copy_to_device(range.a);
    array.fill(0);
    array.copy_to_device(range.a);
    range.fill(9);
    array.copy_to_host(range.a);
    EXPECT_TRUE(source == range.read());
    bytes back(count);
    roc::copy(range.a, back);
    EXPECT_TRUE(source == back);
    roc::copy(back, range.a);
    roc::fill(range.a, std::uint8_t{5});
    EXPECT_TRUE(bytes(count, 5) == range.read());
  });
}

// Rows and planes of the range, which the driver could copy if all of it was registered.
TEST_P(PartlyRegistered, CopiesOfRowsAndPlanesKeepTheBytes) {
  for_each_size([](partly_registered_range& range, std::size_t count) {
    std::size_t const rows = count / 256;
    roc::host_view<std::uint8_t, 2> const matrix(range.a.data(), {rows, 256});
    roc::host_view<std::uint8_t, 3> const box(range.a.data(), {rows / 2, 2, 256});
    auto const source = numbered(rows * 256, 3);
    roc::device_array<std::uint8_t, 2> const array({rows, 256});
    roc::device_array<std::uint8_t, 3> const box_array({rows / 2, 2, 256});
    auto const columns = roc::slice(0, 200);
    roc::stream const stream;
    for (bool const on_stream : {false, true}) {
      std::copy(source.begin(), source.end(), range.a.data());
      array.zero();
      box_array.zero();
      if (on_stream) {
        array(roc::all, columns).copy_to_device(matrix(roc::all, columns), stream);
        box_array(roc::all, roc::all, columns)
            .copy_to_device(box(roc::all, roc::all, columns), stream);
        array(roc::all, columns).copy_to_host(matrix(roc::all, columns), stream);
        box_array(roc::all, roc::all, columns)
            .copy_to_host(box(roc::all, roc::all, columns), stream);
        stream.synchronize();
      } else {
        array(roc::all, columns).copy_to_device(matrix(roc::all, columns));
        box_array(roc::all, roc::all, columns).copy_to_device(box(roc::all, roc::all, columns));
        array(roc::all, columns).copy_to_host(matrix(roc::all, columns));
        box_array(roc::all, roc::all, columns).copy_to_host(box(roc::all, roc::all, columns));
      }
      EXPECT_TRUE(std::equal(source.begin(), source.end(), range.a.data()));
      EXPECT_EQ(source[199], array(0, 199).get());
      EXPECT_EQ(0, array(0, 200).get());
      EXPECT_EQ(source[256 + 199], box_array(0, 1, 199).get());
    }
  });
}

// How the range is read after downloads to its halves.
enum class reader {
  upload,
  borrowed_upload,
  batch,
  host_copy,
  upload_on_other_stream,
  batch_on_other_stream,
  no_stream
};

TEST_P(PartlyRegistered, IsReadAfterPendingDownloadsToItsParts) {
  for_each_size([](partly_registered_range& range, std::size_t count) {
    auto const expected = numbered(count, 11);
    auto const fresh = roc::to_device(expected);
    auto const half = static_cast<std::ptrdiff_t>(range.x.size());
    for (auto const read_by :
         {reader::upload, reader::borrowed_upload, reader::batch, reader::host_copy,
          reader::upload_on_other_stream, reader::batch_on_other_stream, reader::no_stream}) {
      range.fill(0);
      roc::device_array<std::uint8_t> const array({count});
      array.zero();
      bytes copied(count);
      roc::stream const stream;
      roc::stream const other;
      {
        opened_soon const stream_gate(stream);
        fresh(roc::slice(0, half)).copy_to_host(range.x, stream);
        fresh(roc::slice(half, roc::none)).copy_to_host(range.y, stream);
        switch (read_by) {
          case reader::upload: array.copy_to_device(range.a, stream); break;
          case reader::borrowed_upload:
            roc::copy(range.a, array, stream, roc::borrow_source);
            break;
          case reader::batch: roc::copy_batch().add(range.a, array).submit(stream); break;
          case reader::host_copy: roc::copy(range.a, copied, stream); break;
          case reader::upload_on_other_stream: array.copy_to_device(range.a, other); break;
          case reader::batch_on_other_stream:
            roc::copy_batch().add(range.a, array).submit(other, roc::borrow_source);
            break;
          case reader::no_stream: array.copy_to_device(range.a); break;
        }
      }
      stream.synchronize();
      other.synchronize();
      if (read_by != reader::host_copy) array.copy_to_host(copied);
      ASSERT_TRUE(expected == copied) << static_cast<int>(read_by);
    }
  });
}

// Also within one batch.
TEST_P(PartlyRegistered, IsReadAfterDownloadsOfTheSameBatch) {
  for_each_size([](partly_registered_range& range, std::size_t count) {
    auto const expected = numbered(count, 13);
    auto const fresh = roc::to_device(expected);
    auto const half = static_cast<std::ptrdiff_t>(range.x.size());
    roc::device_array<std::uint8_t> const array({count});
    array.zero();
    bytes copied(count);
    roc::stream const stream;
    roc::copy_batch batch;
    batch.add(fresh(roc::slice(0, half)), range.x).add(fresh(roc::slice(half, roc::none)), range.y);
    batch.add(range.a, array).add(range.a, copied);
    {
      opened_soon const stream_gate(stream);
      batch.submit(stream);
    }
    stream.synchronize();
    EXPECT_TRUE(expected == copied);
    array.copy_to_host(copied);
    EXPECT_TRUE(expected == copied);
  });
}

// How the range is written after uploads from its halves on other streams, which may borrow them.
enum class writer { download, batch, host_copy, fill };
enum class use { copied, borrowed, batched };

void check_writes_after_uploads(partly_registered_range& range, std::size_t count, use borrows) {
  auto const before = numbered(count, 17);
  auto const after = bytes(count, 99);
  auto const source = roc::to_device(after);
  auto const half = static_cast<std::ptrdiff_t>(range.x.size());
  for (auto const written_by : {writer::download, writer::batch, writer::host_copy, writer::fill}) {
    std::copy(before.begin(), before.end(), range.a.data());
    roc::device_array<std::uint8_t> const array({count});
    array.zero();
    roc::stream const stream;
    roc::stream const second;
    roc::stream const other;
    {
      opened_soon const stream_gate(stream);
      opened_soon const second_gate(second);
      // Each half on its own stream, because a wait for one half waits for the whole stream.
      auto const upload = [&](view const& part, auto const& target, roc::stream const& to) {
        switch (borrows) {
          case use::copied: return target.copy_to_device(part, to);
          case use::borrowed: return roc::copy(part, target, to, roc::borrow_source);
          case use::batched: roc::copy_batch().add(part, target).submit(to, roc::borrow_source);
        }
      };
      upload(range.x, array(roc::slice(0, half)), stream);
      upload(range.y, array(roc::slice(half, roc::none)), second);
      switch (written_by) {
        case writer::download: source.copy_to_host(range.a, other); break;
        case writer::batch: roc::copy_batch().add(source, range.a).submit(other); break;
        case writer::host_copy: roc::copy(after, range.a, other); break;
        case writer::fill: roc::fill(range.a, std::uint8_t{99}, other); break;
      }
      other.synchronize();
    }
    EXPECT_TRUE(after == range.read()) << static_cast<int>(written_by);
    stream.synchronize();
    second.synchronize();
    bytes copied(count);
    array.copy_to_host(copied);
    ASSERT_TRUE(before == copied) << static_cast<int>(written_by);
  }
}

TEST_P(PartlyRegistered, IsWrittenAfterPendingUploadsOfItsParts) {
  for_each_size([](partly_registered_range& range, std::size_t count) {
    check_writes_after_uploads(range, count, use::copied);
  });
}

// Nothing else knows of the parts that are pageable.
TEST_P(PartlyRegistered, IsWrittenAfterPendingCopiesThatBorrowItsParts) {
  for_each_size([](partly_registered_range& range, std::size_t count) {
    check_writes_after_uploads(range, count, use::borrowed);
    check_writes_after_uploads(range, count, use::batched);
  });
}

// A pending copy of the range is a use of every registration that it touches.
TEST_P(PartlyRegistered, DeregistrationWaitsForPendingCopiesOfTheRange) {
  for_each_size([](partly_registered_range& range, std::size_t count) {
    auto const expected = numbered(count, 19);
    auto const source = roc::to_device(expected);
    roc::stream const stream;
    {
      opened_soon const stream_gate(stream);
      source.copy_to_host(range.a, stream);
      range.deregister_one();
      EXPECT_TRUE(expected == range.read());
    }
    stream.synchronize();
  });
}

}  // namespace

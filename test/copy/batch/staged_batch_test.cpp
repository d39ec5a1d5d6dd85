// SPDX-License-Identifier: MIT
// The division of a batch into chunks, tasks and items: every byte is in exactly one of each.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "copy/batch/staging.hpp"
#include "kernels/batch_item.hpp"
#include "support/environment.hpp"

namespace {

using roc::transfer::batch;
using roc::transfer::copy_kind;
using roc::transfer::copy_selection;
using roc::transfer::staged_batch;
using bytes = std::vector<std::uint8_t>;

// A batch of copies from offsets of one vector to the same offsets of another; they do not overlap.
class StagedBatch : public testing::Test {
 protected:
  explicit StagedBatch(std::size_t max_long_count = 3000) {
    std::size_t offset = 0;
    for (int i = 0; i != 300; ++i) {
      std::size_t const max_count = random_() % 8 == 0 ? max_long_count : 60;
      std::size_t const count = 1 + random_() % max_count;
      std::size_t const step = 1 + random_() % 3;
      add(offset, count, step);
      offset += count * step + random_() % 5;
    }
    add(offset, 600'000, 1);  // longer than one part
    offset += 600'000;
    add(offset, 100'000, 2);
    offset += 200'000;
    source_.resize(offset);
    for (std::size_t i = 0; i != offset; ++i) source_[i] = static_cast<std::uint8_t>(1 + i % 251);
    for (auto const& added : added_) {
      auto const view = [&](bytes& memory) {
        return roc::host_view(memory.data() + added.offset, roc::shape<1>{added.count},
                              roc::strides<1>{static_cast<std::ptrdiff_t>(added.step)});
      };
      destination_.resize(offset);
      auto const from = view(source_), to = view(destination_);
      batch_->add(roc::detail::operand_of(from).region(), roc::detail::operand_of(to).region());
    }
  }

  void add(std::size_t offset, std::size_t count, std::size_t step) {
    added_.push_back({offset, count, step});
  }

  // Selects all copies, or all but every third one.
  copy_selection select(bool all) const {
    copy_selection result;
    for (std::size_t i = 0; i != added_.size(); ++i) {
      if (all || i % 3 != 0) result.push_back(i);
    }
    return result;
  }

  // Returns the destination after the selected copies.
  bytes expected(bool all) const {
    bytes result(source_.size());
    for (std::size_t i = 0; i != added_.size(); ++i) {
      if (!all && i % 3 == 0) continue;
      for (std::size_t k = 0; k != added_[i].count; ++k) {
        std::size_t const offset = added_[i].offset + k * added_[i].step;
        result[offset] = source_[offset];
      }
    }
    return result;
  }

  static std::vector<staged_batch::limits> limits() {
    return {{4096, SIZE_MAX},
            {3072, 1024},
            {10'000, 5000},
            {200'000, SIZE_MAX},
            {std::size_t{4} << 20, SIZE_MAX},
            {48 << 10, 16 << 10}};
  }

  struct added_copy {
    std::size_t offset;
    std::size_t count;
    std::size_t step;
  };
  std::mt19937_64 random_{5};
  std::vector<added_copy> added_;
  bytes source_;
  bytes destination_;
  std::shared_ptr<batch> batch_ = std::make_shared<batch>();
};

TEST_F(StagedBatch, UnpackRestoresWhatPackHasPacked) {
  for (bool const all : {true, false}) {
    for (auto const& limit : limits()) {
      destination_.assign(destination_.size(), 0);
      for (auto const& work :
           make_staged_batches(batch_, select(all), copy_kind::host_to_device, limit)) {
        std::size_t all_descriptions = 0;
        for (std::size_t chunk = 0; chunk != work->chunk_count(); ++chunk) {
          std::size_t const data = work->data_bytes(chunk);
          std::size_t const description = work->description_bytes(chunk);
          EXPECT_LE(data + description, limit.chunk + 2048);
          all_descriptions += description;
          std::vector<std::byte> staged(data);
          for (std::size_t task = 0; task != work->task_count(chunk); ++task) {
            work->pack(chunk, task, staged.data());
          }
          for (std::size_t task = work->task_count(chunk); task-- != 0;) {
            work->unpack(chunk, task, staged.data());
          }
        }
        if (limit.descriptions > 4096) {
          EXPECT_LE(all_descriptions, limit.descriptions);
        }
      }
      EXPECT_EQ(expected(all), destination_)
          << "chunks of " << limit.chunk << " bytes, all copies: " << all;
    }
  }
}

// Several threads share a large chunk evenly.
TEST_F(StagedBatch, LargeChunkHasSeveralTasks) {
  auto const works = make_staged_batches(batch_, select(true), copy_kind::host_to_device,
                                         {std::size_t{4} << 20, SIZE_MAX});
  ASSERT_EQ(1u, works.size());
  ASSERT_EQ(1u, works[0]->chunk_count());
  EXPECT_LE(4u, works[0]->task_count(0));
}

TEST_F(StagedBatch, ItemsOfAByteRangeCopyItAndDoNotExceedTheirLimit) {
  for (auto const& copy : batch_->copies) {
    for (std::size_t const part :
         {std::size_t{16}, std::size_t{1000}, std::size_t{4097}, copy.bytes}) {
      for (std::size_t begin = 0; begin < copy.bytes; begin += part) {
        std::size_t const end = std::min(begin + part, copy.bytes);
        std::size_t const limit = max_items(*batch_, copy, end - begin);
        std::vector<roc::kernels::batch_item> items(limit + 16);
        auto* const items_end =
            write_items(*batch_, copy, roc::layout::packed_range{begin, end}, {}, items.data());
        ASSERT_LE(static_cast<std::size_t>(items_end - items.data()), limit);
        for (auto* item = items.data(); item != items_end; ++item) copy_item(*item, 0, 1);
      }
    }
  }
  EXPECT_EQ(expected(true), destination_);
}

}  // namespace

// SPDX-License-Identifier: MIT
// However a batch is cut into chunks, shares and items, every byte of it is in one of them.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/batch_item.hpp"
#include "support/environment.hpp"
#include "copy/batch/batch_chunks.hpp"
#include "copy/batch/batch_items.hpp"

namespace {

using roc::transfer::batch_chunks;
using roc::transfer::batch;
using roc::transfer::direction;
using roc::transfer::piece_list;
using bytes = std::vector<std::uint8_t>;

// Copies from one place in host memory to the same place in other memory, apart from one another.
class BatchChunks : public testing::Test {
 protected:
  explicit BatchChunks(std::size_t longest = 3000) {
    std::size_t at = 0;
    for (int i = 0; i != 300; ++i) {
      std::size_t const most = random_() % 8 == 0 ? longest : 60;
      std::size_t const count = 1 + random_() % most;
      std::size_t const step = 1 + random_() % 3;
      add(at, count, step);
      at += count * step + random_() % 5;
    }
    add(at, 600'000, 1);  // of several parts
    at += 600'000;
    add(at, 100'000, 2);
    at += 200'000;
    source_.resize(at);
    for (std::size_t i = 0; i != at; ++i) source_[i] = static_cast<std::uint8_t>(1 + i % 251);
    for (auto const& each : added_) {
      auto const part = [&](bytes& of) {
        return roc::host_view(of.data() + each.at, roc::shape<1>{each.count},
                              roc::strides<1>{static_cast<std::ptrdiff_t>(each.step)});
      };
      destination_.resize(at);
      auto const from = part(source_), to = part(destination_);
      contents_->add(roc::detail::side_of(from).region(), roc::detail::side_of(to).region());
    }
  }

  void add(std::size_t at, std::size_t count, std::size_t step) {
    added_.push_back({at, count, step});
  }

  // All, or every third one left out.
  piece_list list(bool all) const {
    piece_list result;
    for (std::size_t i = 0; i != added_.size(); ++i) {
      if (all || i % 3 != 0) result.push_back(i);
    }
    return result;
  }

  bytes expected(bool all) const {
    bytes result(source_.size());
    for (std::size_t i = 0; i != added_.size(); ++i) {
      if (!all && i % 3 == 0) continue;
      for (std::size_t k = 0; k != added_[i].count; ++k) {
        std::size_t const at = added_[i].at + k * added_[i].step;
        result[at] = source_[at];
      }
    }
    return result;
  }

  static std::vector<batch_chunks::limits> limits() {
    return {{4096, SIZE_MAX}, {3072, 1024}, {10'000, 5000}, {200'000, SIZE_MAX},
            {std::size_t{4} << 20, SIZE_MAX}, {48 << 10, 16 << 10}};
  }

  struct copy_of {
    std::size_t at;
    std::size_t count;
    std::size_t step;
  };
  std::mt19937_64 random_{5};
  std::vector<copy_of> added_;
  bytes source_;
  bytes destination_;
  std::shared_ptr<batch> contents_ = std::make_shared<batch>();
};

TEST_F(BatchChunks, WhatIsPackedIsSpreadAgain) {
  for (bool const all : {true, false}) {
    for (auto const& limit : limits()) {
      destination_.assign(destination_.size(), 0);
      for (auto const& work :
           in_chunks(contents_, list(all), direction::host_to_device, limit)) {
        std::size_t descriptions = 0;
        for (std::size_t chunk = 0; chunk != work->chunks(); ++chunk) {
          std::size_t const data = work->data_bytes(chunk);
          std::size_t const described = work->description_bytes(chunk);
          EXPECT_LE(data + described, limit.chunk + 2048);
          descriptions += described;
          std::vector<std::byte> staged(data);
          for (std::size_t share = 0; share != work->shares(chunk); ++share) {
            work->pack(chunk, share, staged.data());
          }
          for (std::size_t share = work->shares(chunk); share-- != 0;) {
            work->unpack(chunk, share, staged.data());
          }
        }
        if (limit.descriptions > 4096) {
          EXPECT_LE(descriptions, limit.descriptions);
        }
      }
      EXPECT_EQ(expected(all), destination_) << limit.chunk << ' ' << all;
    }
  }
}

// Large chunks are for several threads, each of which does about as much as the others.
TEST_F(BatchChunks, SharesAreSmall) {
  auto const works = in_chunks(contents_, list(true), direction::host_to_device,
                               {std::size_t{4} << 20, SIZE_MAX});
  ASSERT_EQ(1u, works.size());
  ASSERT_EQ(1u, works[0]->chunks());
  EXPECT_LE(4u, works[0]->shares(0));
}

// No more of them than there is room for, and the copies themselves.
TEST_F(BatchChunks, ItemsOfParts) {
  for (auto const& of : contents_->pieces) {
    for (std::size_t const part : {std::size_t{16}, std::size_t{1000}, std::size_t{4097}, of.bytes}) {
      for (std::size_t begin = 0; begin < of.bytes; begin += part) {
        std::size_t const end = std::min(begin + part, of.bytes);
        std::size_t const most = most_items(*contents_, of, end - begin);
        std::vector<roc::kernels::batch_item> items(most + 16);
        auto* const last =
            describe(*contents_, of, roc::layout::packed_range{begin, end}, {}, items.data());
        ASSERT_LE(static_cast<std::size_t>(last - items.data()), most);
        for (auto* each = items.data(); each != last; ++each) copy_item(*each, 0, 1);
      }
    }
  }
  EXPECT_EQ(expected(true), destination_);
}

}  // namespace

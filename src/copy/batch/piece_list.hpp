// SPDX-License-Identifier: MIT
// Some of the copies of a batch, in its order.
#pragma once

#include <cstddef>
#include <vector>

namespace roc::transfer {

/// The numbers of copies as runs of one after the other: mostly it is all of them.
class piece_list {
 public:
  struct run {
    std::size_t first;
    std::size_t end;
  };

  void push_back(std::size_t piece) {
    if (!runs_.empty() && runs_.back().end == piece) {
      ++runs_.back().end;
    } else {
      runs_.push_back({piece, piece + 1});
    }
  }
  bool empty() const noexcept { return runs_.empty(); }
  std::vector<run> const& runs() const noexcept { return runs_; }

 private:
  std::vector<run> runs_;
};

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
#include "memory/host/cpu_uses.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/sort_ranges.hpp"

namespace roc::memory {
namespace {

// Each new use checks up to this many older ones, so that finished uses do not accumulate.
constexpr std::size_t checks_per_record = 8;

// Sorts the ranges, and joins those that overlap or touch. There must be at least one.
void sort_and_join(std::vector<base::byte_range>& ranges) {
  base::sort_ranges(ranges);
  auto last = ranges.begin();
  for (auto next = std::next(last); next != ranges.end(); ++next) {
    if (next->begin <= last->end) {
      last->end = std::max(last->end, next->end);
    } else {
      *++last = *next;
    }
  }
  ranges.erase(std::next(last), ranges.end());
}

// Returns true if one of the sorted, disjoint ranges overlaps `other`.
bool overlap(std::vector<base::byte_range> const& ranges, base::byte_range other) {
  auto const next = std::upper_bound(
      ranges.begin(), ranges.end(), other.begin,
      [](std::uintptr_t address, base::byte_range range) { return address < range.end; });
  return next != ranges.end() && next->overlaps(other);
}

}  // namespace

void cpu_uses::remove_finished() {
  std::vector<std::shared_ptr<use const>> finished;
  {
    std::lock_guard const lock(mutex_);
    std::size_t const checked = std::min(uses_.size(), checks_per_record);
    finished.assign(uses_.begin(), uses_.begin() + static_cast<std::ptrdiff_t>(checked));
  }
  for (std::size_t i = 0; i != finished.size();) {
    if (finished[i]->uses.have_finished()) {
      ++i;
    } else {
      finished.erase(finished.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  std::lock_guard const lock(mutex_);
  // The next call checks others. Their order does not matter.
  std::size_t const checked = std::min(uses_.size(), checks_per_record);
  std::rotate(uses_.begin(), uses_.begin() + static_cast<std::ptrdiff_t>(checked), uses_.end());
  std::erase_if(uses_, [&](auto const& item) {
    return std::find(finished.begin(), finished.end(), item) != finished.end();
  });
  count_.store(uses_.size());
}

void cpu_uses::record(std::vector<base::byte_range> ranges, runtime::stream_id const& stream) {
  if (ranges.empty()) return;
  sort_and_join(ranges);
  auto added = std::make_shared<use>();
  added->ranges = std::move(ranges);
  added->uses.add_with_event(stream);
  remove_finished();
  std::lock_guard const lock(mutex_);
  uses_.push_back(std::move(added));
  count_.store(uses_.size());
}

void cpu_uses::add_overlapping(std::span<base::byte_range const> ranges,
                               runtime::stream_uses& uses) const {
  if (count() == 0) return;
  std::lock_guard const lock(mutex_);
  for (auto const& item : uses_) {
    bool const overlaps = std::any_of(ranges.begin(), ranges.end(), [&](base::byte_range range) {
      return overlap(item->ranges, range);
    });
    if (overlaps) uses.add_all(item->uses);
  }
}

}  // namespace roc::memory

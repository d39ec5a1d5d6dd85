// SPDX-License-Identifier: MIT
#include "copy/batch/access_range.hpp"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <utility>

#include "memory/host/host_table.hpp"

namespace roc::transfer {
namespace {

using base::byte_range;

std::ptrdiff_t step_of(layout::axis const& a, layout::side which) {
  return std::abs(which == layout::side::source ? a.source : a.destination);
}

std::span<layout::axis const> axes_of(batch const& contents, touched const& of) {
  batch_copy const& piece = contents.pieces[of.piece];
  return {contents.axes.data() + piece.first_axis, piece.rank};
}

// By the bounds alone: sorted by their beginnings, only those before can reach into one.
bool in_order_apart(std::span<touched> all) {
  auto const earlier = [](touched const& a, touched const& b) {
    return a.where.begin < b.where.begin;
  };
  // Often they come in order.
  if (!std::is_sorted(all.begin(), all.end(), earlier)) std::sort(all.begin(), all.end(), earlier);
  std::uintptr_t written = 0;
  std::uintptr_t used = 0;
  for (touched const& each : all) {
    if (each.where.begin < (each.writes() ? used : written)) return false;
    used = std::max(used, each.where.end);
    if (each.writes()) written = std::max(written, each.where.end);
  }
  return true;
}

// Where one lies if addresses count only up to multiples of a period.
struct place_in_period {
  std::size_t begin;
  std::size_t end;
  touched of;
};

class by_periods {
 public:
  by_periods(batch const& contents, std::span<touched const> all) : contents_(contents) {
    for (touched const& each : all) origin_ = std::min(origin_, each.where.begin);
  }

  // Told apart by their places in each of the periods, smallest first, and at last by their bounds.
  bool are_disjoint(std::span<touched> all, std::span<std::size_t const> periods) const {
    if (periods.empty()) return in_order_apart(all);
    std::vector<place_in_period> places;
    places.reserve(all.size());
    for (touched const& each : all) {
      place_in_period const place = place_of(each, periods.front());
      // One that goes round tells nothing.
      if (place.end > periods.front()) return are_disjoint(all, periods.subspan(1));
      places.push_back(place);
    }
    std::sort(places.begin(), places.end(),
              [](auto const& a, auto const& b) { return a.begin < b.begin; });
    std::vector<touched> together;
    std::size_t end = 0;
    for (place_in_period const& each : places) {
      if (each.begin >= end) {
        if (!are_disjoint(together, periods.subspan(1))) return false;
        together.clear();
      }
      together.push_back(each.of);
      end = std::max(end, each.end);
    }
    return are_disjoint(together, periods.subspan(1));
  }

 private:
  place_in_period place_of(touched const& of, std::size_t period) const {
    std::size_t reach = contents_.pieces[of.piece].run;
    for (layout::axis const& a : axes_of(contents_, of)) {
      auto const step = static_cast<std::size_t>(step_of(a, of.which));
      if (step % period != 0) reach += step * (a.extent - 1);
    }
    std::size_t const begin = (of.where.begin - origin_) % period;
    return {begin, begin + reach, of};
  }

  batch const& contents_;
  std::uintptr_t origin_ = std::numeric_limits<std::uintptr_t>::max();
};

// The steps of one that has some: those of an array whose parts the others may be too.
std::vector<std::size_t> periods_of(batch const& contents, std::span<touched const> all) {
  std::vector<std::size_t> periods;
  auto const strided = std::find_if(all.begin(), all.end(), [&](touched const& each) {
    return each.writes() && contents.pieces[each.piece].rank != 0;
  });
  if (strided == all.end()) return periods;
  for (layout::axis const& a : axes_of(contents, *strided)) {
    std::ptrdiff_t const step = step_of(a, strided->which);
    if (step > 1) periods.push_back(static_cast<std::size_t>(step));
  }
  std::sort(periods.begin(), periods.end());
  return periods;
}

}  // namespace

touched access_range_of(batch const& contents, std::size_t index, layout::side which) {
  batch_copy const& piece = contents.pieces[index];
  base::byte_range const where = contents.range_of(piece, which);
  direction const way = piece.way();
  bool const from_host = way == direction::host_to_device || way == direction::host_to_host;
  bool const to_host = way == direction::device_to_host || way == direction::host_to_host;
  if (which == layout::side::source ? from_host : to_host) return {where, index, which};
  auto const behind = memory::host_table::instance().behind_device_address(where);
  return {behind.value_or(where), index, which};
}

std::vector<touched> conflicting_ranges(batch const& contents) {
  std::size_t const count = contents.pieces.size();
  std::vector<touched> all;
  all.reserve(2 * count);
  base::byte_range written{std::numeric_limits<std::uintptr_t>::max(), 0};
  base::byte_range read = written;
  for (std::size_t i = 0; i != count; ++i) {
    all.push_back(access_range_of(contents, i, layout::side::destination));
    written = around(written, all.back().where);
    read = around(read, access_range_of(contents, i, layout::side::source).where);
  }
  if (!written.overlaps(read)) return all;
  for (std::size_t i = 0; i != count; ++i) all.push_back(access_range_of(contents, i, layout::side::source));
  return all;
}

bool are_disjoint(batch const& contents, std::vector<touched> all) {
  if (in_order_apart(all)) return true;
  auto const periods = periods_of(contents, all);
  return !periods.empty() && by_periods(contents, all).are_disjoint(all, periods);
}

}  // namespace roc::transfer

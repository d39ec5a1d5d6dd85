// SPDX-License-Identifier: MIT
#include "layout/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include <roc/detail/region.hpp>

namespace roc::layout {
namespace {

// Sums of two spans may need a bit more than an address.
__extension__ using wide = __int128;

// step * x with 0 <= x <= count.
struct term {
  wide step;
  wide count;
};

wide gcd(wide a, wide b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

wide modulo(wide a, wide b) { return ((a % b) + b) % b; }

// x with a * x = 1 modulo m; a and m have no common divisor.
wide inverse(wide a, wide m) {
  wide x = 1, other = 0, rest = m;
  a = modulo(a, m);
  while (rest != 0) {
    wide const quotient = a / rest;
    a = std::exchange(rest, a - quotient * rest);
    x = std::exchange(other, x - quotient * other);
  }
  return modulo(x, m);
}

// Whether the terms can sum up to a target. Depth first from the largest step: what the smaller
// steps can reach, and their common divisor, leave few counts to try. For axes that are nested, as
// those of one array are, two at most.
class equation {
 public:
  void add(wide step, wide count) {
    if (count == 0 || step == 0) return;
    auto const same = std::find_if(terms_.begin(), terms_.end(),
                                   [&](term const& each) { return each.step == step; });
    if (same == terms_.end()) {
      terms_.push_back({step, count});
    } else {
      same->count += count;
    }
  }

  bool can_be(wide target) {
    std::sort(terms_.begin(), terms_.end(),
              [](term const& a, term const& b) { return a.step > b.step; });
    rest_.assign(terms_.size() + 1, {0, 0});
    for (std::size_t i = terms_.size(); i-- != 0;) {
      rest_[i] = {gcd(rest_[i + 1].divisor, terms_[i].step),
                  rest_[i + 1].reach + terms_[i].step * terms_[i].count};
    }
    return search(0, target);
  }

 private:
  // Of the terms from one on.
  struct remainder {
    wide divisor;
    wide reach;
  };

  bool search(std::size_t first, wide target) {
    if (target < 0 || target > rest_[first].reach) return false;
    if (target == 0) return true;
    if (first == terms_.size() || target % rest_[first].divisor != 0) return false;
    term const& largest = terms_[first];
    remainder const& rest = rest_[first + 1];
    wide const most = std::min(largest.count, target / largest.step);
    if (rest.divisor == 0) return most * largest.step == target;
    wide const least =
        target <= rest.reach ? 0 : (target - rest.reach + largest.step - 1) / largest.step;
    // What is left must be a multiple of the rest's divisor.
    wide const shared = gcd(largest.step, rest.divisor);
    wide const period = rest.divisor / shared;
    wide const wanted = modulo(target / shared, period) * inverse(largest.step / shared, period);
    for (wide x = least + modulo(wanted - least, period); x <= most; x += period) {
      if (steps_-- == 0) return true;
      if (search(first + 1, target - x * largest.step)) return true;
      if (steps_ <= 0) return true;
    }
    return false;
  }

  std::vector<term> terms_;
  std::vector<remainder> rest_;
  long steps_ = 1'000'000;
};

wide magnitude(std::ptrdiff_t step) { return step < 0 ? -wide{step} : wide{step}; }

wide last_index(axis const& a) { return static_cast<wide>(a.extent) - 1; }

wide step_of(axis const& a, side which) {
  return which == side::source ? a.source : a.destination;
}

wide base_address(canonical_layout const& form, side which) {
  std::byte const* const base = which == side::source ? form.source : form.destination;
  return static_cast<wide>(reinterpret_cast<std::uintptr_t>(base));
}

// Where a region lies if addresses count only up to multiples of a period. Numbers of 64 bits, as
// all spans of memory have: this is asked for many pairs.
struct place_in_period {
  std::ptrdiff_t begin;
  std::ptrdiff_t reach;
};

place_in_period place_in(canonical_layout const& form, side which, std::ptrdiff_t period) {
  std::byte const* const base = which == side::source ? form.source : form.destination;
  place_in_period result{static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(base)),
                         static_cast<std::ptrdiff_t>(form.run)};
  for (std::size_t i = 0; i < form.rank; ++i) {
    axis const& a = form.axes[i];
    std::ptrdiff_t const step = which == side::source ? a.source : a.destination;
    if (step % period == 0) continue;
    std::ptrdiff_t const length = step * static_cast<std::ptrdiff_t>(a.extent - 1);
    if (length < 0) result.begin += length;
    result.reach += length < 0 ? -length : length;
  }
  return result;
}

// Whether they never meet, wherever whole periods put them.
bool apart_in(std::ptrdiff_t period, canonical_layout const& first, side of_first,
              canonical_layout const& second, side of_second) {
  if (period == 0) return false;
  period = std::abs(period);
  place_in_period const a = place_in(first, of_first, period);
  place_in_period const b = place_in(second, of_second, period);
  if (a.reach > period || b.reach > period) return false;
  std::ptrdiff_t const rest = (b.begin - a.begin) % period;
  std::ptrdiff_t const distance = rest < 0 ? rest + period : rest;
  return distance >= a.reach && distance + b.reach <= period;
}

// Whether the axes nest: each steps over all that the smaller ones reach. Sorted by step.
bool is_nested(std::span<axis const> axes, wide run) {
  wide reach = run;
  for (axis const& a : axes) {
    if (magnitude(a.destination) < reach) return false;
    reach += magnitude(a.destination) * last_index(a);
  }
  return true;
}

}  // namespace

bool regions_overlap(canonical_layout const& first, side of_first, canonical_layout const& second,
                     side of_second) {
  byte_span const from = span_of(first, of_first);
  byte_span const to = span_of(second, of_second);
  wide const a = base_address(first, of_first);
  wide const b = base_address(second, of_second);
  if (a + from.high <= b + to.low || b + to.high <= a + from.low) return false;
  // a + steps + byte = b + steps + byte, all differences turned to be positive.
  equation places;
  wide target = b - a;
  auto const add = [&](wide step, wide last) {
    if (step < 0) target -= step * last;
    places.add(step < 0 ? -step : step, last);
  };
  for (std::size_t i = 0; i < first.rank; ++i) {
    add(step_of(first.axes[i], of_first), last_index(first.axes[i]));
  }
  for (std::size_t i = 0; i < second.rank; ++i) {
    add(-step_of(second.axes[i], of_second), last_index(second.axes[i]));
  }
  add(1, static_cast<wide>(first.run) - 1);
  add(-1, static_cast<wide>(second.run) - 1);
  return places.can_be(target);
}

bool sides_overlap(canonical_layout const& form) {
  return regions_overlap(form, side::source, form, side::destination);
}

bool surely_disjoint(canonical_layout const& first, side of_first, canonical_layout const& second,
                     side of_second) noexcept {
  auto const told_apart_by = [&](canonical_layout const& form, side which) {
    for (std::size_t i = 0; i < form.rank; ++i) {
      axis const& a = form.axes[i];
      std::ptrdiff_t const step = which == side::source ? a.source : a.destination;
      if (apart_in(step, first, of_first, second, of_second)) return true;
    }
    return false;
  };
  return told_apart_by(first, of_first) || told_apart_by(second, of_second);
}

bool destination_repeats(canonical_layout const& form) {
  if (form.rank == 0) return false;
  std::array<axis, max_axes> sorted;
  std::span<axis> const axes(sorted.data(), form.rank);
  std::copy_n(form.axes.begin(), form.rank, axes.begin());
  std::sort(axes.begin(), axes.end(), [](axis const& a, axis const& b) {
    return std::abs(a.destination) < std::abs(b.destination);
  });
  auto const run = static_cast<wide>(form.run);
  if (is_nested(axes, run)) return false;
  if (axes.front().destination == 0) return true;
  // Two indices that differ, first in one axis by at least 1, in the others by anything: is there a
  // difference that leads to the same byte?
  for (axis const& pivot : axes) {
    equation differences;
    wide target = -magnitude(pivot.destination);
    for (axis const& a : axes) {
      wide const step = magnitude(a.destination);
      if (&a == &pivot) {
        differences.add(step, last_index(a) - 1);
      } else {
        differences.add(step, 2 * last_index(a));
        target += step * last_index(a);
      }
    }
    differences.add(1, 2 * (run - 1));
    target += run - 1;
    if (differences.can_be(target)) return true;
  }
  return false;
}

}  // namespace roc::layout

bool roc::detail::places_repeat(std::size_t rank, std::size_t const* shape,
                                std::ptrdiff_t const* strides) {
  region const one{nullptr, 1, rank, shape, strides, place::device, -1};
  return layout::destination_repeats(
      layout::canonicalize(one, one, layout::side::destination));
}

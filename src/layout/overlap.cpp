// SPDX-License-Identifier: MIT
#include "layout/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include <roc/detail/strided_region.hpp>

namespace roc::layout {
namespace {

// The sum of two spans may need more bits than an address has.
__extension__ using wide = __int128;

// step * x for some x with 0 <= x <= count.
struct term {
  wide step;
  wide count;
};

wide gcd(wide a, wide b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

// Returns a modulo b in [0, b). `b` must be positive.
wide modulo(wide a, wide b) { return ((a % b) + b) % b; }

// Returns x with a * x = 1 modulo m, by Euclid's extended algorithm; a and m must be coprime.
wide inverse(wide a, wide m) {
  wide x = 1, next_x = 0, rest = m;
  a = modulo(a, m);
  while (rest != 0) {
    wide const quotient = a / rest;
    a = std::exchange(rest, a - quotient * rest);
    x = std::exchange(next_x, x - quotient * next_x);
  }
  return modulo(x, m);
}

// A linear equation: step_1 * x_1 + step_2 * x_2 + ... = target, each x_i an integer in
// [0, count_i], all steps positive.
class bounded_equation {
 public:
  // Adds a term. `step` must not be negative.
  void add(wide step, wide count) {
    if (count == 0 || step == 0) return;
    auto const same_step =
        std::find_if(terms_.begin(), terms_.end(), [&](term const& t) { return t.step == step; });
    if (same_step == terms_.end()) {
      terms_.push_back({step, count});
    } else {
      same_step->count += count;
    }
  }

  // Returns true if there is a solution, or if a million steps did not decide it.
  //
  // A depth-first search from the largest step down. The sum that the smaller steps can reach, and
  // their greatest common divisor, leave few values of x to try: at most two if the axes nest, as
  // those of one array do.
  bool has_solution(wide target) {
    std::sort(terms_.begin(), terms_.end(),
              [](term const& a, term const& b) { return a.step > b.step; });
    tails_.assign(terms_.size() + 1, {0, 0});
    for (std::size_t i = terms_.size(); i-- != 0;) {
      tails_[i] = {gcd(tails_[i + 1].divisor, terms_[i].step),
                   tails_[i + 1].reach + terms_[i].step * terms_[i].count};
    }
    return search(0, target);
  }

 private:
  // All terms from one index on: the greatest common divisor of their steps, and their largest sum.
  struct tail {
    wide divisor;
    wide reach;
  };

  // Like has_solution, for the terms from `first` on.
  bool search(std::size_t first, wide target) {
    if (target < 0 || target > tails_[first].reach) return false;
    if (target == 0) return true;
    if (first == terms_.size() || target % tails_[first].divisor != 0) return false;
    term const& largest = terms_[first];
    tail const& rest = tails_[first + 1];
    wide const max_x = std::min(largest.count, target / largest.step);
    if (rest.divisor == 0) return max_x * largest.step == target;
    wide const min_x =
        target <= rest.reach ? 0 : (target - rest.reach + largest.step - 1) / largest.step;
    // target - x * largest.step must be a multiple of rest.divisor: x is known modulo `period`.
    wide const common = gcd(largest.step, rest.divisor);
    wide const period = rest.divisor / common;
    wide const residue = modulo(target / common, period) * inverse(largest.step / common, period);
    for (wide x = min_x + modulo(residue - min_x, period); x <= max_x; x += period) {
      if (steps_left_-- == 0) return true;
      if (search(first + 1, target - x * largest.step)) return true;
      if (steps_left_ <= 0) return true;
    }
    return false;
  }

  std::vector<term> terms_;
  std::vector<tail> tails_;
  long steps_left_ = 1'000'000;
};

wide magnitude(std::ptrdiff_t step) { return step < 0 ? -wide{step} : wide{step}; }

wide last_index(axis const& a) { return static_cast<wide>(a.extent) - 1; }

std::uintptr_t base_address(canonical_layout const& layout, side operand) {
  return reinterpret_cast<std::uintptr_t>(operand == side::source ? layout.source
                                                                  : layout.destination);
}

// The range [begin, begin + reach) that a region covers if addresses are taken modulo a period.
// 64 bits are enough for the spans of memory, and this is computed for many pairs of regions.
struct periodic_range {
  std::ptrdiff_t begin;
  std::ptrdiff_t reach;
};

// Returns the range of one side of the layout modulo `period`, which must be positive.
periodic_range range_modulo(canonical_layout const& layout, side operand, std::ptrdiff_t period) {
  periodic_range result{static_cast<std::ptrdiff_t>(base_address(layout, operand)),
                        static_cast<std::ptrdiff_t>(layout.run)};
  for (std::size_t i = 0; i < layout.rank; ++i) {
    axis const& a = layout.axes[i];
    std::ptrdiff_t const step = step_of(a, operand);
    if (step % period == 0) continue;
    std::ptrdiff_t const length = step * static_cast<std::ptrdiff_t>(a.extent - 1);
    if (length < 0) result.begin += length;
    result.reach += length < 0 ? -length : length;
  }
  return result;
}

// Returns true if the ranges of both regions modulo the period share no byte. The regions are
// disjoint then.
bool are_disjoint_modulo(std::ptrdiff_t period, canonical_layout const& first, side first_side,
                         canonical_layout const& second, side second_side) {
  if (period == 0) return false;
  period = std::abs(period);
  periodic_range const a = range_modulo(first, first_side, period);
  periodic_range const b = range_modulo(second, second_side, period);
  if (a.reach > period || b.reach > period) return false;
  std::ptrdiff_t const rest = (b.begin - a.begin) % period;
  std::ptrdiff_t const distance = rest < 0 ? rest + period : rest;
  return distance >= a.reach && distance + b.reach <= period;
}

// Returns true if the destination's axes nest: each step is at least as large as the span of the
// run and all smaller steps. `axes` must be sorted by the magnitude of that step.
bool is_nested(std::span<axis const> axes, wide run) {
  wide reach = run;
  for (axis const& a : axes) {
    if (magnitude(a.destination) < reach) return false;
    reach += magnitude(a.destination) * last_index(a);
  }
  return true;
}

}  // namespace

bool regions_overlap(canonical_layout const& first, side first_side, canonical_layout const& second,
                     side second_side) {
  byte_span const first_span = span_of(first, first_side);
  byte_span const second_span = span_of(second, second_side);
  wide const a = static_cast<wide>(base_address(first, first_side));
  wide const b = static_cast<wide>(base_address(second, second_side));
  if (a + first_span.high <= b + second_span.low || b + second_span.high <= a + first_span.low) {
    return false;
  }
  // They share a byte if a + (steps of first) + (byte of its run) = b + (steps of second) + (byte
  // of its run) has a solution. An axis with a negative step is counted from its other end, to make
  // the step positive.
  bounded_equation same_byte;
  wide target = b - a;
  auto const add = [&](wide step, wide last) {
    if (step < 0) target -= step * last;
    same_byte.add(step < 0 ? -step : step, last);
  };
  for (std::size_t i = 0; i < first.rank; ++i) {
    add(step_of(first.axes[i], first_side), last_index(first.axes[i]));
  }
  for (std::size_t i = 0; i < second.rank; ++i) {
    add(-wide{step_of(second.axes[i], second_side)}, last_index(second.axes[i]));
  }
  add(1, static_cast<wide>(first.run) - 1);
  add(-1, static_cast<wide>(second.run) - 1);
  return same_byte.has_solution(target);
}

bool sides_overlap(canonical_layout const& layout) {
  return regions_overlap(layout, side::source, layout, side::destination);
}

bool provably_disjoint(canonical_layout const& first, side first_side,
                       canonical_layout const& second, side second_side) noexcept {
  auto const is_separated_by_axis_of = [&](canonical_layout const& layout, side operand) {
    for (std::size_t i = 0; i < layout.rank; ++i) {
      std::ptrdiff_t const step = step_of(layout.axes[i], operand);
      if (are_disjoint_modulo(step, first, first_side, second, second_side)) return true;
    }
    return false;
  };
  return is_separated_by_axis_of(first, first_side) || is_separated_by_axis_of(second, second_side);
}

bool destination_overlaps_itself(canonical_layout const& layout) {
  if (layout.rank == 0) return false;
  std::array<axis, max_axes> sorted;
  std::span<axis> const axes(sorted.data(), layout.rank);
  std::copy_n(layout.axes.begin(), layout.rank, axes.begin());
  std::sort(axes.begin(), axes.end(), [](axis const& a, axis const& b) {
    return std::abs(a.destination) < std::abs(b.destination);
  });
  auto const run = static_cast<wide>(layout.run);
  if (is_nested(axes, run)) return false;
  if (axes.front().destination == 0) return true;
  // Two different indices share a byte if the difference of their offsets is less than a run. For
  // each axis: is there such a pair whose indices differ by at least 1 along it (the pivot), and by
  // anything along the others?
  for (axis const& pivot : axes) {
    bounded_equation difference;
    wide target = -magnitude(pivot.destination);
    for (axis const& a : axes) {
      wide const step = magnitude(a.destination);
      if (&a == &pivot) {
        difference.add(step, last_index(a) - 1);
      } else {
        difference.add(step, 2 * last_index(a));
        target += step * last_index(a);
      }
    }
    difference.add(1, 2 * (run - 1));
    target += run - 1;
    if (difference.has_solution(target)) return true;
  }
  return false;
}

}  // namespace roc::layout

bool roc::detail::has_aliased_elements(std::size_t rank, std::size_t const* shape,
                                       std::ptrdiff_t const* strides) {
  strided_region const self{nullptr, 1, rank, shape, strides, memory_space::device, -1};
  return layout::destination_overlaps_itself(
      layout::canonicalize(self, self, layout::side::destination));
}

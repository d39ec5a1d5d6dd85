// SPDX-License-Identifier: MIT
#include "transfer/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include <roc/detail/region.hpp>

namespace roc::transfer {
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

// Whether the axes nest: each steps over all that the smaller ones reach. Sorted by step.
bool is_nested(std::vector<axis> const& axes, wide run) {
  wide reach = run;
  for (axis const& a : axes) {
    if (magnitude(a.destination) < reach) return false;
    reach += magnitude(a.destination) * last_index(a);
  }
  return true;
}

}  // namespace

bool sides_overlap(normal_form const& form) {
  byte_span const from = span_of(form, side::source);
  byte_span const to = span_of(form, side::destination);
  auto const source = static_cast<wide>(reinterpret_cast<std::uintptr_t>(form.source));
  auto const destination = static_cast<wide>(reinterpret_cast<std::uintptr_t>(form.destination));
  if (source + from.high <= destination + to.low || destination + to.high <= source + from.low) {
    return false;
  }
  // source + steps + byte = destination + steps + byte, all differences turned to be positive.
  equation places;
  wide target = destination - source;
  auto const add = [&](wide step, wide last) {
    if (step < 0) target -= step * last;
    places.add(step < 0 ? -step : step, last);
  };
  for (std::size_t i = 0; i < form.rank; ++i) {
    add(form.axes[i].source, last_index(form.axes[i]));
    add(-wide{form.axes[i].destination}, last_index(form.axes[i]));
  }
  add(1, static_cast<wide>(form.run) - 1);
  add(-1, static_cast<wide>(form.run) - 1);
  return places.can_be(target);
}

bool destination_repeats(normal_form const& form) {
  if (form.rank == 0) return false;
  std::vector<axis> axes(form.axes.begin(),
                         form.axes.begin() + static_cast<std::ptrdiff_t>(form.rank));
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

}  // namespace roc::transfer

bool roc::detail::places_repeat(std::size_t rank, std::size_t const* shape,
                                std::ptrdiff_t const* strides) {
  region const one{nullptr, 1, rank, shape, strides, place::device, -1};
  return transfer::destination_repeats(
      transfer::normalise(one, one, transfer::side::destination));
}

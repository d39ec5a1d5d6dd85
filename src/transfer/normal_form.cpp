// SPDX-License-Identifier: MIT
#include "transfer/normal_form.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <roc/error.hpp>

namespace roc::transfer {
namespace {

std::ptrdiff_t step(axis const& a, side which) noexcept {
  return which == side::source ? a.source : a.destination;
}

std::ptrdiff_t length(axis const& a, side which) noexcept {
  return static_cast<std::ptrdiff_t>(a.extent - 1) * step(a, which);
}

// A step back on the leading side becomes a step forward from the other end.
void turn(axis& a, side leading, normal_form& form) {
  if (step(a, leading) >= 0) return;
  form.source += length(a, side::source);
  form.destination += length(a, side::destination);
  a.source = -a.source;
  a.destination = -a.destination;
}

// Sorted by the leading side; the axes that follow each other on both sides are one.
void push(normal_form& form, axis next) {
  auto const extent = static_cast<std::ptrdiff_t>(next.extent);
  if (form.rank != 0) {
    axis& outer = form.axes[form.rank - 1];
    if (outer.source == next.source * extent && outer.destination == next.destination * extent) {
      outer = {outer.extent * next.extent, next.source, next.destination};
      return;
    }
  }
  if (form.rank == max_axes) {
    throw layout_error("copy of more than " + std::to_string(max_axes) +
                       " axes that cannot be merged: copy slices of it");
  }
  form.axes[form.rank++] = next;
}

}  // namespace

std::size_t normal_form::bytes() const noexcept {
  std::size_t total = run;
  for (std::size_t i = 0; i < rank; ++i) total *= axes[i].extent;
  return total;
}

bool normal_form::is_dense(side which) const noexcept {
  auto expected = static_cast<std::ptrdiff_t>(run);
  for (std::size_t i = rank; i-- != 0;) {
    if (step(axes[i], which) != expected) return false;
    expected *= static_cast<std::ptrdiff_t>(axes[i].extent);
  }
  return true;
}

byte_span span_of(normal_form const& form, side which) noexcept {
  byte_span result{0, static_cast<std::ptrdiff_t>(form.run)};
  for (std::size_t i = 0; i < form.rank; ++i) {
    std::ptrdiff_t const reach = length(form.axes[i], which);
    (reach < 0 ? result.low : result.high) += reach;
  }
  return result;
}

normal_form normalise(detail::region const& source, detail::region const& destination,
                      side leading) {
  normal_form form;
  form.source = static_cast<std::byte const*>(source.data);
  form.destination = static_cast<std::byte*>(destination.data);
  form.run = source.element_size;

  auto const size = static_cast<std::ptrdiff_t>(source.element_size);
  std::vector<axis> axes;
  for (std::size_t i = 0; i < source.rank; ++i) {
    if (source.shape[i] == 1) continue;
    axis next{source.shape[i], source.strides[i] * size, destination.strides[i] * size};
    turn(next, leading, form);
    axes.push_back(next);
  }
  std::stable_sort(axes.begin(), axes.end(), [leading](axis const& a, axis const& b) {
    return step(a, leading) > step(b, leading);
  });
  for (axis const& next : axes) push(form, next);

  if (form.rank != 0) {
    axis const& last = form.axes[form.rank - 1];
    if (last.source == size && last.destination == size) {
      form.run *= last.extent;
      --form.rank;
    }
  }
  return form;
}

namespace {

// Non-negative remainder.
std::ptrdiff_t modulo(std::ptrdiff_t a, std::ptrdiff_t b) noexcept { return ((a % b) + b) % b; }

// Whether [a, a + a_length) and [b, b + b_length) share a place, all places taken modulo `period`.
bool meet_modulo(std::ptrdiff_t a, std::ptrdiff_t a_length, std::ptrdiff_t b,
                 std::ptrdiff_t b_length, std::ptrdiff_t period) noexcept {
  return modulo(b - a, period) < a_length || modulo(a - b, period) < b_length;
}

}  // namespace

bool may_overlap(normal_form const& form) noexcept {
  auto const source = reinterpret_cast<std::intptr_t>(form.source);
  auto const destination = reinterpret_cast<std::intptr_t>(form.destination);
  byte_span const from = span_of(form, side::source);
  byte_span const to = span_of(form, side::destination);
  if (source + from.high <= destination + to.low || destination + to.high <= source + from.low) {
    return false;
  }
  // The steps of at least `bound` bytes only move by multiples of their common divisor. If what the
  // smaller ones span on the two sides is apart modulo that, the sides are apart.
  for (std::size_t pick = 0; pick < 2 * form.rank; ++pick) {
    side const of = pick % 2 == 0 ? side::source : side::destination;
    std::ptrdiff_t const bound = std::abs(step(form.axes[pick / 2], of));
    if (bound == 0) continue;
    std::ptrdiff_t period = 0;
    byte_span inner[2] = {{0, static_cast<std::ptrdiff_t>(form.run)},
                          {0, static_cast<std::ptrdiff_t>(form.run)}};
    for (std::size_t i = 0; i < form.rank; ++i) {
      for (side const which : {side::source, side::destination}) {
        std::ptrdiff_t const by = step(form.axes[i], which);
        if (std::abs(by) >= bound) {
          period = std::gcd(period, by);
        } else {
          std::ptrdiff_t const reach = length(form.axes[i], which);
          byte_span& span = inner[static_cast<std::size_t>(which)];
          (reach < 0 ? span.low : span.high) += reach;
        }
      }
    }
    if (!meet_modulo(source + inner[0].low, inner[0].high - inner[0].low,
                     destination + inner[1].low, inner[1].high - inner[1].low, period)) {
      return false;
    }
  }
  return true;
}

bool destination_repeats(normal_form const& form) noexcept {
  std::array<axis, max_axes> axes = form.axes;
  auto const last = axes.begin() + static_cast<std::ptrdiff_t>(form.rank);
  std::sort(axes.begin(), last, [](axis const& a, axis const& b) {
    return std::abs(a.destination) < std::abs(b.destination);
  });
  auto reach = static_cast<std::ptrdiff_t>(form.run);
  for (auto a = axes.begin(); a != last; ++a) {
    if (std::abs(a->destination) < reach) return true;
    reach += std::abs(length(*a, side::destination));
  }
  return false;
}

}  // namespace roc::transfer

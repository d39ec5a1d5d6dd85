// SPDX-License-Identifier: MIT
#include "layout/canonical_layout.hpp"

#include <span>
#include <string>
#include <vector>

#include <roc/error.hpp>

namespace roc::layout {
namespace {

std::ptrdiff_t step(axis const& a, side which) noexcept {
  return which == side::source ? a.source : a.destination;
}

std::ptrdiff_t length(axis const& a, side which) noexcept {
  return static_cast<std::ptrdiff_t>(a.extent - 1) * step(a, which);
}

// A step back on the leading side becomes a step forward from the other end.
void turn(axis& a, side leading, canonical_layout& form) {
  if (step(a, leading) >= 0) return;
  form.source += length(a, side::source);
  form.destination += length(a, side::destination);
  a.source = -a.source;
  a.destination = -a.destination;
}

// Sorted by the leading side; the axes that follow each other on both sides are one.
void push(canonical_layout& form, axis next) {
  auto const extent = static_cast<std::ptrdiff_t>(next.extent);
  if (form.rank != 0) {
    axis& outer = form.axes[form.rank - 1];
    if (outer.source == next.source * extent && outer.destination == next.destination * extent) {
      outer = {outer.extent * next.extent, next.source, next.destination};
      return;
    }
  }
  if (form.rank == max_axes) {
    throw layout_error("a layout of more than " + std::to_string(max_axes) +
                       " axes that cannot be merged: take slices of it");
  }
  form.axes[form.rank++] = next;
}

}  // namespace

std::size_t canonical_layout::bytes() const noexcept {
  std::size_t total = run;
  for (std::size_t i = 0; i < rank; ++i) total *= axes[i].extent;
  return total;
}

bool canonical_layout::is_dense(side which) const noexcept {
  auto expected = static_cast<std::ptrdiff_t>(run);
  for (std::size_t i = rank; i-- != 0;) {
    if (step(axes[i], which) != expected) return false;
    expected *= static_cast<std::ptrdiff_t>(axes[i].extent);
  }
  return true;
}

byte_span span_of(canonical_layout const& form, side which) noexcept {
  byte_span result{0, static_cast<std::ptrdiff_t>(form.run)};
  for (std::size_t i = 0; i < form.rank; ++i) {
    std::ptrdiff_t const reach = length(form.axes[i], which);
    (reach < 0 ? result.low : result.high) += reach;
  }
  return result;
}

base::byte_range bytes_of(canonical_layout const& form, side which) noexcept {
  byte_span const span = span_of(form, which);
  std::byte const* const base = which == side::source ? form.source : form.destination;
  return base::byte_range::of(base + span.low, static_cast<std::size_t>(span.high - span.low));
}

canonical_layout canonicalize(roc::detail::region const& source, detail::region const& destination,
                      side leading) {
  canonical_layout form;
  form.source = static_cast<std::byte const*>(source.data);
  form.destination = static_cast<std::byte*>(destination.data);
  form.run = source.element_size;

  auto const size = static_cast<std::ptrdiff_t>(source.element_size);
  // In place for what arrays usually are: this is on the way of every copy.
  std::vector<axis> many(source.rank > max_axes ? source.rank : 0);
  std::span<axis> axes(many.empty() ? form.axes.data() : many.data(), source.rank);
  std::size_t count = 0;
  for (std::size_t i = 0; i < source.rank; ++i) {
    if (source.shape[i] == 1) continue;
    axis next{source.shape[i], source.strides[i] * size, destination.strides[i] * size};
    turn(next, leading, form);
    // Sorted as they come: there are few, and most come in order.
    std::size_t place = count++;
    for (; place != 0 && step(axes[place - 1], leading) < step(next, leading); --place) {
      axes[place] = axes[place - 1];
    }
    axes[place] = next;
  }
  // What is contiguous on both sides is no axis.
  for (; count != 0; --count) {
    axis const& last = axes[count - 1];
    auto const run = static_cast<std::ptrdiff_t>(form.run);
    if (last.source != run || last.destination != run) break;
    form.run *= last.extent;
  }
  // What is pushed goes to where an axis was read, or before that.
  for (axis const next : axes.first(count)) push(form, next);
  return form;
}

}  // namespace roc::layout

// SPDX-License-Identifier: MIT
#include "layout/canonical_layout.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <roc/error.hpp>

namespace roc::layout {
namespace {

// Makes the step on the leading side positive, by reversing the axis on both sides if necessary.
// The first run of the layout is then at the other end of the axis.
void make_step_positive(axis& a, side leading, canonical_layout& layout) {
  if (step_of(a, leading) >= 0) return;
  layout.source += reach_of(a, side::source);
  layout.destination += reach_of(a, side::destination);
  a.source = -a.source;
  a.destination = -a.destination;
}

// Appends an axis, or merges it with the last one if both sides continue without a gap. The axes
// must come sorted by their step on the leading side, in descending order.
void append(canonical_layout& layout, axis next) {
  auto const extent = static_cast<std::ptrdiff_t>(next.extent);
  if (layout.rank != 0) {
    axis& outer = layout.axes[layout.rank - 1];
    if (outer.source == next.source * extent && outer.destination == next.destination * extent) {
      outer = {outer.extent * next.extent, next.source, next.destination};
      return;
    }
  }
  if (layout.rank == max_axes) {
    throw layout_error("a layout has more than " + std::to_string(max_axes) +
                       " axes that cannot be merged; copy slices of the array");
  }
  layout.axes[layout.rank++] = next;
}

}  // namespace

bool canonical_layout::is_dense(side operand) const noexcept {
  auto expected = static_cast<std::ptrdiff_t>(run);
  for (std::size_t i = rank; i-- != 0;) {
    if (step_of(axes[i], operand) != expected) return false;
    expected *= static_cast<std::ptrdiff_t>(axes[i].extent);
  }
  return true;
}

std::array<canonical_layout, 2> halves_of(canonical_layout const& layout) noexcept {
  axis const& outer = layout.axes[0];
  std::size_t const middle = outer.extent / 2;
  std::array<canonical_layout, 2> result{layout, layout};
  result[0].axes[0].extent = middle;
  result[1].axes[0].extent = outer.extent - middle;
  result[1].source += static_cast<std::ptrdiff_t>(middle) * outer.source;
  result[1].destination += static_cast<std::ptrdiff_t>(middle) * outer.destination;
  for (canonical_layout& half : result) {
    if (half.axes[0].extent != 1) continue;
    --half.rank;
    std::copy_n(layout.axes.begin() + 1, half.rank, half.axes.begin());
  }
  return result;
}

canonical_layout merged_for(canonical_layout const& layout, side operand) noexcept {
  canonical_layout result;
  result.source = layout.source;
  result.destination = layout.destination;
  result.run = layout.run;
  for (std::size_t i = 0; i != layout.rank; ++i) {
    std::ptrdiff_t const step = step_of(layout.axes[i], operand);
    append(result, {layout.axes[i].extent, step, step});
  }
  if (result.rank == 0) return result;
  axis const& inner = result.axes[result.rank - 1];
  if (inner.source == static_cast<std::ptrdiff_t>(result.run)) {
    result.run *= inner.extent;
    --result.rank;
  }
  return result;
}

canonical_layout canonicalize(roc::detail::strided_region const& source,
                              roc::detail::strided_region const& destination, side leading) {
  canonical_layout layout;
  layout.source = static_cast<std::byte const*>(source.data);
  layout.destination = static_cast<std::byte*>(destination.data);
  layout.run = source.element_size;

  auto const size = static_cast<std::ptrdiff_t>(source.element_size);
  // Every strided copy calls this: the axes are sorted in place, without an allocation, unless
  // there are more than max_axes.
  std::vector<axis> allocated_axes(source.rank > max_axes ? source.rank : 0);
  std::span<axis> axes(allocated_axes.empty() ? layout.axes.data() : allocated_axes.data(),
                       source.rank);
  std::size_t count = 0;
  for (std::size_t i = 0; i < source.rank; ++i) {
    if (source.shape[i] == 1) continue;
    axis next{source.shape[i], source.strides[i] * size, destination.strides[i] * size};
    make_step_positive(next, leading, layout);
    // An insertion sort: there are few axes, and most are in order already.
    std::size_t position = count++;
    for (; position != 0 && step_of(axes[position - 1], leading) < step_of(next, leading);
         --position) {
      axes[position] = axes[position - 1];
    }
    axes[position] = next;
  }
  // Axes that are contiguous on both sides become part of the run.
  for (; count != 0; --count) {
    axis const& last = axes[count - 1];
    auto const run = static_cast<std::ptrdiff_t>(layout.run);
    if (last.source != run || last.destination != run) break;
    layout.run *= last.extent;
  }
  // `axes` may be layout.axes: append never writes beyond the axis that is being read.
  for (axis const next : axes.first(count)) append(layout, next);
  return layout;
}

}  // namespace roc::layout

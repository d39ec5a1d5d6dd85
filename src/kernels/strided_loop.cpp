// SPDX-License-Identifier: MIT
#include "kernels/strided_loop.hpp"

#include <cstdlib>

#include "kernels/vector_word.hpp"

namespace roc::kernels {
namespace {

using layout::canonical_layout;

std::uintptr_t bits_of(layout::axis const& axis) {
  return static_cast<std::uintptr_t>(axis.source) | static_cast<std::uintptr_t>(axis.destination);
}

// Along an axis that goes forward on one side and back on the other, without gaps, several elements
// are one unit too, turned round on the way.
void widen_turned(strided_loop& all, std::size_t run) {
  if (all.rank == 0 || run > 8 || all.unit != run) return;
  layout::axis& inner = all.axes[all.rank - 1];
  auto const step = static_cast<std::ptrdiff_t>(run);
  if (inner.source != -inner.destination || std::abs(inner.source) != step) return;
  // The side that goes back begins at its last element.
  std::uintptr_t& back = inner.source < 0 ? all.source : all.destination;
  std::uintptr_t const forth = inner.source < 0 ? all.destination : all.source;
  std::uintptr_t bits = (back + run) | forth | inner.extent * run;
  for (std::size_t i = 0; i + 1 < all.rank; ++i) bits |= bits_of(all.axes[i]);
  std::size_t const unit = widest_unit(bits);
  if (unit <= run) return;
  auto const wide = static_cast<std::ptrdiff_t>(unit);
  back -= unit - run;
  inner = {inner.extent * run / unit, inner.source < 0 ? -wide : wide,
           inner.destination < 0 ? -wide : wide};
  all.unit = unit;
  all.turned = run;
}

}  // namespace

strided_loop make_loop(canonical_layout const& form, side_steps source, side_steps destination) {
  strided_loop result;
  result.source = source.base;
  result.destination = destination.base;
  std::uintptr_t bits = source.base | destination.base | form.run;
  auto packed_step = static_cast<std::ptrdiff_t>(form.bytes());
  for (std::size_t i = 0; i < form.rank; ++i) {
    layout::axis const& axis = form.axes[i];
    packed_step /= static_cast<std::ptrdiff_t>(axis.extent);
    layout::axis const& next = result.axes[result.rank++] = {
        axis.extent, source.packed ? packed_step : axis.source,
        destination.packed ? packed_step : axis.destination};
    bits |= bits_of(next);
  }
  result.unit = widest_unit(bits);
  if (form.run != result.unit) {
    auto const step = static_cast<std::ptrdiff_t>(result.unit);
    result.axes[result.rank++] = {form.run / result.unit, step, step};
  }
  widen_turned(result, form.run);
  return result;
}

base::byte_range source_range(strided_loop const& all) noexcept {
  base::byte_range result{all.source, all.source + all.unit};
  for (std::size_t i = 0; i < all.rank; ++i) {
    layout::axis const& a = all.axes[i];
    auto const length =
        static_cast<std::uintptr_t>(a.source * static_cast<std::ptrdiff_t>(a.extent - 1));
    (a.source < 0 ? result.begin : result.end) += length;
  }
  return result;
}

}  // namespace roc::kernels

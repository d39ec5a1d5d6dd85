// SPDX-License-Identifier: MIT
#include "kernels/strided_loop.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/round_up.hpp"
#include "kernels/vector_word.hpp"

namespace roc::kernels {
namespace {

using layout::canonical_layout;

std::uintptr_t bits_of(layout::axis const& axis) {
  return static_cast<std::uintptr_t>(axis.source) | static_cast<std::uintptr_t>(axis.destination);
}

// Combines several elements into one word, if they are contiguous on both sides but in opposite
// directions. The kernel then reverses the elements within each word.
void widen_reversed(strided_loop& loop, std::size_t run) {
  if (run > 8 || loop.word_bytes != run || !is_reversed(loop)) return;
  layout::axis& inner = loop.axes[loop.rank - 1];
  // The address of the backward side is that of its last element.
  std::uintptr_t& backward = inner.source < 0 ? loop.source : loop.destination;
  std::uintptr_t const forward = inner.source < 0 ? loop.destination : loop.source;
  std::uintptr_t bits = (backward + run) | forward | inner.extent * run;
  for (std::size_t i = 0; i + 1 < loop.rank; ++i) bits |= bits_of(loop.axes[i]);
  std::size_t const word_bytes = widest_word_bytes(bits);
  if (word_bytes <= run) return;
  auto const word_step = static_cast<std::ptrdiff_t>(word_bytes);
  backward -= word_bytes - run;
  inner = {inner.extent * run / word_bytes, inner.source < 0 ? -word_step : word_step,
           inner.destination < 0 ? -word_step : word_step};
  loop.word_bytes = word_bytes;
  loop.reversed_bytes = run;
}

}  // namespace

strided_loop make_loop(canonical_layout const& layout, side_memory source,
                       side_memory destination) {
  strided_loop result;
  result.source = source.base;
  result.destination = destination.base;
  std::uintptr_t bits = source.base | destination.base | layout.run;
  auto packed_step = static_cast<std::ptrdiff_t>(layout.bytes());
  for (std::size_t i = 0; i < layout.rank; ++i) {
    layout::axis const& axis = layout.axes[i];
    packed_step /= static_cast<std::ptrdiff_t>(axis.extent);
    layout::axis const& next =
        result.axes[result.rank++] = {axis.extent, source.packed ? packed_step : axis.source,
                                      destination.packed ? packed_step : axis.destination};
    bits |= bits_of(next);
  }
  result.word_bytes = widest_word_bytes(bits);
  if (layout.run != result.word_bytes) {
    auto const step = static_cast<std::ptrdiff_t>(result.word_bytes);
    result.axes[result.rank++] = {layout.run / result.word_bytes, step, step};
  }
  widen_reversed(result, layout.run);
  return result;
}

loop_part first_part(strided_loop const& loop, std::size_t begin, std::size_t end,
                     std::size_t max_words) {
  loop_part part{loop, begin, end};
  if (end <= max_words) return part;
  std::size_t words_per_step = 1;
  for (std::size_t i = 0; i < loop.rank; ++i) words_per_step *= loop.axes[i].extent;
  for (std::size_t i = 0; part.end > max_words; ++i) {
    layout::axis const& axis = loop.axes[i];
    words_per_step /= axis.extent;
    // The part begins with the step of this axis that has its first word.
    std::size_t const step = part.begin / words_per_step;
    part.loop.source +=
        static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(step) * axis.source);
    part.loop.destination +=
        static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(step) * axis.destination);
    part.begin -= step * words_per_step;
    part.end -= step * words_per_step;
    if (words_per_step <= max_words) {
      part.end = std::min(part.end, max_words);
      part.loop.axes[0].extent = base::ceil_div(part.end, words_per_step);
      return part;
    }
    // One step has too many words: the part is within it.
    part.end = std::min(part.end, words_per_step);
    --part.loop.rank;
    std::copy_n(loop.axes.begin() + i + 1, part.loop.rank, part.loop.axes.begin());
  }
  return part;
}

bool is_reversed(strided_loop const& loop) noexcept {
  if (loop.rank == 0) return false;
  layout::axis const& inner = loop.axes[loop.rank - 1];
  return inner.source == -inner.destination &&
         std::abs(inner.source) == static_cast<std::ptrdiff_t>(loop.word_bytes);
}

base::byte_range source_range(strided_loop const& loop) noexcept {
  base::byte_range result{loop.source, loop.source + loop.word_bytes};
  for (std::size_t i = 0; i < loop.rank; ++i) {
    layout::axis const& axis = loop.axes[i];
    auto const length =
        static_cast<std::uintptr_t>(axis.source * static_cast<std::ptrdiff_t>(axis.extent - 1));
    (axis.source < 0 ? result.begin : result.end) += length;
  }
  return result;
}

}  // namespace roc::kernels

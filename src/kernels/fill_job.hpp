// SPDX-License-Identifier: MIT
// The arguments of the fill kernel and the work for one index; the same on the device and on the
// CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/config.hpp>

#include "kernels/fast_divmod.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/vector_word.hpp"

namespace roc::kernels {

/// The longest period in words: of a pattern of 1 to 16 bytes, written in words of 1 to 16 bytes.
inline constexpr std::size_t max_pattern_words = 16;

/// Writes word `i` of `count` words over the axes, outermost first. The last axis counts the words
/// of a run; the pattern begins anew with each run. Index is std::uint32_t if all words can be
/// counted with it, which is several times faster on a device, else std::size_t.
template <class Word, class Index>
struct fill_word {
  using extent = std::conditional_t<sizeof(Index) == 4, fast_divmod, Index>;

  std::uintptr_t destination = 0;
  std::size_t count = 0;
  extent period = extent(1);  // of the pattern, in words
  Word pattern[max_pattern_words] = {};
  unsigned rank = 0;
  extent extents[max_job_axes] = {};
  std::ptrdiff_t steps[max_job_axes] = {};

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    auto rest = static_cast<Index>(i);
    std::uintptr_t to = destination;
    Index index_in_run = 0;
    for (unsigned axis = rank; axis-- != 0;) {
      // The outermost axis needs no division: the remainder is its index.
      Index const whole = axis == 0 ? 0 : quotient(rest, extents[axis]);
      Index const index = axis == 0 ? rest : rest - whole * divisor(extents[axis]);
      to += static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(index) * steps[axis]);
      if (axis + 1 == rank) index_in_run = index;
      rest = whole;
    }
    Index const phase =
        divisor(period) == 1 ? 0 : index_in_run - quotient(index_in_run, period) * divisor(period);
#if defined(__AMDGCN__)
    // With an index, hipcc loads the word for each thread, and waits for it before the store.
    if (divisor(period) == 1) {
      copy_word_to(word_at<Word>(to), pattern[0]);
      return;
    }
#endif
    word_at<Word>(to) = pattern[phase];
  }
};

}  // namespace roc::kernels

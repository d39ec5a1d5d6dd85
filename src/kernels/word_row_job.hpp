// SPDX-License-Identifier: MIT
// Copies of rows of words that are not contiguous, as of every second element: the arguments of the
// kernel and the work of one thread; the same on the device and on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/row_division.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/unroll.hpp"
#include "kernels/vector_word.hpp"

namespace roc::kernels {

/// Copies rows of `extent` words, which have any step on either side.
template <class Word>
struct word_row_job {
  /// A thread loads all its words before it stores the first one. Small words need more of them to
  /// have enough bytes in flight.
  static constexpr unsigned words_per_thread = sizeof(Word) < 4 ? 8 : 4;

  strided_job rows;  // each of its words is a row
  std::uint32_t extent = 0;
  std::ptrdiff_t source_step = 0;  // between the words of a row, in bytes
  std::ptrdiff_t destination_step = 0;
  row_division division;  // into words

  /// Copies the words of thread i.
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    row_units const units = division.units_of(i, words_per_thread);
    word_addresses const row = rows.locate(units.row);
    std::uintptr_t const from = row.from + bytes(units.first, source_step);
    std::uintptr_t const to = row.to + bytes(units.first, destination_step);
    std::uintptr_t const from_step = bytes(units.step, source_step);
    std::uintptr_t const to_step = bytes(units.step, destination_step);
    word_register<Word> words[words_per_thread] = {};
    // With `continue`, hipcc waits for some loads before it issues the last one.
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < words_per_thread; ++k) {
      if (units.first + k * units.step >= extent) break;
      copy_word_to(words[k], word_at<Word const>(from + k * from_step));
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < words_per_thread; ++k) {
      if (units.first + k * units.step >= extent) break;
      copy_word_to(word_at<Word>(to + k * to_step), words[k]);
    }
  }

 private:
  ROCARRAY_HOST_DEVICE static std::uintptr_t bytes(std::uint32_t steps, std::ptrdiff_t step) {
    return static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(steps) * step);
  }
};

}  // namespace roc::kernels

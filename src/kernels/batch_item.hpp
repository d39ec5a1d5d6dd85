// SPDX-License-Identifier: MIT
// The items of a batch of small copies, and the work for one item; the same on the device and on
// the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/unroll.hpp"
#include "kernels/vector_word.hpp"

namespace roc::kernels {

/// A copy of `rows` runs of `run` bytes each. Steps are in bytes, and not used if there is one row.
struct batch_item {
  std::uintptr_t source;
  std::uintptr_t destination;
  std::ptrdiff_t source_step;
  std::ptrdiff_t destination_step;
  std::uint32_t run;
  std::uint32_t rows;
};

/// The number of threads that share an item. They need not be one wavefront, because they exchange
/// no data.
inline constexpr unsigned item_threads = 32;

/// Copies every lanes-th word of an item, beginning with word `lane`.
template <class Word>
ROCARRAY_HOST_DEVICE void copy_item_words(batch_item const& item, unsigned lane, unsigned lanes) {
  auto const words_per_run = static_cast<std::uint32_t>(item.run / sizeof(Word));
  std::uint32_t const count = words_per_run * item.rows;
  auto const offset = [&](std::uint32_t i, std::ptrdiff_t step) {
    if (item.rows == 1) return static_cast<std::uintptr_t>(i) * sizeof(Word);
    std::uint32_t const row = i / words_per_run;
    return static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(row) * step) +
           (i - row * words_per_run) * sizeof(Word);
  };
  // Several loads are in flight at once, because the source may be on the other side of the link.
  constexpr unsigned in_flight = 4;
  for (std::uint32_t first = lane; first < count; first += in_flight * lanes) {
    word_register<Word> words[in_flight] = {};
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < in_flight; ++k) {
      std::uint32_t const i = first + k * lanes;
      if (i >= count) break;
      copy_word_to(words[k], word_at<Word const>(item.source + offset(i, item.source_step)));
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < in_flight; ++k) {
      std::uint32_t const i = first + k * lanes;
      if (i >= count) break;
      copy_word_to(word_at<Word>(item.destination + offset(i, item.destination_step)), words[k]);
    }
  }
}

/// Copies the words of an item that belong to thread `lane` of `lanes` threads, in the widest words
/// that fit its addresses, steps and runs.
ROCARRAY_HOST_DEVICE inline void copy_item(batch_item const& item, unsigned lane, unsigned lanes) {
  std::uintptr_t bits = item.source | item.destination | item.run;
  if (item.rows != 1) {
    bits |= static_cast<std::uintptr_t>(item.source_step) |
            static_cast<std::uintptr_t>(item.destination_step);
  }
  if (bits % 16 == 0) return copy_item_words<vector_word>(item, lane, lanes);
  if (bits % 8 == 0) return copy_item_words<std::uint64_t>(item, lane, lanes);
  if (bits % 4 == 0) return copy_item_words<std::uint32_t>(item, lane, lanes);
  if (bits % 2 == 0) return copy_item_words<std::uint16_t>(item, lane, lanes);
  copy_item_words<std::uint8_t>(item, lane, lanes);
}

/// Copies item i as a single thread, as the CPU does.
struct copy_whole_item {
  batch_item const* items;

  void operator()(std::size_t i) const { copy_item(items[i], 0, 1); }
};

}  // namespace roc::kernels

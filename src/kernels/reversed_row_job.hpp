// SPDX-License-Identifier: MIT
// Copies of rows that run in opposite directions on the two sides, in accesses of 16 bytes where
// possible: the arguments of the kernel and the work of one thread; the same on the device and on
// the CPU.
//
// No thread accesses a byte outside of a row. Threads of a warp exchange nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <roc/config.hpp>

#include "kernels/dword.hpp"
#include "kernels/row_division.hpp"
#include "kernels/row_job.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/unroll.hpp"
#include "kernels/vector_word.hpp"

namespace roc::kernels {

/// Copies rows of elements of 1, 2, 4 or 8 bytes in reversed order. Rows are contiguous on both
/// sides, and elements are aligned to their size.
///
/// As in split_row_job, a row of the destination is split at multiples of 16: into whole chunks, of
/// which each thread has one, and the elements before and after them, of which each of the first
/// threads has a few as well. The source is read in words of 4 bytes, or of 8 for elements of 8.
template <class Element>
struct reversed_row_job {
  using word = std::conditional_t<sizeof(Element) == 8, std::uint64_t, std::uint32_t>;
  static constexpr unsigned chunk_bytes = row_chunk::bytes;
  static constexpr bool is_shifted = sizeof(Element) < sizeof(word);  // within words
  /// The most elements before the whole chunks, and after them. If data is shifted within the words
  /// of the source, a chunk reads up to 3 bytes before and after its data, which must belong to the
  /// row.
  static constexpr unsigned max_elements =
      (chunk_bytes + (is_shifted ? 3 : 0)) / sizeof(Element) - 1;
  static constexpr unsigned elements_per_thread = is_shifted ? 3 : 1;
  /// Threads that a row needs for the elements.
  static constexpr unsigned min_threads =
      (2 * max_elements + elements_per_thread - 1) / elements_per_thread;

  strided_job rows;  // each of its words is a row, whose address is its lowest one
  std::size_t row_bytes = 0;
  row_division division;  // into chunks, one for each thread

  /// Copies the chunk and the elements of thread i.
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    row_units const units = division.units_of(i, 1);
    word_addresses const row = rows.locate(units.row);
    std::uintptr_t const source_end = row.from + row_bytes;
    // Bytes of the row before the first chunk. The data of chunks begins `shift` bytes after the
    // beginning of a word of the source. The rest of that word and of the last one belong to the
    // elements after and before the chunk, because the source runs backwards.
    auto head = static_cast<std::uint32_t>(0 - row.to) % chunk_bytes;
    unsigned const shift = shift_of(source_end - head);
    if (shift != 0 && head < sizeof(word) - shift) head += chunk_bytes;
    if (head > row_bytes) head = static_cast<std::uint32_t>(row_bytes);
    std::size_t const rest = row_bytes - head;
    std::size_t const body = rest < shift ? 0 : (rest - shift) / chunk_bytes;
    std::size_t const tail_offset = head + body * chunk_bytes;
    auto const tail = static_cast<std::uint32_t>(row_bytes - tail_offset);

    bool const has_chunk = units.first < body;
    std::size_t const chunk_offset = head + std::size_t{units.first} * chunk_bytes;
    word words[chunk::count + 1] = {};
    if (has_chunk) {
      std::uintptr_t const from = source_end - chunk_offset - chunk_bytes - shift;
      ROCARRAY_UNROLL
      for (unsigned k = 0; k < chunk::count; ++k) {
        words[k] = word_at<word const>(from + k * sizeof(word));
      }
      if (shift != 0) words[chunk::count] = word_at<word const>(from + chunk_bytes);
    }
    // The elements have registers of their own: all loads are in flight at once.
    word_register<Element> elements[elements_per_thread] = {};
    std::size_t offsets[elements_per_thread];
    bool has_element[elements_per_thread];
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < elements_per_thread; ++k) {
      // Threads of later segments of a row have no elements: this is at least 2 * max_elements.
      std::uint32_t const element = units.first + k * units.step;
      bool const is_head = element < max_elements;
      std::uint32_t const index = is_head ? element : element - max_elements;
      has_element[k] = index < (is_head ? head : tail) / sizeof(Element);
      offsets[k] = (is_head ? 0 : tail_offset) + index * sizeof(Element);
      if (has_element[k]) {
        elements[k] = word_at<Element const>(source_end - offsets[k] - sizeof(Element));
      }
    }

    if (has_chunk) {
      chunk result;
      ROCARRAY_UNROLL
      for (unsigned k = 0; k < chunk::count; ++k) {
        constexpr unsigned last = chunk::count - 1;
        word const data = shifted_word(words[last - k], words[last - k + 1], shift);
        result.words[k] = reversed(data, sizeof(Element));
      }
      word_at<chunk>(row.to + chunk_offset) = result;
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < elements_per_thread; ++k) {
      if (has_element[k]) copy_word_to(word_at<Element>(row.to + offsets[k]), elements[k]);
    }
  }

 private:
  // 16 bytes of a row of the destination.
  struct alignas(chunk_bytes) chunk {
    static constexpr unsigned count = chunk_bytes / sizeof(word);

    word words[count];
  };

  // Returns the offset of an address within its word.
  ROCARRAY_HOST_DEVICE static unsigned shift_of(std::uintptr_t address) {
    return is_shifted ? static_cast<unsigned>(address % sizeof(word)) : 0;
  }
  // Returns the word that begins `bytes` bytes after the beginning of `data`, if `next` follows it.
  ROCARRAY_HOST_DEVICE static word shifted_word(word data, [[maybe_unused]] word next,
                                                [[maybe_unused]] unsigned bytes) {
    if constexpr (is_shifted) {
      return shifted(data, next, bytes);
    } else {
      return data;
    }
  }
};

/// Divides each row into as many equal parts as it has segments, and copies one part as a single
/// thread. The CPU does so.
template <class Element>
struct copy_reversed_segment {
  reversed_row_job<Element> job;

  void operator()(std::size_t i) const {
    std::size_t const segments = job.division.segments.divisor;
    std::size_t const count = job.row_bytes / sizeof(Element);
    std::size_t const segment_count = (count + segments - 1) / segments;
    // The last parts may be empty, because the sizes are rounded up.
    std::size_t const begin = std::min(i % segments * segment_count, count);
    std::size_t const end = std::min(begin + segment_count, count);
    word_addresses const row = job.rows.locate(i / segments);
    reverse(reinterpret_cast<Element const*>(row.from) + (count - end),
            reinterpret_cast<Element*>(row.to) + begin, end - begin);
  }

 private:
  // Copies `count` elements in reversed order.
  static void reverse(Element const* from, Element* to, std::size_t count) {
    // In words of 8 bytes: for elements of 1 byte, a loop over elements takes four times as long.
    constexpr std::size_t step = sizeof(std::uint64_t) / sizeof(Element);
    for (; count >= step; count -= step) {
      std::uint64_t word;
      std::memcpy(&word, from + (count - step), sizeof word);
      word = reversed(word, sizeof(Element));
      std::memcpy(to, &word, sizeof word);
      to += step;
    }
    std::reverse_copy(from, from + count, to);
  }
};

}  // namespace roc::kernels

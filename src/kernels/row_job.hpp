// SPDX-License-Identifier: MIT
// Copies of rows that begin at any byte, in accesses of 16 bytes where possible: the arguments of
// the row kernels and the work of one thread; the same on the device and on the CPU.
//
// No thread accesses a byte outside of a row: the bytes next to it may be beyond the allocation,
// uninitialized, or written by other threads. Threads of a warp exchange nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <roc/config.hpp>

#include "kernels/dword.hpp"
#include "kernels/row_division.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/unroll.hpp"

namespace roc::kernels {

/// 16 bytes of a row, as four dwords. The destination is written in chunks at multiples of 16.
struct alignas(16) row_chunk {
  static constexpr unsigned bytes = 16;
  static constexpr unsigned dword = 4;
  static constexpr unsigned count = bytes / dword;

  std::uint32_t dwords[count] = {};
};

/// The arguments of a copy of rows of `run` bytes, which are contiguous on both sides.
struct row_arguments {
  strided_job rows;  // each of its words is a row
  std::size_t run = 0;
  row_division division;  // into chunks, one for each thread
};

/// The part of a row near a chunk of the destination: positions [begin, end), in bytes from the
/// beginning of the chunk. Both are multiples of 4.
struct row_part {
  int begin;
  int end;

  /// Reads the chunk at `position`, whose address is `from`, if the row has all of its dwords.
  ///
  /// Separate from read_part, so that later loads need not wait for this one.
  ROCARRAY_HOST_DEVICE void read_whole(std::uintptr_t from, int position, row_chunk& chunk) const {
    if (has_whole(position)) chunk = word_at<row_chunk const>(from);
  }
  /// Reads the dwords that the row has of the chunk at `position`, if it has only some of them.
  ROCARRAY_HOST_DEVICE void read_part(std::uintptr_t from, int position, row_chunk& chunk) const {
    if (has_whole(position)) return;
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < row_chunk::count; ++k) {
      unsigned const offset = k * row_chunk::dword;
      if (has_dword(position + static_cast<int>(offset))) {
        chunk.dwords[k] = word_at<std::uint32_t const>(from + offset);
      }
    }
  }
  /// Writes the dwords that the row has of the chunk at position 0, whose address is `to`.
  ROCARRAY_HOST_DEVICE void write(std::uintptr_t to, row_chunk const& chunk) const {
    if (has_whole(0)) {
      word_at<row_chunk>(to) = chunk;
      return;
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < row_chunk::count; ++k) {
      unsigned const offset = k * row_chunk::dword;
      if (has_dword(static_cast<int>(offset))) {
        word_at<std::uint32_t>(to + offset) = chunk.dwords[k];
      }
    }
  }

 private:
  ROCARRAY_HOST_DEVICE bool has_whole(int position) const {
    return position >= begin && position + static_cast<int>(row_chunk::bytes) <= end;
  }
  ROCARRAY_HOST_DEVICE bool has_dword(int position) const {
    return position >= begin && position < end;
  }
};

/// Copies rows whose beginnings and lengths are multiples of 4. A row of the destination is divided
/// into chunks from a multiple of `alignment` on. A thread copies one chunk, or the dwords of it
/// that the row has.
struct row_job : row_arguments {
  /// Bytes of a sector. Each memory access moves whole sectors.
  static constexpr unsigned alignment = 32;

  /// Copies the chunk of thread i.
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    row_units const units = division.units_of(i, 1);
    word_addresses const row = rows.locate(units.row);
    // The offset of the chunk from the beginning of the row: negative if the chunk begins before
    // it.
    std::ptrdiff_t const offset = std::ptrdiff_t{units.first} * row_chunk::bytes -
                                  static_cast<std::ptrdiff_t>(row.to % alignment);
    std::uintptr_t const to = row.to + static_cast<std::uintptr_t>(offset);
    // The chunk's data begins `shift` bytes after the beginning of a chunk of the source.
    auto const shift = static_cast<int>((row.from - row.to) % row_chunk::bytes);
    std::uintptr_t const from =
        row.from + static_cast<std::uintptr_t>(offset) - static_cast<unsigned>(shift);

    // Clamped to int: only positions within one chunk of the source matter.
    constexpr int size = row_chunk::bytes;
    std::ptrdiff_t const rest = static_cast<std::ptrdiff_t>(run) - offset;
    row_part const part{offset > size ? -size : static_cast<int>(-offset),
                        rest > 2 * size ? 2 * size : static_cast<int>(rest)};
    row_chunk chunk;
    row_chunk next;  // follows it in the source, if the data has parts of both
    // All wide loads are in flight before the first of the narrow ones at the ends of rows.
    part.read_whole(from, -shift, chunk);
    if (shift != 0) part.read_whole(from + row_chunk::bytes, size - shift, next);
    part.read_part(from, -shift, chunk);
    if (shift != 0) part.read_part(from + row_chunk::bytes, size - shift, next);
    part.write(to, shifted(chunk, next, static_cast<unsigned>(shift)));
  }

 private:
  // Returns the 16 bytes that begin `bytes` bytes (0, 4, 8 or 12) after the beginning of `chunk`,
  // if `next` follows it in memory. Uses no index that depends on `bytes`, which would put the
  // dwords into scratch memory.
  ROCARRAY_HOST_DEVICE static row_chunk shifted(row_chunk const& chunk, row_chunk const& next,
                                                unsigned bytes) {
    constexpr unsigned count = row_chunk::count;
    bool const by_two = bytes & (2 * row_chunk::dword);
    bool const by_one = bytes & row_chunk::dword;
    std::uint32_t dwords[2 * count];
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < count; ++k) {
      dwords[k] = chunk.dwords[k];
      dwords[count + k] = next.dwords[k];
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k <= count; ++k) dwords[k] = select(by_two, dwords[k + 2], dwords[k]);
    row_chunk result;
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < count; ++k) {
      result.dwords[k] = select(by_one, dwords[k + 1], dwords[k]);
    }
    return result;
  }
  // Returns the first value if the condition is true, else the second one. A conditional operator
  // between two elements of an array chooses an address: for AMD, hipcc makes it an index, and
  // compares that with the numbers of all elements.
  ROCARRAY_HOST_DEVICE static std::uint32_t select(bool condition, std::uint32_t if_true,
                                                   std::uint32_t if_false) {
    return condition ? if_true : if_false;
  }
};

/// Copies rows whose beginnings and lengths are multiples of a Word of 1 or 4 bytes. A row is split
/// at multiples of 16 of the destination: into whole chunks, of which each thread has one, and the
/// words before and after them, of which each of the first threads has a few as well. The source is
/// read in dwords.
///
/// Compared with row_job, the words at the ends belong to several threads: none of them waits for
/// many narrow accesses. But a row has more narrow accesses.
template <class Word>
struct split_row_job : row_arguments {
  static constexpr bool is_shifted = sizeof(Word) < row_chunk::dword;  // within dwords
  /// The most words before the whole chunks, and after them. If data is shifted within the dwords
  /// of the source, a chunk reads up to 3 bytes before and after its data, which must belong to the
  /// row.
  static constexpr unsigned max_words =
      (row_chunk::bytes + (is_shifted ? 3 : 0)) / sizeof(Word) - 1;
  static constexpr unsigned words_per_thread = is_shifted ? 3 : 1;
  /// Threads that a row needs for the words.
  static constexpr unsigned min_threads = (2 * max_words + words_per_thread - 1) / words_per_thread;

  /// Copies the chunk and the words of thread i.
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    row_units const units = division.units_of(i, 1);
    word_addresses const row = rows.locate(units.row);
    // Bytes of the row before the first chunk, and of the source's dword before the chunk's data.
    auto head = static_cast<std::uint32_t>(0 - row.to) % row_chunk::bytes;
    unsigned const shift = shift_of(row.from + head);
    if (head < shift) head += row_chunk::bytes;
    if (head > run) head = static_cast<std::uint32_t>(run);
    std::size_t const rest = run - head;
    unsigned const read_after = shift == 0 ? 0 : row_chunk::dword - shift;
    std::size_t const body = rest < read_after ? 0 : (rest - read_after) / row_chunk::bytes;
    std::size_t const tail_offset = head + body * row_chunk::bytes;
    auto const tail = static_cast<std::uint32_t>(run - tail_offset);

    bool const has_chunk = units.first < body;
    std::size_t const chunk_offset = head + std::size_t{units.first} * row_chunk::bytes;
    constexpr unsigned count = row_chunk::count;
    std::uint32_t dwords[count + 1] = {};
    if (has_chunk) {
      std::uintptr_t const from = row.from + chunk_offset - shift;
      ROCARRAY_UNROLL
      for (unsigned k = 0; k < count; ++k) {
        dwords[k] = word_at<std::uint32_t const>(from + k * row_chunk::dword);
      }
      if (shift != 0) dwords[count] = word_at<std::uint32_t const>(from + row_chunk::bytes);
    }
    // The words have registers of their own: all loads are in flight at once.
    word_register<Word> words[words_per_thread] = {};
    std::size_t offsets[words_per_thread];
    bool has_word[words_per_thread];
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < words_per_thread; ++k) {
      // Threads of later segments of a row have no words: this is at least 2 * max_words.
      std::uint32_t const word = units.first + k * units.step;
      bool const is_head = word < max_words;
      std::uint32_t const index = is_head ? word : word - max_words;
      has_word[k] = index < (is_head ? head : tail) / sizeof(Word);
      offsets[k] = (is_head ? 0 : tail_offset) + index * sizeof(Word);
      if (has_word[k]) words[k] = word_at<Word const>(row.from + offsets[k]);
    }

    if (has_chunk) {
      row_chunk chunk;
      ROCARRAY_UNROLL
      for (unsigned k = 0; k < count; ++k) {
        chunk.dwords[k] = is_shifted ? shifted(dwords[k], dwords[k + 1], shift) : dwords[k];
      }
      word_at<row_chunk>(row.to + chunk_offset) = chunk;
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < words_per_thread; ++k) {
      if (has_word[k]) copy_word_to(word_at<Word>(row.to + offsets[k]), words[k]);
    }
  }

 private:
  // Returns the offset of an address within its dword.
  ROCARRAY_HOST_DEVICE static unsigned shift_of(std::uintptr_t address) {
    return is_shifted ? static_cast<unsigned>(address % row_chunk::dword) : 0;
  }
};

/// Divides each row into as many equal parts as it has segments, and copies one part as a single
/// thread. The CPU does so, for the job of either kernel.
struct copy_row_segment {
  row_arguments job;

  void operator()(std::size_t i) const {
    std::size_t const segments = job.division.segments.divisor;
    std::size_t const segment_bytes = (job.run + segments - 1) / segments;
    // The last parts may be empty, because the sizes are rounded up.
    std::size_t const begin = std::min(i % segments * segment_bytes, job.run);
    std::size_t const bytes = std::min(segment_bytes, job.run - begin);
    word_addresses const row = job.rows.locate(i / segments);
    std::memcpy(reinterpret_cast<std::byte*>(row.to + begin),
                reinterpret_cast<std::byte const*>(row.from + begin), bytes);
  }
};

}  // namespace roc::kernels

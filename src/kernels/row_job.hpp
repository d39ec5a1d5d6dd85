// SPDX-License-Identifier: MIT
// Copies of rows that begin at any byte, in accesses of 16 bytes: the arguments of the row kernel
// and the work of one thread; the same on the device and on the CPU.
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

/// 16 bytes at a multiple of 16, of which a row has all or a part, as four dwords.
struct alignas(16) row_chunk {
  static constexpr unsigned bytes = 16;
  static constexpr unsigned dword = 4;
  static constexpr unsigned count = bytes / dword;

  std::uint32_t dwords[count] = {};
};

/// Returns the 16 bytes that begin `bytes` bytes (0 to 15) after the beginning of `chunk`, if
/// `next` follows it in memory. Without an index that depends on `bytes`, which would put the
/// dwords into scratch memory.
ROCARRAY_HOST_DEVICE inline row_chunk shifted(row_chunk const& chunk, row_chunk const& next,
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
  for (unsigned k = 0; k < count + 2; ++k) dwords[k] = by_two ? dwords[k + 2] : dwords[k];
  ROCARRAY_UNROLL
  for (unsigned k = 0; k < count + 1; ++k) dwords[k] = by_one ? dwords[k + 1] : dwords[k];
  row_chunk result;
  ROCARRAY_UNROLL
  for (unsigned k = 0; k < count; ++k) {
    result.dwords[k] = shifted(dwords[k], dwords[k + 1], bytes % row_chunk::dword);
  }
  return result;
}

/// The bytes [begin, end) of one side of a row, of which there are at least 4. Reads and writes
/// chunks, and accesses no byte outside of the row: the bytes next to it may be beyond the
/// allocation, uninitialized, or written by other threads.
struct row_bytes {
  std::uintptr_t begin;
  std::uintptr_t end;

  /// Reads the chunk at `address` if the row has all of its bytes.
  ///
  /// Apart from read_part: this is one load under a condition, which the following loads need not
  /// wait for.
  ROCARRAY_HOST_DEVICE void read_whole(std::uintptr_t address, row_chunk& chunk) const {
    if (!has_whole(address)) return;
    row_chunk const source = at<row_chunk const>(address);  // one access; nvcc does not join dwords
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < row_chunk::count; ++k) chunk.dwords[k] = source.dwords[k];
  }

  /// Reads the chunk at `address` if the row has only a part of its bytes. The others are not
  /// specified.
  ROCARRAY_HOST_DEVICE void read_part(std::uintptr_t address, row_chunk& chunk) const {
    if (has_whole(address) || !has_part(address)) return;
    // The bytes of the dwords that the row has only in part: at most one at each of its ends.
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    if (begins_within(address)) {
      if (begin % 2 != 0) first = std::uint32_t{at<std::uint8_t>(begin)} << (8 * (begin % 4));
      if (begin % 4 != 3) first |= std::uint32_t{at<std::uint16_t>(begin - begin % 4 + 2)} << 16;
    }
    if (ends_within(address)) {
      if (end % 4 >= 2) last = at<std::uint16_t>(end - end % 4);
      if (end % 2 != 0) {
        last |= std::uint32_t{at<std::uint8_t>(end - 1)} << (8 * (end % 4 - 1));
      }
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < row_chunk::count; ++k) {
      std::uintptr_t const dword = address + k * row_chunk::dword;
      if (dword >= begin && dword + row_chunk::dword <= end) {
        chunk.dwords[k] = at<std::uint32_t>(dword);
      } else {
        chunk.dwords[k] = dword < begin ? first : last;
      }
    }
  }

  /// Writes the bytes of the chunk at `address` that the row has.
  ROCARRAY_HOST_DEVICE void write(std::uintptr_t address, row_chunk const& chunk) const {
    if (has_whole(address)) {
      auto& destination = at<row_chunk>(address);
      ROCARRAY_UNROLL
      for (unsigned k = 0; k < row_chunk::count; ++k) destination.dwords[k] = chunk.dwords[k];
      return;
    }
    if (!has_part(address)) return;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < row_chunk::count; ++k) {
      std::uintptr_t const dword = address + k * row_chunk::dword;
      if (dword >= begin && dword + row_chunk::dword <= end) {
        at<std::uint32_t>(dword) = chunk.dwords[k];
      }
      if (dword == begin - begin % 4) first = chunk.dwords[k];
      if (dword == end - end % 4) last = chunk.dwords[k];
    }
    if (begins_within(address)) {
      if (begin % 2 != 0) {
        at<std::uint8_t>(begin) = static_cast<std::uint8_t>(first >> (8 * (begin % 4)));
      }
      if (begin % 4 != 3) {
        at<std::uint16_t>(begin - begin % 4 + 2) = static_cast<std::uint16_t>(first >> 16);
      }
    }
    if (ends_within(address)) {
      if (end % 4 >= 2) at<std::uint16_t>(end - end % 4) = static_cast<std::uint16_t>(last);
      if (end % 2 != 0) {
        at<std::uint8_t>(end - 1) = static_cast<std::uint8_t>(last >> (8 * (end % 4 - 1)));
      }
    }
  }

 private:
  template <class Word>
  ROCARRAY_HOST_DEVICE static Word& at(std::uintptr_t address) {
    return *reinterpret_cast<Word*>(address);
  }

  // Returns true if the row has all bytes, or any byte, of the chunk at `address`.
  ROCARRAY_HOST_DEVICE bool has_whole(std::uintptr_t address) const {
    return address >= begin && address + row_chunk::bytes <= end;
  }
  ROCARRAY_HOST_DEVICE bool has_part(std::uintptr_t address) const {
    return address + row_chunk::bytes > begin && address < end;
  }
  // Returns true if the row begins, or ends, within a dword of the chunk at `address`.
  ROCARRAY_HOST_DEVICE bool begins_within(std::uintptr_t address) const {
    return begin % row_chunk::dword != 0 && begin - begin % row_chunk::bytes == address;
  }
  ROCARRAY_HOST_DEVICE bool ends_within(std::uintptr_t address) const {
    return end % row_chunk::dword != 0 && end - end % row_chunk::bytes == address;
  }
};

/// Copies rows of `run` bytes, at least 4, which are contiguous on both sides. A row of the
/// destination is divided into chunks, from a multiple of `alignment` on.
template <unsigned Chunks>
struct row_job {
  static constexpr unsigned chunks_per_thread = Chunks;
  /// Bytes of a sector. Each memory access moves whole sectors.
  static constexpr unsigned alignment = 32;

  strided_job<std::uint32_t> rows;  // each of its words is a row
  std::size_t run = 0;
  row_division division;  // into chunks, of which there are enough for rows of any alignment

  /// Copies the chunks of thread i.
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    row_units const units = division.units_of(i, chunks_per_thread);
    word_addresses const row = rows.locate(units.row);
    row_bytes const source{row.from, row.from + run};
    row_bytes const destination{row.to, row.to + run};

    std::uintptr_t const to =
        row.to - row.to % alignment + std::uintptr_t{units.first} * row_chunk::bytes;
    std::uintptr_t const from = to + (row.from - row.to);
    std::uintptr_t const step = std::uintptr_t{units.step} * row_chunk::bytes;
    auto const shift = static_cast<unsigned>(from % row_chunk::bytes);
    row_chunk chunks[chunks_per_thread];
    row_chunk next[chunks_per_thread];  // the chunks that follow them, if the source is shifted
    // All wide loads are in flight before the first of the narrow ones at the ends of rows.
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < chunks_per_thread; ++k) {
      std::uintptr_t const address = from - shift + k * step;
      source.read_whole(address, chunks[k]);
      if (shift != 0) source.read_whole(address + row_chunk::bytes, next[k]);
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < chunks_per_thread; ++k) {
      std::uintptr_t const address = from - shift + k * step;
      source.read_part(address, chunks[k]);
      if (shift != 0) source.read_part(address + row_chunk::bytes, next[k]);
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < chunks_per_thread; ++k) {
      destination.write(to + k * step, shifted(chunks[k], next[k], shift));
    }
  }
};

/// Copies segment i of all rows as a single thread, as the CPU does.
template <unsigned Chunks>
struct copy_row_segment {
  row_job<Chunks> job;

  void operator()(std::size_t i) const {
    std::size_t const segment_bytes =
        std::size_t{job.division.threads.divisor} * Chunks * row_chunk::bytes;
    std::size_t const row = i / job.division.segments.divisor;
    // The last segments are empty if the row has no bytes for them: their number allows for rows
    // that begin at any byte.
    std::size_t const begin = std::min(i % job.division.segments.divisor * segment_bytes, job.run);
    std::size_t const bytes = std::min(segment_bytes, job.run - begin);
    word_addresses const addresses = job.rows.locate(row);
    std::memcpy(reinterpret_cast<std::byte*>(addresses.to + begin),
                reinterpret_cast<std::byte const*>(addresses.from + begin), bytes);
  }
};

}  // namespace roc::kernels

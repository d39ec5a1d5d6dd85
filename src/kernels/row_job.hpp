// SPDX-License-Identifier: MIT
// Copies of rows that begin at any byte, in dwords: the arguments of the row kernel and the work
// for one index; the same on the device and on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/dword.hpp"
#include "kernels/fast_divmod.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/unroll.hpp"

namespace roc::kernels {

/// The 16 bytes of a destination row that begin at a multiple of 16. The first and the last chunk
/// of a row may extend beyond it.
struct row_chunk {
  static constexpr int bytes = 16;
  static constexpr int dword = 4;
  static constexpr int count = bytes / dword;

  std::uintptr_t to;
  int begin;  // byte offset from the row's beginning; negative if the chunk begins before the row
  std::uint32_t dwords[count];
};

/// Copies rows of `run` bytes, which are contiguous on both sides. Index i is chunk
/// i % chunks_per_row of row i / chunks_per_row.
struct row_job {
  strided_job<std::uint32_t> rows;
  std::uintptr_t source_low = 0;  // the source is in [source_low, source_high)
  std::uintptr_t source_high = 0;
  int run = 0;
  fast_divmod chunks_per_row;  // the maximum for a row of any alignment
  std::size_t count = 0;       // of chunks

  /// Reads chunk i: aligned dwords of the source, shifted to the alignment of the destination.
  /// Returns false if the row has no such chunk.
  ROCARRAY_HOST_DEVICE bool read(std::size_t i, row_chunk& chunk) const {
    auto const index = static_cast<std::uint32_t>(i);
    std::uint32_t const row = chunks_per_row.quotient(index);
    word_addresses const row_begin = rows.locate(row);
    chunk.begin = static_cast<int>(index - row * chunks_per_row.divisor) * row_chunk::bytes -
                  static_cast<int>(row_begin.to % row_chunk::bytes);
    if (chunk.begin >= run) return false;
    auto const begin = static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(chunk.begin));
    chunk.to = row_begin.to + begin;
    std::uintptr_t const from = row_begin.from + begin;
    auto const misalignment = static_cast<unsigned>(from % row_chunk::dword);
    std::uintptr_t const first = from - misalignment;
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    // Dwords may be read beyond the row, if they are within the source's range: these bytes are
    // valid memory, and are not used.
    std::uintptr_t const low = source_low;
    std::uintptr_t const high = source_high;
#else
    // On the CPU other threads may write the bytes next to the row, which a race detector would
    // report.
    std::uintptr_t const low = row_begin.from;
    std::uintptr_t const high = row_begin.from + static_cast<std::uintptr_t>(run);
#endif
    if (first < low || first + row_chunk::bytes + row_chunk::dword > high) {
      read_bytes(chunk, from);
      return true;
    }
    auto const* const source = reinterpret_cast<std::uint32_t const*>(first);
    std::uint32_t dwords[row_chunk::count + 1];
    ROCARRAY_UNROLL
    for (int k = 0; k <= row_chunk::count; ++k) dwords[k] = source[k];
    ROCARRAY_UNROLL
    for (int k = 0; k < row_chunk::count; ++k) {
      chunk.dwords[k] = shifted(dwords[k], dwords[k + 1], misalignment);
    }
    return true;
  }

  /// Writes a chunk. At the ends of the row it writes dwords and bytes, and nothing beyond the row.
  ROCARRAY_HOST_DEVICE void write(row_chunk const& chunk) const {
    if (chunk.begin >= 0 && chunk.begin + row_chunk::bytes <= run) {
      *reinterpret_cast<vector_word*>(chunk.to) = {
          std::uint64_t{chunk.dwords[1]} << 32 | chunk.dwords[0],
          std::uint64_t{chunk.dwords[3]} << 32 | chunk.dwords[2]};
      return;
    }
    ROCARRAY_UNROLL
    for (int k = 0; k < row_chunk::count; ++k) {
      int const first = chunk.begin + k * row_chunk::dword;
      std::uintptr_t const to = chunk.to + static_cast<std::uintptr_t>(k) * row_chunk::dword;
      if (first >= 0 && first + row_chunk::dword <= run) {
        *reinterpret_cast<std::uint32_t*>(to) = chunk.dwords[k];
        continue;
      }
      ROCARRAY_UNROLL
      for (int byte = 0; byte < row_chunk::dword; ++byte) {
        if (first + byte < 0 || first + byte >= run) continue;
        *reinterpret_cast<std::uint8_t*>(to + static_cast<std::uintptr_t>(byte)) =
            static_cast<std::uint8_t>(chunk.dwords[k] >> (8 * byte));
      }
    }
  }

  /// Copies chunk i as a single thread, as the CPU does.
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    row_chunk chunk;
    if (read(i, chunk)) write(chunk);
  }

 private:
  // Reads a chunk byte by byte, because its dwords extend beyond the memory that may be read.
  ROCARRAY_HOST_DEVICE void read_bytes(row_chunk& chunk, std::uintptr_t from) const {
    ROCARRAY_UNROLL
    for (int k = 0; k < row_chunk::count; ++k) {
      chunk.dwords[k] = 0;
      for (int byte = 0; byte < row_chunk::dword; ++byte) {
        int const offset = k * row_chunk::dword + byte;
        if (chunk.begin + offset < 0 || chunk.begin + offset >= run) continue;
        std::uint32_t const value =
            *reinterpret_cast<std::uint8_t const*>(from + static_cast<std::uintptr_t>(offset));
        chunk.dwords[k] |= value << (8 * byte);
      }
    }
  }
};

}  // namespace roc::kernels

// SPDX-License-Identifier: MIT
// Rows that begin anywhere, by words: what the row kernel does with one index; the same on the
// device and on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/fast_divmod.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/unroll.hpp"
#include "kernels/words.hpp"

namespace roc::kernels {

/// 16 bytes of a row, as they lie in the destination from a multiple of 16 on.
struct row_part {
  static constexpr int bytes = 16;
  static constexpr int word = 4;
  static constexpr int count = bytes / word;

  std::uintptr_t to;
  int begin;  // in bytes from the row's beginning, which may lie behind it
  std::uint32_t words[count];
};

/// A row is contiguous on both sides; the parts of one follow each other.
struct row_job {
  strided_job<std::uint32_t> rows;
  // Between them lies all of the source.
  std::uintptr_t source_low = 0;
  std::uintptr_t source_high = 0;
  int run = 0;    // bytes of a row
  fast_divmod parts;  // that a row may have, wherever it begins
  std::size_t count = 0;

  /// Finds a part, and reads it by words of the source, which are put together as the destination
  /// has them. False where the row has no such part.
  ROCARRAY_HOST_DEVICE bool read(std::size_t i, row_part& part) const {
    auto const index = static_cast<std::uint32_t>(i);
    std::uint32_t const row = parts.quotient(index);
    unit_place const at = rows.locate(row);
    part.begin = static_cast<int>(index - row * parts.divisor) * row_part::bytes -
                 static_cast<int>(at.to % row_part::bytes);
    if (part.begin >= run) return false;
    auto const begin = static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(part.begin));
    part.to = at.to + begin;
    std::uintptr_t const from = at.from + begin;
    auto const ahead = static_cast<unsigned>(from % row_part::word);
    std::uintptr_t const first = from - ahead;
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    // What lies beside a row is the source's memory too, or in a gap of it: it is read, not used.
    std::uintptr_t const low = source_low;
    std::uintptr_t const high = source_high;
#else
    // Other threads may write it meanwhile, and who watches over races would say so.
    std::uintptr_t const low = at.from;
    std::uintptr_t const high = at.from + static_cast<std::uintptr_t>(run);
#endif
    if (first < low || first + row_part::bytes + row_part::word > high) {
      read_bytes(part, from);
      return true;
    }
    auto const* const source = reinterpret_cast<std::uint32_t const*>(first);
    std::uint32_t words[row_part::count + 1];
    ROCARRAY_UNROLL
    for (int k = 0; k <= row_part::count; ++k) words[k] = source[k];
    ROCARRAY_UNROLL
    for (int k = 0; k < row_part::count; ++k) {
      part.words[k] = shifted(words[k], words[k + 1], ahead);
    }
    return true;
  }

  /// Writes a part; at the row's ends by words and bytes: what lies beyond them is others'.
  ROCARRAY_HOST_DEVICE void write(row_part const& part) const {
    if (part.begin >= 0 && part.begin + row_part::bytes <= run) {
      *reinterpret_cast<unit16*>(part.to) = {
          std::uint64_t{part.words[1]} << 32 | part.words[0],
          std::uint64_t{part.words[3]} << 32 | part.words[2]};
      return;
    }
    ROCARRAY_UNROLL
    for (int k = 0; k < row_part::count; ++k) {
      int const first = part.begin + k * row_part::word;
      std::uintptr_t const to = part.to + static_cast<std::uintptr_t>(k) * row_part::word;
      if (first >= 0 && first + row_part::word <= run) {
        *reinterpret_cast<std::uint32_t*>(to) = part.words[k];
        continue;
      }
      ROCARRAY_UNROLL
      for (int byte = 0; byte < row_part::word; ++byte) {
        if (first + byte < 0 || first + byte >= run) continue;
        *reinterpret_cast<std::uint8_t*>(to + static_cast<std::uintptr_t>(byte)) =
            static_cast<std::uint8_t>(part.words[k] >> (8 * byte));
      }
    }
  }

  /// What the CPU does with one index.
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    row_part part;
    if (read(i, part)) write(part);
  }

 private:
  // Where the words that it lies in reach beyond what may be read.
  ROCARRAY_HOST_DEVICE void read_bytes(row_part& part, std::uintptr_t from) const {
    ROCARRAY_UNROLL
    for (int k = 0; k < row_part::count; ++k) {
      part.words[k] = 0;
      for (int byte = 0; byte < row_part::word; ++byte) {
        int const place = k * row_part::word + byte;
        if (part.begin + place < 0 || part.begin + place >= run) continue;
        std::uint32_t const value = *reinterpret_cast<std::uint8_t const*>(
            from + static_cast<std::uintptr_t>(place));
        part.words[k] |= value << (8 * byte);
      }
    }
  }
};

}  // namespace roc::kernels

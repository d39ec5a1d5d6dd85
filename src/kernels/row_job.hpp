// SPDX-License-Identifier: MIT
// Rows that begin anywhere, by words: what the row kernel does with one index; the same on the
// device and on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/divider.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/unroll.hpp"
#include "kernels/words.hpp"

namespace roc::kernels {

/// 16 bytes of a row, as they lie in the destination from a multiple of 16 on.
struct row_part {
  static constexpr int bytes = 16;
  static constexpr int word = 4;

  std::uintptr_t from;
  std::uintptr_t to;
  int begin;  // in bytes from the row's beginning, which may lie behind it
  bool inner;  // all words of the source that it takes are the row's
  std::uint32_t words[bytes / word];
};

/// A row is contiguous on both sides; the parts of one follow each other.
struct row_job {
  strided_job<std::uint32_t> rows;
  int run = 0;    // bytes of a row
  divider parts;  // that a row may have, wherever it begins
  std::size_t count = 0;

  /// Finds a part, and reads it where it is an inner one: by words of the source, which are put
  /// together as the destination has them. False where the row has no such part.
  ROC_HOST_DEVICE bool read(std::size_t i, row_part& part) const {
    auto const index = static_cast<std::uint32_t>(i);
    std::uint32_t const row = parts.quotient(index);
    unit_place const at = rows.locate(row);
    part.begin = static_cast<int>(index - row * parts.divisor) * row_part::bytes -
                 static_cast<int>(at.to % row_part::bytes);
    if (part.begin >= run) return false;
    auto const begin = static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(part.begin));
    part.to = at.to + begin;
    part.from = at.from + begin;
    auto const ahead = static_cast<int>(part.from % row_part::word);
    int const first = part.begin - ahead;
    part.inner = first >= 0 && first + row_part::bytes + row_part::word <= run;
    if (!part.inner) return true;
    auto const* const source = reinterpret_cast<std::uint32_t const*>(
        part.from - static_cast<std::uintptr_t>(ahead));
    std::uint32_t const a = source[0];
    std::uint32_t const b = source[1];
    std::uint32_t const c = source[2];
    std::uint32_t const d = source[3];
    std::uint32_t const e = source[4];
    auto const bytes = static_cast<unsigned>(ahead);
    part.words[0] = shifted(a, b, bytes);
    part.words[1] = shifted(b, c, bytes);
    part.words[2] = shifted(c, d, bytes);
    part.words[3] = shifted(d, e, bytes);
    return true;
  }

  /// Writes a part; one at the row's ends byte by byte: beyond them may be memory that is nobody's.
  ROC_HOST_DEVICE void write(row_part const& part) const {
    if (part.inner) {
      *reinterpret_cast<unit16*>(part.to) = {
          std::uint64_t{part.words[1]} << 32 | part.words[0],
          std::uint64_t{part.words[3]} << 32 | part.words[2]};
      return;
    }
    std::uint8_t values[row_part::bytes] = {};  // all are on their way before the first is written
    ROC_UNROLL
    for (int k = 0; k < row_part::bytes; ++k) {
      if (has(part, k)) values[k] = reinterpret_cast<std::uint8_t const*>(part.from)[k];
    }
    ROC_UNROLL
    for (int k = 0; k < row_part::bytes; ++k) {
      if (has(part, k)) reinterpret_cast<std::uint8_t*>(part.to)[k] = values[k];
    }
  }

  /// What the CPU does with one index.
  ROC_HOST_DEVICE void operator()(std::size_t i) const {
    row_part part;
    if (read(i, part)) write(part);
  }

 private:
  ROC_HOST_DEVICE bool has(row_part const& part, int byte) const {
    return part.begin + byte >= 0 && part.begin + byte < run;
  }
};

}  // namespace roc::kernels

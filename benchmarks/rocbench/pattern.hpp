// SPDX-License-Identifier: MIT
// The pattern and the poison of a sample, in host memory.
//
// The 64-bit words of a pattern are all different, and each differs from the same word of other
// samples. Every pattern byte has its top bit set and no poison byte has: a byte that was not
// written, or written to the wrong place, always differs from its expected value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocbench {

/// A byte with a wrong value.
struct mismatch {
  std::size_t offset;  ///< in the compared range
  std::byte expected;
  std::byte actual;
};

/// Writes the pattern of a sample; large ranges are written by several threads.
void write_pattern(std::span<std::byte> bytes, std::uint64_t sample);
/// Returns the first byte that differs from the sample's pattern, if there is one.
std::optional<mismatch> find_pattern_mismatch(std::span<std::byte const> bytes,
                                              std::uint64_t sample);

/// Returns the value that fills destinations and guard bands before the sample.
std::byte poison_byte(std::uint64_t sample);
/// Fills a range with the sample's poison.
void write_poison(std::span<std::byte> bytes, std::uint64_t sample);
/// Returns the first byte that differs from the sample's poison, if there is one.
std::optional<mismatch> find_poison_mismatch(std::span<std::byte const> bytes,
                                             std::uint64_t sample);

}  // namespace rocbench

// SPDX-License-Identifier: MIT
// What the buffers hold while a copy is measured, so that no wrong byte goes unseen.
//
// Every 64-bit word of a pattern differs from every other word of it, and from the same word of
// another sample's pattern. Every byte of a pattern has its top bit set, and no byte of a poison
// has: a byte that was not written, or written outside its place, always differs from what is due.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocbench {

/// A byte that is not what it should be.
struct mismatch {
  std::size_t offset;  ///< from the begin of the compared bytes
  std::byte expected;
  std::byte found;
};

/// Writes the pattern of a sample, with several threads where there is much to write.
void write_pattern(std::span<std::byte> bytes, std::uint64_t sample);
/// The first byte that is not the pattern's.
std::optional<mismatch> find_pattern_mismatch(std::span<std::byte const> bytes,
                                              std::uint64_t sample);

/// The byte that destinations and guard bands are filled with for a sample.
std::byte poison_byte(std::uint64_t sample);
void write_poison(std::span<std::byte> bytes, std::uint64_t sample);
/// The first byte that is not the poison's.
std::optional<mismatch> find_poison_mismatch(std::span<std::byte const> bytes,
                                             std::uint64_t sample);

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "pattern.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "parallel_for.hpp"
#include "pattern_word.hpp"

namespace rocbench {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);

// Calls f(begin, end) for ranges that cover [0, bytes) and start at multiples of 8, in parallel.
template <class F>
void parallel_for_words(std::size_t bytes, F const& f) {
  parallel_for((bytes + word - 1) / word, word, [&](std::size_t begin, std::size_t end) {
    f(begin * word, std::min(end * word, bytes));
  });
}

std::byte pattern_byte(std::size_t offset, std::uint64_t sample) {
  std::byte bytes[word];
  std::uint64_t const value = pattern_word(offset / word, sample);
  std::memcpy(bytes, &value, word);
  return bytes[offset % word];
}

bool matches_pattern(std::span<std::byte const> bytes, std::size_t begin, std::size_t end,
                     std::uint64_t sample) {
  std::uint64_t differences = 0;
  std::size_t offset = begin;
  for (; offset + word <= end; offset += word) {
    std::uint64_t actual;
    std::memcpy(&actual, bytes.data() + offset, word);
    differences |= actual ^ pattern_word(offset / word, sample);
  }
  for (; offset < end; ++offset) {
    differences |= static_cast<std::uint64_t>(bytes[offset] ^ pattern_byte(offset, sample));
  }
  return differences == 0;
}

}  // namespace

void write_pattern(std::span<std::byte> bytes, std::uint64_t sample) {
  parallel_for_words(bytes.size(), [&](std::size_t begin, std::size_t end) {
    std::size_t offset = begin;
    for (; offset + word <= end; offset += word) {
      std::uint64_t const value = pattern_word(offset / word, sample);
      std::memcpy(bytes.data() + offset, &value, word);
    }
    for (; offset < end; ++offset) bytes[offset] = pattern_byte(offset, sample);
  });
}

std::optional<mismatch> find_pattern_mismatch(std::span<std::byte const> bytes,
                                              std::uint64_t sample) {
  std::atomic<bool> same{true};
  parallel_for_words(bytes.size(), [&](std::size_t begin, std::size_t end) {
    if (!matches_pattern(bytes, begin, end, sample)) same = false;
  });
  if (same) return std::nullopt;
  for (std::size_t offset = 0; offset < bytes.size(); ++offset) {
    std::byte const expected = pattern_byte(offset, sample);
    if (bytes[offset] != expected) return mismatch{offset, expected, bytes[offset]};
  }
  return std::nullopt;
}

std::byte poison_byte(std::uint64_t sample) {
  return static_cast<std::byte>((sample * 37 + 11) & 0x7F);
}

void write_poison(std::span<std::byte> bytes, std::uint64_t sample) {
  parallel_for_words(bytes.size(), [&](std::size_t begin, std::size_t end) {
    std::memset(bytes.data() + begin, std::to_integer<int>(poison_byte(sample)), end - begin);
  });
}

std::optional<mismatch> find_poison_mismatch(std::span<std::byte const> bytes,
                                             std::uint64_t sample) {
  std::byte const expected = poison_byte(sample);
  auto const position =
      std::ranges::find_if_not(bytes, [&](std::byte byte) { return byte == expected; });
  if (position == bytes.end()) return std::nullopt;
  return mismatch{static_cast<std::size_t>(position - bytes.begin()), expected, *position};
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "pattern.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "pattern_word.hpp"
#include "pieces.hpp"

namespace rocbench {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);

// Calls f(begin, end) for pieces of [0, bytes) that begin at whole words, each in a thread.
template <class F>
void in_words(std::size_t bytes, F const& f) {
  in_pieces((bytes + word - 1) / word, word, [&](std::size_t begin, std::size_t end) {
    f(begin * word, std::min(end * word, bytes));
  });
}

std::byte pattern_byte(std::size_t offset, std::uint64_t sample) {
  std::byte bytes[word];
  std::uint64_t const value = pattern_word(offset / word, sample);
  std::memcpy(bytes, &value, word);
  return bytes[offset % word];
}

bool holds_pattern(std::span<std::byte const> bytes, std::size_t begin, std::size_t end,
                   std::uint64_t sample) {
  std::uint64_t differences = 0;
  std::size_t at = begin;
  for (; at + word <= end; at += word) {
    std::uint64_t found;
    std::memcpy(&found, bytes.data() + at, word);
    differences |= found ^ pattern_word(at / word, sample);
  }
  for (; at < end; ++at) {
    differences |= static_cast<std::uint64_t>(bytes[at] ^ pattern_byte(at, sample));
  }
  return differences == 0;
}

}  // namespace

void write_pattern(std::span<std::byte> bytes, std::uint64_t sample) {
  in_words(bytes.size(), [&](std::size_t begin, std::size_t end) {
    std::size_t at = begin;
    for (; at + word <= end; at += word) {
      std::uint64_t const value = pattern_word(at / word, sample);
      std::memcpy(bytes.data() + at, &value, word);
    }
    for (; at < end; ++at) bytes[at] = pattern_byte(at, sample);
  });
}

std::optional<mismatch> find_pattern_mismatch(std::span<std::byte const> bytes,
                                              std::uint64_t sample) {
  std::atomic<bool> same{true};
  in_words(bytes.size(), [&](std::size_t begin, std::size_t end) {
    if (!holds_pattern(bytes, begin, end, sample)) same = false;
  });
  if (same) return std::nullopt;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::byte const expected = pattern_byte(at, sample);
    if (bytes[at] != expected) return mismatch{at, expected, bytes[at]};
  }
  return std::nullopt;
}

std::byte poison_byte(std::uint64_t sample) {
  return static_cast<std::byte>((sample * 37 + 11) & 0x7F);
}

void write_poison(std::span<std::byte> bytes, std::uint64_t sample) {
  in_words(bytes.size(), [&](std::size_t begin, std::size_t end) {
    std::memset(bytes.data() + begin, std::to_integer<int>(poison_byte(sample)), end - begin);
  });
}

std::optional<mismatch> find_poison_mismatch(std::span<std::byte const> bytes,
                                             std::uint64_t sample) {
  std::byte const expected = poison_byte(sample);
  auto const at = std::ranges::find_if_not(bytes, [&](std::byte b) { return b == expected; });
  if (at == bytes.end()) return std::nullopt;
  return mismatch{static_cast<std::size_t>(at - bytes.begin()), expected, *at};
}

}  // namespace rocbench

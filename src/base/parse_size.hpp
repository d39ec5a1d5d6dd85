// SPDX-License-Identifier: MIT
// Sizes in environment variables. Depends on nothing else of the library, because the fake HIP
// runtime uses it too.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace roc::base {

enum class size_suffix { none, binary };

/// Returns the decimal number that `text` is; with size_suffix::binary it may end with K, M or G,
/// which are powers of 1024. Returns nullopt for other text and for numbers that overflow.
inline std::optional<std::size_t> parse_size(std::string_view text,
                                             size_suffix suffix = size_suffix::binary) noexcept {
  char const* const last = text.data() + text.size();
  std::size_t value = 0;
  auto [end, failure] = std::from_chars(text.data(), last, value);
  if (failure != std::errc{}) return std::nullopt;
  if (suffix == size_suffix::binary && end != last) {
    std::size_t const power = std::string_view("KMG").find(*end);
    if (power == std::string_view::npos) return std::nullopt;
    if (__builtin_mul_overflow(value, std::size_t{1} << (10 * (power + 1)), &value)) {
      return std::nullopt;
    }
    ++end;
  }
  return end == last ? std::optional(value) : std::nullopt;
}

}  // namespace roc::base

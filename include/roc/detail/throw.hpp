// SPDX-License-Identifier: MIT
// Throws errors from templates. The message is built in the library, so that inline code holds
// neither strings nor formatting.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>

namespace roc::detail {

/// One value of a message: a number (shown as 3), a list of numbers (shown as (2, 3)) or a text.
/// Borrows lists and texts: they must outlive the call that throws.
struct message_value {
  enum class kind : unsigned char {
    signed_number,
    unsigned_number,
    signed_list,
    unsigned_list,
    text
  };

  template <std::integral I>
  constexpr message_value(I value)
      : type(std::is_signed_v<I> ? kind::signed_number : kind::unsigned_number),
        number(static_cast<std::ptrdiff_t>(value)) {}
  template <std::size_t N>
  constexpr message_value(std::array<std::ptrdiff_t, N> const& values)
      : type(kind::signed_list), count(N), signed_list(values.data()) {}
  template <std::size_t N>
  constexpr message_value(std::array<std::size_t, N> const& values)
      : type(kind::unsigned_list), count(N), unsigned_list(values.data()) {}
  constexpr message_value(char const* characters) : type(kind::text), text(characters) {}

  kind type;
  std::size_t count = 1;  ///< numbers in a list
  union {
    std::ptrdiff_t number;
    std::ptrdiff_t const* signed_list;
    std::size_t const* unsigned_list;
    char const* text;
  };
};

/// Throws shape_error. Each {} in `format` is replaced by the next value.
[[noreturn]] ROCARRAY_API void throw_formatted_shape_error(char const* format,
                                                           message_value const* values,
                                                           std::size_t count);
/// Throws layout_error. Each {} in `format` is replaced by the next value.
[[noreturn]] ROCARRAY_API void throw_formatted_layout_error(char const* format,
                                                            message_value const* values,
                                                            std::size_t count);

// The values are function arguments and not a std::initializer_list, for which nvcc 13 emits
// invalid host code in templates.

/// Throws shape_error. Each {} in `format` is replaced by the next value: a number, a shape,
/// strides or a text.
template <class... Values>
[[noreturn]] void throw_shape_error(char const* format, Values const&... values) {
  message_value const list[] = {values...};
  throw_formatted_shape_error(format, list, sizeof...(Values));
}
/// Throws layout_error. Each {} in `format` is replaced by the next value: a number, a shape,
/// strides or a text.
template <class... Values>
[[noreturn]] void throw_layout_error(char const* format, Values const&... values) {
  message_value const list[] = {values...};
  throw_formatted_layout_error(format, list, sizeof...(Values));
}
[[noreturn]] inline void throw_layout_error(char const* message) {
  throw_formatted_layout_error(message, nullptr, 0);
}
/// Passes an error that cannot be thrown to the log hook (roc::set_log_hook).
ROCARRAY_API void log_late_error(char const* message) noexcept;
/// Throws lifetime_error with this message.
[[noreturn]] ROCARRAY_API void throw_lifetime_error(char const* message);

}  // namespace roc::detail

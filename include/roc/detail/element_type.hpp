// SPDX-License-Identifier: MIT
// Types of elements that are known at run time only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

namespace roc::detail {

/// The type of elements. Has the layout of DLPack's DLDataType.
struct element_type {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;

  friend bool operator==(element_type const&, element_type const&) = default;
};

/// Returns a name for messages, such as "float32", "int8 x 4" or "code 12 with 8 bits".
inline std::string to_string(element_type type) {
  static char const* const codes[] = {"int",    "uint",    "float", "opaque",
                                      "bfloat", "complex", "bool"};
  std::string const bits = std::to_string(type.bits);
  std::string const text = type.code < std::size(codes)
                               ? codes[type.code] + bits
                               : "code " + std::to_string(type.code) + " with " + bits + " bits";
  return type.lanes == 1 ? text : text + " x " + std::to_string(type.lanes);
}

}  // namespace roc::detail

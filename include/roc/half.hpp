// SPDX-License-Identifier: MIT
// A floating-point number of 16 bits, which images and arrays hold.
#pragma once

#include <cstdint>

#include <roc/config.hpp>

namespace roc {

/// A floating-point number of 16 bits (IEEE 754 binary16). It stores a number with 11 significant
/// bits; calculations are those of float, to which it converts. It has the layout of HIP's `__half`
/// and of numpy's `float16`. (OpenCL: `half`, `CL_HALF_FLOAT`)
class half {
 public:
  half() = default;  ///< The value is unspecified, as that of a float.
  /// Rounds to nearest, ties to even: magnitudes from 65520 on to infinity, up to 2^-25 to zero.
  ROCARRAY_HOST_DEVICE constexpr half(float value) noexcept : bits_(rounded(value)) {}
  /// Returns the number. Exact: float represents every half.
  ROCARRAY_HOST_DEVICE constexpr operator float() const noexcept {
#if defined(__AMDGCN__)
    // One instruction, which hipcc does not find for shifts and masks. A signalling NaN becomes
    // quiet.
    if (!__builtin_is_constant_evaluated()) return __builtin_bit_cast(_Float16, bits_);
#endif
    std::uint32_t const sign = static_cast<std::uint32_t>(bits_ & 0x8000) << 16;
    std::uint32_t const magnitude = bits_ & 0x7fff;
    if (magnitude < smallest_normal) {
      float const value = static_cast<float>(magnitude) * 0x1p-24f;
      return sign == 0 ? value : -value;
    }
    std::uint32_t const exponent = magnitude < infinity ? exponent_offset : 2 * exponent_offset;
    return __builtin_bit_cast(float, sign | ((magnitude << 13) + exponent));
  }
  /// Returns the half with these bits.
  ROCARRAY_HOST_DEVICE static constexpr half from_bits(std::uint16_t bits) noexcept {
    half result(0.0f);
    result.bits_ = bits;
    return result;
  }
  /// Returns the bits: the sign, 5 bits of the exponent, and 10 of the fraction.
  ROCARRAY_HOST_DEVICE constexpr std::uint16_t bits() const noexcept { return bits_; }

 private:
  static constexpr std::uint32_t smallest_normal = 0x400;
  static constexpr std::uint32_t infinity = 0x7c00;
  static constexpr std::uint32_t not_a_number = 0x7e00;
  // The difference of the biases of the exponents, 127 - 15, as the bits of a float.
  static constexpr std::uint32_t exponent_offset = 112u << 23;

  ROCARRAY_HOST_DEVICE static constexpr std::uint16_t rounded(float value) noexcept {
    auto const word = __builtin_bit_cast(std::uint32_t, value);
    std::uint32_t const sign = word >> 16 & 0x8000;
#if defined(__AMDGCN__)
    if (!__builtin_is_constant_evaluated()) {
      auto const nearest = __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(value));
      return value == value ? nearest : static_cast<std::uint16_t>(sign | not_a_number);
    }
#endif
    std::uint32_t const magnitude = word & 0x7fffffff;
    std::uint32_t result = 0;
    if (magnitude > 0x7f800000) {
      result = not_a_number;
    } else if (magnitude >= 0x477ff000) {  // 65520
      result = infinity;
    } else if (magnitude < 0x38800000) {  // 2^-14
      // A float from 0.5 to 1 is a multiple of 2^-24, as these halves are: the sum is rounded.
      auto const sum = __builtin_bit_cast(float, magnitude) + 0.5f;
      result = __builtin_bit_cast(std::uint32_t, sum) - 0x3f000000;
    } else {
      std::uint32_t const nearest = magnitude + 0xfff + (magnitude >> 13 & 1);
      result = (nearest - exponent_offset) >> 13;
    }
    return static_cast<std::uint16_t>(sign | result);
  }

  std::uint16_t bits_;
};

}  // namespace roc

// SPDX-License-Identifier: MIT
// The software sampler of images: which elements a coordinate selects, with which weights. The same
// arithmetic as the texture units of GPUs, for kernels and for the host.
#pragma once

#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/pixel.hpp>
#include <roc/sampler.hpp>

namespace roc::detail {

/// The largest extent of an image. A float has 24 bits, so coordinates tell apart the elements of
/// longer axes no more.
inline constexpr std::size_t max_image_extent = std::size_t{1} << 24;

/// Returns the largest integer that is not above `x`, whose magnitude is below 2^31.
ROCARRAY_HOST_DEVICE inline int floor_to_int(float x) {
  int const truncated = static_cast<int>(x);
  return static_cast<float>(truncated) > x ? truncated - 1 : truncated;
}

/// Returns x - floor(x), from 0 to below 1. 0 for numbers without fraction, infinity and NaN.
ROCARRAY_HOST_DEVICE inline float fraction(float x) {
  constexpr float first_without_fraction = 8388608;  // 2^23
  if (!(x > -first_without_fraction && x < first_without_fraction)) return 0;
  float const result = x - static_cast<float>(floor_to_int(x));
  return result < 1 ? result : 0;  // a small negative number rounds to 1
}

/// The elements of one axis that a coordinate selects: one, or two with weights.
struct axis_samples {
  int index[2];       // in the axis, also if it is not inside
  bool is_inside[2];  // false: the border
  float weight[2];
};

/// Returns a coordinate in units of elements, between -2 and the extent + 2. NaN becomes -2, or 0
/// if the image repeats.
ROCARRAY_HOST_DEVICE inline float element_coordinate(float x, float extent, sampler const& how) {
  if (how.normalized_coordinates) {
    if (how.address == address_mode::wrap) {
      x = fraction(x);
    } else if (how.address == address_mode::mirror) {
      float const in_period = 2 * fraction(x * 0.5f);
      x = in_period < 1 ? in_period : 2 - in_period;
    }
    x *= extent;
  }
  if (!(x > -2)) return -2;
  return x < extent + 2 ? x : extent + 2;
}

/// Returns the element at a position between -3 and the extent + 3.
ROCARRAY_HOST_DEVICE inline int resolve_address(int index, int extent, address_mode address,
                                                bool& is_inside) {
  is_inside = true;
  if (index >= 0 && index < extent) return index;
  if (address == address_mode::border) is_inside = false;
  if (address == address_mode::wrap) index += index < 0 ? extent : -extent;
  if (address == address_mode::mirror) index = index < 0 ? -1 - index : 2 * extent - 1 - index;
  // Clamps; and after wrap and mirror, an element whose weight is 0 may still be outside.
  if (index < 0) return 0;
  return index < extent ? index : extent - 1;
}

/// Returns the element that contains the coordinate.
ROCARRAY_HOST_DEVICE inline axis_samples nearest_sample(float x, std::size_t extent,
                                                        sampler const& how) {
  axis_samples result{};
  float const u = element_coordinate(x, static_cast<float>(extent), how);
  result.index[0] =
      resolve_address(floor_to_int(u), static_cast<int>(extent), how.address, result.is_inside[0]);
  return result;
}

/// Returns the two elements around the coordinate. Their centers are at 0.5, 1.5, …; the weights
/// have 8 bits of fraction, rounded to nearest, as those of the texture units.
ROCARRAY_HOST_DEVICE inline axis_samples linear_samples(float x, std::size_t extent,
                                                        sampler const& how) {
  axis_samples result{};
  float const u = element_coordinate(x, static_cast<float>(extent), how) - 0.5f;
  int base = floor_to_int(u);
  int weight = floor_to_int((u - static_cast<float>(base)) * 256 + 0.5f);
  if (weight == 256) {
    weight = 0;
    ++base;
  }
  for (int i = 0; i < 2; ++i) {
    result.index[i] =
        resolve_address(base + i, static_cast<int>(extent), how.address, result.is_inside[i]);
  }
  result.weight[1] = static_cast<float>(weight) * (1.0f / 256);
  result.weight[0] = 1 - result.weight[1];
  return result;
}

/// The largest value of an integer type of 8 or 16 bits. For nvcc, the members of
/// std::numeric_limits are no device functions.
template <class T>
inline constexpr auto largest_integer =
    static_cast<float>((1u << (8 * sizeof(T) - (std::is_signed_v<T> ? 1 : 0))) - 1);

/// Returns the quotient of an integer of 8 or 16 bits and the largest one.
template <class T>
ROCARRAY_HOST_DEVICE constexpr float divided_by_largest(T value) {
  auto const number = static_cast<float>(value);
#if defined(__AMDGCN__)
  if (!__builtin_is_constant_evaluated()) {
    // The same quotient for all values of the four types, by three operations instead of eleven.
    constexpr float reciprocal = 1 / largest_integer<T>;
    float const estimate = number * reciprocal;
    float const remainder = __builtin_fmaf(-estimate, largest_integer<T>, number);
    return __builtin_fmaf(remainder, reciprocal, estimate);
  }
#endif
  return number / largest_integer<T>;
}

/// Returns a channel as a fraction: from 0 to 1, or from -1 to 1 for signed integers, whose two
/// smallest values are both -1. The value of a float or half is returned as it is.
template <class T>
ROCARRAY_HOST_DEVICE constexpr float to_fraction(T value) {
  if constexpr (is_floating_channel<T>) {
    return value;
  } else {
    float const result = divided_by_largest(value);
    return std::is_signed_v<T> && result < -1 ? -1 : result;
  }
}

/// Returns the integer that is nearest to a fraction; of fractions outside of the range, and of
/// NaN, the nearest end and 0. A half is rounded, and not limited.
template <class T>
ROCARRAY_HOST_DEVICE constexpr T from_fraction(float value) {
  if constexpr (is_floating_channel<T>) {
    return value;
  } else {
    constexpr float lowest = std::is_signed_v<T> ? -1 : 0;
    if (value != value) return 0;
    if (value < lowest) value = lowest;
    if (value > 1) value = 1;
    float const scaled = value * largest_integer<T>;
    return static_cast<T>(static_cast<int>(scaled + (scaled < 0 ? -0.5f : 0.5f)));
  }
}

}  // namespace roc::detail

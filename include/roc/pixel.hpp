// SPDX-License-Identifier: MIT
// The elements of images: numbers, and vectors of two or four numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/half.hpp>

namespace roc {

/// The channels of one element of an image with several channels: 2 or 4 numbers. It has the layout
/// and the alignment of HIP's vector types: a `pixel<float, 4>` that of a float4. Images with one
/// channel have the number itself as the element. (OpenCL: `float4`, `uchar4`; HIP: the same)
///
/// The reads of an image return pixels of float for channels of half, and for those that are read
/// as fractions.
template <class T, std::size_t C>
struct pixel {
  static_assert(C == 2 || C == 4,
                "rocarray: a pixel has 2 or 4 channels; for one channel use the number itself");
};

/// A pixel of two channels.
template <class T>
struct alignas(2 * sizeof(T)) pixel<T, 2> {
  using channel_type = T;                     ///< the type of a channel
  static constexpr std::size_t channels = 2;  ///< the number of channels

  T x;  ///< the first channel: red
  T y;  ///< the second channel: green

  /// Returns a channel, by its number 0 or 1.
  ROCARRAY_HOST_DEVICE constexpr T& operator[](std::size_t i) { return i == 0 ? x : y; }
  /// Returns a channel, by its number 0 or 1.
  ROCARRAY_HOST_DEVICE constexpr T const& operator[](std::size_t i) const { return i == 0 ? x : y; }
  /// Returns true if all channels are equal.
  ROCARRAY_HOST_DEVICE friend constexpr bool operator==(pixel const& a, pixel const& b) {
    return a.x == b.x && a.y == b.y;
  }
};

/// A pixel of four channels.
template <class T>
struct alignas(4 * sizeof(T)) pixel<T, 4> {
  using channel_type = T;                     ///< the type of a channel
  static constexpr std::size_t channels = 4;  ///< the number of channels

  T x;  ///< the first channel: red
  T y;  ///< the second channel: green
  T z;  ///< the third channel: blue
  T w;  ///< the fourth channel: opacity

  /// Returns a channel, by its number from 0 to 3.
  ROCARRAY_HOST_DEVICE constexpr T& operator[](std::size_t i) {
    return i < 2 ? (i == 0 ? x : y) : (i == 2 ? z : w);
  }
  /// Returns a channel, by its number from 0 to 3.
  ROCARRAY_HOST_DEVICE constexpr T const& operator[](std::size_t i) const {
    return i < 2 ? (i == 0 ? x : y) : (i == 2 ? z : w);
  }
  /// Returns true if all channels are equal.
  ROCARRAY_HOST_DEVICE friend constexpr bool operator==(pixel const& a, pixel const& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
  }
};

namespace detail {

/// The channels of a type of elements: of a number, one.
template <class T>
struct pixel_traits {
  using channel = T;
  static constexpr std::size_t channels = 1;
  template <class U>
  using with_channel = U;

  ROCARRAY_HOST_DEVICE static constexpr T& at(T& value, std::size_t) { return value; }
  ROCARRAY_HOST_DEVICE static constexpr T const& at(T const& value, std::size_t) { return value; }
};
template <class T, std::size_t C>
struct pixel_traits<pixel<T, C>> {
  using channel = T;
  static constexpr std::size_t channels = C;
  template <class U>
  using with_channel = pixel<U, C>;

  ROCARRAY_HOST_DEVICE static constexpr T& at(pixel<T, C>& value, std::size_t i) {
    return value[i];
  }
  ROCARRAY_HOST_DEVICE static constexpr T const& at(pixel<T, C> const& value, std::size_t i) {
    return value[i];
  }
};

/// True for the types of channels that images can have.
template <class T>
inline constexpr bool is_image_channel =
    std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::int8_t> ||
    std::is_same_v<T, std::uint16_t> || std::is_same_v<T, std::int16_t> ||
    std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::int32_t> ||
    std::is_same_v<T, float> || std::is_same_v<T, half>;
/// True for channels that are floating-point numbers in memory.
template <class T>
inline constexpr bool is_floating_channel = std::is_floating_point_v<T> || std::is_same_v<T, half>;
/// True for the types of elements that images can have.
template <class T>
inline constexpr bool is_image_element =
    is_image_channel<typename pixel_traits<T>::channel> &&
    (pixel_traits<T>::channels == 1 || pixel_traits<T>::channels == 2 ||
     pixel_traits<T>::channels == 4);
/// True for channels that can be read as fractions, as texture units do: integers of 8 and 16 bits.
template <class T>
inline constexpr bool is_normalizable = std::is_integral_v<T> && sizeof(T) <= 2;

}  // namespace detail
}  // namespace roc

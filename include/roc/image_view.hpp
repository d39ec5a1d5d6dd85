// SPDX-License-Identifier: MIT
// The view of an image for kernels, which read, write and sample it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/image_sampling.hpp>
#include <roc/detail/kernel_support.hpp>
#include <roc/device_view.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/shape.hpp>
#include <roc/native/texture.hpp>
#include <roc/pixel.hpp>
#include <roc/sampler.hpp>

namespace roc {

namespace detail {

/// The value that a kernel reads from an image: the element, or the same channels as float if they
/// are halves or read as fractions.
template <class T, read_mode Read>
struct image_value_of {
  using traits = pixel_traits<T>;
  using type = std::conditional_t<std::is_same_v<typename traits::channel, half>,
                                  typename traits::template with_channel<float>, T>;
};
template <class T>
struct image_value_of<T, read_mode::normalized> {
  using type = typename pixel_traits<T>::template with_channel<float>;
};

/// A coordinate: any number.
template <class C>
concept image_coordinate = std::is_arithmetic_v<C> && !std::same_as<C, bool>;

/// The coordinates of a sample as numbers.
template <std::size_t N>
struct sample_position {
  float coordinates[N] = {};  // x, y, z
  std::ptrdiff_t layer = 0;
};

/// Returns the index of an element along an axis. In a kernel an index out of bounds is not
/// checked, or stops the kernel if `Checked`; in host code it throws shape_error.
template <bool Checked, layout::integer_index I>
ROCARRAY_HOST_DEVICE constexpr std::ptrdiff_t image_index(I index,
                                                          [[maybe_unused]] std::size_t axis,
                                                          [[maybe_unused]] std::size_t extent) {
  auto const result = static_cast<std::ptrdiff_t>(index);
  // As an unsigned number, a negative index exceeds every extent.
  [[maybe_unused]] bool const in_bounds = static_cast<std::size_t>(result) < extent;
#if ROCARRAY_DEVICE_PASS
  check_in_kernel<Checked>(in_bounds, "index of an image out of bounds");
#else
  if (!in_bounds) layout::detail::throw_index(index, axis, extent);
#endif
  return result;
}

}  // namespace detail

/// A view of an image and a sampler, made by image::view and image::normalized_view: what kernels
/// get. It borrows: the image must outlive it and the work enqueued with it. Trivially copyable.
///
/// *Order of axes:* an index has the axes in the order of the shape, as those of arrays have:
/// load(i, j) reads row i and column j. Coordinates are in the reverse order, as those of OpenCL,
/// CUDA and HIP are: the x of sample(x, y) is along a row, the last axis. If the image has layers,
/// the layer is the first index, and the last argument of sample.
///
/// *Writes:* samples of texture units may not see what the same kernel has stored. Work that is
/// enqueued later sees it. Loads see stores as those of a device_view do.
///
/// @tparam T the element type of the image
/// @tparam N the number of axes, without that of the layers
/// @tparam Layered true if the image has layers
/// @tparam Read how elements are read and written
template <class T, std::size_t N, bool Layered = false, read_mode Read = read_mode::element>
class image_view {
  using traits = detail::pixel_traits<T>;
  using channel = typename traits::channel;
  static_assert(detail::is_image_element<T>,
                "rocarray: the elements of an image are 8, 16 or 32-bit integers, half or "
                "float, or roc::pixel with 2 or 4 of them");
  static_assert(N >= 1 && N + Layered <= 3,
                "rocarray: an image has 1, 2 or 3 axes, and with layers 1 or 2");
  static_assert(Read == read_mode::element || detail::is_normalizable<channel>,
                "rocarray: only integers of 8 and 16 bits are read as fractions: use view()");

 public:
  using element_type = T;                                             ///< what the image holds
  using value_type = typename detail::image_value_of<T, Read>::type;  ///< what kernels read
  static constexpr std::size_t dimensions = N;                        ///< axes without layers
  static constexpr std::size_t rank = N + (Layered ? 1 : 0);          ///< axes with layers

  /// Made by image::view. `texture` is the texture of the sampler; 0 if the kernel samples.
  image_view(device_view<T, rank> const& pixels, roc::sampler const& how,
             unsigned long long texture) noexcept
      : pixels_(pixels), sampler_(how), texture_(texture) {}

  /// Returns the number of elements along one axis: axis 0 is that of the layers, or the slowest.
  /// (OpenCL: `get_image_width` and others)
  ROCARRAY_HOST_DEVICE std::size_t extent(std::size_t axis) const noexcept {
    return pixels_.extent(axis);
  }
  /// Returns the extents, the number of layers first. For host code; kernels call extent.
  roc::shape<rank> shape() const noexcept { return pixels_.shape(); }
  /// Returns the elements as a view, for copies and for kernels that need their addresses.
  ROCARRAY_HOST_DEVICE device_view<T, rank> const& pixels() const noexcept { return pixels_; }
  /// Returns how the view samples.
  roc::sampler const& sampler() const noexcept { return sampler_; }
  /// Returns true if texture units compute the samples. On the CPU the kernel computes them even if
  /// ROCARRAY_HOST_TEXTURES is on.
  ROCARRAY_HOST_DEVICE bool uses_hardware() const noexcept { return texture_ != 0; }

  /// @name Elements
  /// An index has one integer for each axis, none of them negative. In host code, which includes
  /// kernels of the host platform, an index out of bounds throws shape_error, which a kernel
  /// reports with its block and thread. Device code does not check, unless ROCARRAY_CHECK_BOUNDS
  /// is 1.
  ///@{

  /// Returns an element. (OpenCL: `read_imagef` and others without a sampler; HIP: `surf2Dread`)
  template <bool Checked = detail::check_bounds, layout::integer_index... I>
    requires(sizeof...(I) == rank)
  ROCARRAY_HOST_DEVICE value_type load(I... index) const {
    return read(pixels_.data()[offset<Checked>(index...)]);
  }
  /// Writes an element. Fractions are limited to the range of the channels and rounded to the
  /// nearest integer. (OpenCL: `write_imagef` and others; HIP: `surf2Dwrite`)
  template <bool Checked = detail::check_bounds, layout::integer_index... I>
    requires(sizeof...(I) == rank)
  ROCARRAY_HOST_DEVICE void store(value_type const& value, I... index) const {
    T& element = pixels_.data()[offset<Checked>(index...)];
    if constexpr (std::is_same_v<T, value_type>) {
      element = value;
    } else {
      T converted{};
      for (std::size_t i = 0; i != traits::channels; ++i) {
        traits::at(converted, i) =
            detail::from_fraction<channel>(detail::pixel_traits<value_type>::at(value, i));
      }
      element = converted;
    }
  }
  ///@}

  /// Returns a sample at coordinates x, y, z, as many as the image has axes. The element i of an
  /// axis is from i to i + 1, its center at i + 0.5; with normalized coordinates, these are divided
  /// by the extent. All coordinates are valid. If the image has layers, the last argument is the
  /// layer, an integer, which is limited to the layers of the image. (OpenCL: `read_imagef` with a
  /// sampler; CUDA, HIP: `tex2D`, `tex2DLayered`, `tex3D`)
  ///
  /// The weights of linear filtering have 8 bits of fraction, in texture units and in software.
  template <detail::image_coordinate... C>
    requires(sizeof...(C) == rank)
  ROCARRAY_HOST_DEVICE value_type sample(C... coordinates) const {
    constexpr bool are_integers[] = {std::is_integral_v<C>...};
    static_assert(!Layered || are_integers[rank - 1],
                  "rocarray: the last argument of sample is the layer, an integer");
    detail::sample_position<N> position;
    std::size_t i = 0;
    (set_coordinate(position, i++, coordinates), ...);
#if ROCARRAY_TEXTURE_INSTRUCTIONS
    if constexpr (!Layered && N <= 2) {
      if (texture_ != 0) return sample_texture(position);
    }
#endif
    return sample_pixels(position);
  }

 private:
  using value_traits = detail::pixel_traits<value_type>;
  // Values that can be interpolated.
  static constexpr bool is_filterable = std::is_floating_point_v<typename value_traits::channel>;

  template <bool Checked, class... I>
  ROCARRAY_HOST_DEVICE std::ptrdiff_t offset(I... index) const {
    std::size_t axis = 0;
    std::ptrdiff_t result = 0;
    ((result +=
      detail::image_index<Checked>(index, axis, pixels_.extent(axis)) * pixels_.stride(axis),
      ++axis),
     ...);
    return result;
  }

  // Returns an element as kernels read it.
  ROCARRAY_HOST_DEVICE static value_type read(T const& element) {
    if constexpr (std::is_same_v<T, value_type>) {
      return element;
    } else {
      value_type result{};
      for (std::size_t i = 0; i != traits::channels; ++i) {
        value_traits::at(result, i) = detail::to_fraction(traits::at(element, i));
      }
      return result;
    }
  }

  template <class C>
  ROCARRAY_HOST_DEVICE void set_coordinate(detail::sample_position<N>& position, std::size_t i,
                                           C coordinate) const {
    if (i < N) {
      position.coordinates[i] = static_cast<float>(coordinate);
      return;
    }
    // Only the layer is here; the condition is known when this is compiled.
    auto const last = static_cast<std::ptrdiff_t>(pixels_.extent(0)) - 1;
    auto const layer = static_cast<std::ptrdiff_t>(coordinate);
    position.layer = layer < 0 ? 0 : layer < last ? layer : last;
  }

  ROCARRAY_HOST_DEVICE value_type sample_pixels(detail::sample_position<N> const& position) const {
    T const* const data = pixels_.data() + (Layered ? position.layer * pixels_.stride(0) : 0);
    bool const is_linear = is_filterable && sampler_.filter == filter_mode::linear;
    detail::axis_samples axes[N];
    for (std::size_t i = 0; i != N; ++i) {
      std::size_t const extent = pixels_.extent(rank - 1 - i);
      axes[i] = is_linear ? detail::linear_samples(position.coordinates[i], extent, sampler_)
                          : detail::nearest_sample(position.coordinates[i], extent, sampler_);
    }
    value_type result{};
    if (!is_linear) {
      std::ptrdiff_t element = 0;
      for (std::size_t i = 0; i != N; ++i) {
        if (!axes[i].is_inside[0]) return result;
        element += axes[i].index[0] * pixels_.stride(rank - 1 - i);
      }
      return read(data[element]);
    }
    if constexpr (is_filterable) {
      constexpr unsigned corners = 1u << N;
      auto const read_corner = [&](unsigned corner) {
        std::ptrdiff_t element = 0;
        for (std::size_t i = 0; i != N; ++i) {
          element += axes[i].index[corner >> i & 1] * pixels_.stride(rank - 1 - i);
        }
        return read(data[element]);
      };
#if defined(__AMDGCN__)
      // Also reads elements of weight 0; every index is in the image. Otherwise hipcc waits for
      // each conditional load before the next one.
      value_type values[corners];
#pragma unroll
      for (unsigned corner = 0; corner != corners; ++corner) values[corner] = read_corner(corner);
#pragma unroll
#endif
      for (unsigned corner = 0; corner != corners; ++corner) {
        float weight = 1;
        bool is_inside = true;
        for (std::size_t i = 0; i != N; ++i) {
          unsigned const side = corner >> i & 1;
          weight *= axes[i].weight[side];
          is_inside = is_inside && axes[i].is_inside[side];
        }
        if (!is_inside || weight == 0) continue;
#if defined(__AMDGCN__)
        value_type const& value = values[corner];
#else
        value_type const value = read_corner(corner);
#endif
        for (std::size_t i = 0; i != value_traits::channels; ++i) {
          value_traits::at(result, i) += weight * value_traits::at(value, i);
        }
      }
    }
    return result;
  }

#if ROCARRAY_TEXTURE_INSTRUCTIONS
  // An image of one axis is a texture of one row, whose center is at 0.5 in both units.
  __device__ value_type sample_texture(detail::sample_position<N> const& position) const {
    using value_channel = typename value_traits::channel;
    float const y = N == 1 ? 0.5f : position.coordinates[N - 1];
    auto const sampled =
        native_detail::sample_texture<value_channel>(texture_, position.coordinates[0], y);
    value_type result{};
    for (std::size_t i = 0; i != value_traits::channels; ++i) {
      value_traits::at(result, i) =
          static_cast<value_channel>(native_detail::channel_of(sampled, i));
    }
    return result;
  }
#endif

  device_view<T, rank> pixels_;
  roc::sampler sampler_;
  unsigned long long texture_;
};

/// The view of an image with layers.
template <class T, std::size_t N, read_mode Read = read_mode::element>
using layered_image_view = image_view<T, N, true, Read>;

}  // namespace roc

// SPDX-License-Identifier: MIT
// Mipmaps: images with smaller copies of themselves, which kernels sample at any level of detail.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/image_textures.hpp>
#include <roc/detail/kernel_support.hpp>
#include <roc/detail/misuse.hpp>
#include <roc/detail/throw.hpp>
#include <roc/for_each.hpp>
#include <roc/image.hpp>
#include <roc/image_view.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/pixel.hpp>
#include <roc/sampler.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace detail {

/// Returns the sample of a view at coordinates x, y, z.
template <class View>
ROCARRAY_HOST_DEVICE typename View::value_type sample_at(View const& view,
                                                         float const* coordinates) {
  if constexpr (View::rank == 1) {
    return view.sample(coordinates[0]);
  } else if constexpr (View::rank == 2) {
    return view.sample(coordinates[0], coordinates[1]);
  } else {
    return view.sample(coordinates[0], coordinates[1], coordinates[2]);
  }
}

/// Computes an element of a level from the level before: the sample at its center.
template <class View>
struct level_reduction {
  View from;  // whose sampler is linear, with coordinates in elements
  View to;

  template <class... I>
  ROCARRAY_HOST_DEVICE void operator()(I... index) const {
    std::size_t const indices[] = {static_cast<std::size_t>(index)...};
    float coordinates[View::rank];
    for (std::size_t axis = 0; axis != View::rank; ++axis) {
      float const scale =
          static_cast<float>(from.extent(axis)) / static_cast<float>(to.extent(axis));
      coordinates[View::rank - 1 - axis] = (static_cast<float>(indices[axis]) + 0.5f) * scale;
    }
    to.template store<false>(sample_at(from, coordinates), index...);
  }
};

}  // namespace detail

/// A view of a mipmap and a sampler, made by mipmap::view and mipmap::normalized_view: what kernels
/// get. It borrows: the mipmap must outlive it and the work enqueued with it. Trivially copyable.
///
/// @tparam T the element type of the mipmap
/// @tparam N the number of axes
/// @tparam Read how elements are read and written
template <class T, std::size_t N, read_mode Read = read_mode::element>
class mipmap_view {
 public:
  using level_view = image_view<T, N, false, Read>;                     ///< the view of one level
  using value_type = typename level_view::value_type;                   ///< what kernels read
  static constexpr std::size_t rank = N;                                ///< axes
  static constexpr std::size_t max_levels = detail::max_mipmap_levels;  ///< of any mipmap

  /// Made by mipmap::view. Calls `level(k)` for the view of each of the levels.
  template <class F>
  mipmap_view(F const& level, std::size_t levels, filter_mode between_levels)
      : mipmap_view(level, levels, between_levels, std::make_index_sequence<max_levels>()) {}

  /// Returns the number of levels, 1 to max_levels.
  ROCARRAY_HOST_DEVICE std::size_t levels() const noexcept { return levels_; }
  /// Returns the view of one level, which must be less than levels(). In host code, which includes
  /// kernels of the host platform, throws shape_error if it is not; device code does not check,
  /// unless ROCARRAY_CHECK_BOUNDS is 1.
  template <bool Checked = detail::check_bounds, layout::integer_index I>
  ROCARRAY_HOST_DEVICE level_view const& level(I index) const {
    return views_[detail::image_index<Checked>(index, 0, levels_)];
  }

  /// Returns a sample at coordinates x, y, z, as many as the mipmap has axes, from 0 to 1 along
  /// each, and a level of detail: a number, which is limited to the levels. It is rounded to the
  /// nearest level; or, if the view was made with filter_mode::linear between levels, the samples
  /// of the two levels around it are interpolated. A level that is not a number is level 0.
  /// (OpenCL: `read_imagef` with `lod`; CUDA, HIP: `tex2DLod`)
  template <detail::image_coordinate... C>
    requires(sizeof...(C) == N + 1)
  ROCARRAY_HOST_DEVICE value_type sample(C... coordinates_and_level) const {
    float const arguments[] = {static_cast<float>(coordinates_and_level)...};
    auto const last = static_cast<float>(levels_ - 1);
    float level = arguments[N];
    if (!(level > 0)) level = 0;
    if (level > last) level = last;
    if constexpr (std::is_floating_point_v<typename traits::channel>) {
      if (between_levels_ == filter_mode::linear) {
        auto const finer = static_cast<std::size_t>(level);
        float const weight = level - static_cast<float>(finer);
        value_type result = detail::sample_at(views_[finer], arguments);
        if (weight == 0) return result;
        value_type const coarser = detail::sample_at(views_[finer + 1], arguments);
        for (std::size_t i = 0; i != traits::channels; ++i) {
          float const value = traits::at(result, i);
          traits::at(result, i) = value + weight * (traits::at(coarser, i) - value);
        }
        return result;
      }
    }
    return detail::sample_at(views_[static_cast<std::size_t>(level + 0.5f)], arguments);
  }

 private:
  using traits = detail::pixel_traits<value_type>;

  template <class F, std::size_t... I>
  mipmap_view(F const& level, std::size_t levels, filter_mode between_levels,
              std::index_sequence<I...>)
      : views_{level(std::min(I, levels - 1))...},
        levels_(levels),
        between_levels_(between_levels) {}

  level_view views_[max_levels];  // the last ones repeat the last level
  std::size_t levels_;
  filter_mode between_levels_;
};

/// An image of 1 to 3 axes and smaller ones, its levels, each of half the extents of the level
/// before: at least 1, rounded down. Kernels sample it at any level of detail, so that a picture
/// that is drawn smaller does not flicker. Move-only. (CUDA: mipmapped arrays; OpenCL:
/// cl_khr_mipmap_image)
///
/// Each level is an image, with memory of its own. Texture units sample a level if they sample
/// images of its kind; the kernel interpolates between levels. Elements are not initialized: copy
/// to level 0 and call fill_levels, or copy to each level. Const is shallow. Lifetime, destruction
/// and thread safety are those of images.
///
/// @tparam T the element type, as of image
/// @tparam N the number of axes
template <class T, std::size_t N>
class mipmap {
 public:
  using element_type = T;                 ///< as in image
  using value_type = T;                   ///< as in image
  using image_type = image<T, N>;         ///< a level
  static constexpr std::size_t rank = N;  ///< axes
  /// The most levels: all of them, down to one element, for extents below 65536.
  static constexpr std::size_t max_levels = detail::max_mipmap_levels;
  /// The view that normalized_view returns.
  using normalized_view_type =
      mipmap_view<T, N,
                  detail::is_normalizable<typename detail::pixel_traits<T>::channel>
                      ? read_mode::normalized
                      : read_mode::element>;

  /// @name Construction
  /// The memory is allocated on the device of `stream`, in the order of that stream. The
  /// constructors throw shape_error (an extent is 0 or larger than 2^24, the number of levels is 0
  /// or larger than the shape and max_levels allow), out_of_memory and roc::error.
  ///@{
  mipmap() = default;  ///< Creates a mipmap that owns nothing, as if moved from.
  /// Creates a mipmap whose last level has one element, or which has max_levels.
  explicit mipmap(roc::shape<N> const& shape, stream_ref stream = {},
                  detail::caller at = std::source_location::current()) {
    detail::call_scope const call("mipmap", at);
    create(shape, detail::most_mipmap_levels(shape.data(), N),
           [&](roc::shape<N> const& extents) { return image_type(extents, stream); });
  }
  /// Creates a mipmap with a number of levels.
  mipmap(roc::shape<N> const& shape, std::size_t levels, stream_ref stream = {},
         detail::caller at = std::source_location::current()) {
    detail::call_scope const call("mipmap", at);
    create(shape, levels,
           [&](roc::shape<N> const& extents) { return image_type(extents, stream); });
  }
  /// Creates a mipmap with memory from `resource`, which must outlive it.
  mipmap(roc::shape<N> const& shape, std::size_t levels, memory_resource& resource,
         stream_ref stream = {}, detail::caller at = std::source_location::current()) {
    detail::call_scope const call("mipmap", at);
    create(shape, levels,
           [&](roc::shape<N> const& extents) { return image_type(extents, resource, stream); });
  }
  ///@}

  /// @name Observers
  ///@{

  /// Returns the number of levels.
  std::size_t levels() const { return checked().size(); }
  /// Returns the extents of level 0.
  roc::shape<N> shape() const { return checked()[0].shape(); }
  /// Returns the ordinal of the device that has the memory.
  int device_ordinal() const { return checked()[0].device_ordinal(); }
  /// Returns the stream that the mipmap was created with.
  stream_ref stream() const { return checked()[0].stream(); }
  /// Records that kernels on `stream` use the mipmap: see device_array::record_stream.
  void record_stream(stream_ref stream, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    for (image_type const& level : checked()) level.record_stream(stream);
  }
  ///@}

  /// @name Levels
  ///@{

  /// Returns a level, for copies, and for kernels that use one level. Throws shape_error if `index`
  /// is not less than levels().
  image_type const& level(std::size_t index,
                          detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    std::vector<image_type> const& levels = checked();
    if (index >= levels.size()) {
      detail::throw_shape_error("a mipmap of {} levels has no level {}", levels.size(), index);
    }
    return levels[index];
  }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  image_type const& level(std::size_t index) const&& = delete;

  /// Computes each level after level 0 from the level before it, with for_each: see there for the
  /// files and platforms. An element is the linear sample at its center: the mean of 2, 4 or 8
  /// elements if the extents are even. Integers are read and stored as fractions.
  ///
  /// @param stream the stream, whose device has the mipmap
  /// @throws roc::error
  ///
  /// *Synchronization:* asynchronous, in the order of the stream.
  void fill_levels(stream_ref stream, detail::caller at = std::source_location::current()) const {
    using channel = typename detail::pixel_traits<T>::channel;
    static_assert(std::is_floating_point_v<channel> || detail::is_normalizable<channel>,
                  "rocarray: fill_levels interpolates: it needs elements of float, or integers of "
                  "8 or 16 bits");
    detail::call_scope const call(__func__, at);
    sampler const how{.filter = filter_mode::linear, .unit = sampler_unit::software};
    std::vector<image_type> const& levels = checked();
    for (std::size_t i = 1; i < levels.size(); ++i) {
      using level_view = typename normalized_view_type::level_view;
      level_view const from = view_of_level<normalized_view_type>(i - 1, how);
      level_view const to = view_of_level<normalized_view_type>(i, how);
      for_each(stream, to.shape(), detail::level_reduction<level_view>{from, to});
    }
  }
  ///@}

  /// @name Views
  /// The mipmap must outlive them.
  ///@{

  /// Returns the view for kernels that read elements as they are.
  ///
  /// @param how the sampler of all levels, with normalized coordinates
  /// @param between_levels whether samples are rounded to a level or interpolated between two
  /// @throws roc::error (std::errc::invalid_argument) if the sampler has no normalized coordinates,
  ///   or integers that are not read as fractions were interpolated; and as image::view
  mipmap_view<T, N> view(sampler const& how, filter_mode between_levels = filter_mode::nearest,
                         detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return make_view<mipmap_view<T, N>>(how, between_levels);
  }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  mipmap_view<T, N> view(sampler const& how,
                         filter_mode between_levels = filter_mode::nearest) const&& = delete;

  /// Returns the view for kernels that read integers of 8 or 16 bits as fractions: see
  /// image::normalized_view. Throws as view().
  normalized_view_type normalized_view(sampler const& how,
                                       filter_mode between_levels = filter_mode::nearest,
                                       detail::caller at = std::source_location::current()) const& {
    static_assert(detail::is_normalizable<typename detail::pixel_traits<T>::channel>,
                  "rocarray: only integers of 8 and 16 bits are read as fractions: use view()");
    detail::call_scope const call(__func__, at);
    return make_view<normalized_view_type>(how, between_levels);
  }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  normalized_view_type normalized_view(
      sampler const& how, filter_mode between_levels = filter_mode::nearest) const&& = delete;
  ///@}

 private:
  // Returns the levels. Throws lifetime_error if the mipmap owns nothing.
  std::vector<image_type> const& checked() const {
    if (levels_.empty()) {
      detail::throw_lifetime_error(
          "mipmap was moved from or is default-constructed; give it a value before it is used");
    }
    return levels_;
  }

  template <class F>
  void create(roc::shape<N> const& shape, std::size_t levels, F const& make_image) {
    detail::check_mipmap_levels(shape.data(), N, levels);
    levels_.reserve(levels);
    roc::shape<N> extents = shape;
    for (std::size_t i = 0; i != levels; ++i) {
      levels_.push_back(make_image(extents));
      for (std::size_t& extent : extents) extent = std::max<std::size_t>(extent / 2, 1);
    }
  }

  // Returns the view of one level: a MipmapView::level_view.
  template <class MipmapView>
  typename MipmapView::level_view view_of_level(std::size_t index, sampler const& how) const {
    image_type const& level = levels_[index];
    if constexpr (std::is_same_v<MipmapView, mipmap_view<T, N>>) {
      return level.view(how);
    } else {
      return level.normalized_view(how);
    }
  }

  template <class MipmapView>
  MipmapView make_view(sampler const& how, filter_mode between_levels) const {
    using channel = typename detail::pixel_traits<typename MipmapView::value_type>::channel;
    std::size_t const levels = checked().size();
    detail::check_mipmap_sampler(how, between_levels, std::is_floating_point_v<channel>);
    return MipmapView([&](std::size_t i) { return view_of_level<MipmapView>(i, how); }, levels,
                      between_levels);
  }

  std::vector<image_type> levels_;
};

}  // namespace roc

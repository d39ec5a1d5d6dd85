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

/// Returns an element of a view at an index of any rank. Device code does not check it.
template <class View>
ROCARRAY_HOST_DEVICE typename View::value_type load_at(View const& view, std::size_t const* index) {
  if constexpr (View::rank == 1) {
    return view.template load<false>(index[0]);
  } else if constexpr (View::rank == 2) {
    return view.template load<false>(index[0], index[1]);
  } else {
    return view.template load<false>(index[0], index[1], index[2]);
  }
}

/// The elements along one axis that an element of the next level is the mean of, with the parts of
/// them that it covers.
struct level_taps {
  std::size_t first;
  unsigned count;
  float weights[3];
};

/// Returns the elements that element `index` of the next level covers, along an axis of `extent`
/// elements: 2, or 2 and a part of a third one if the extent is odd.
ROCARRAY_HOST_DEVICE inline level_taps taps_of(std::size_t index, std::size_t extent) {
  if (extent == 1) return {0, 1, {1, 0, 0}};
  if (extent % 2 == 0) return {2 * index, 2, {0.5f, 0.5f, 0}};
  auto const all = static_cast<float>(extent);
  std::size_t const next_extent = extent / 2;
  return {2 * index,
          3,
          {static_cast<float>(next_extent - index) / all, static_cast<float>(next_extent) / all,
           static_cast<float>(index + 1) / all}};
}

/// Computes an element of a level: the mean of the elements of the level before that it covers.
template <class View>
struct level_reduction {
  View from;
  View to;

  template <class... I>
  ROCARRAY_HOST_DEVICE void operator()(I... index) const {
    using traits = pixel_traits<typename View::value_type>;
    std::size_t const indices[] = {static_cast<std::size_t>(index)...};
    level_taps taps[View::rank];
    unsigned count = 1;
    for (std::size_t axis = 0; axis != View::rank; ++axis) {
      taps[axis] = taps_of(indices[axis], from.extent(axis));
      count *= taps[axis].count;
    }
    typename View::value_type sum{};
    for (unsigned k = 0; k != count; ++k) {
      std::size_t source[View::rank];
      float weight = 1;
      unsigned rest = k;
      for (std::size_t axis = 0; axis != View::rank; ++axis) {
        unsigned const tap = rest % taps[axis].count;
        rest /= taps[axis].count;
        source[axis] = taps[axis].first + tap;
        weight *= taps[axis].weights[tap];
      }
      auto const value = load_at(from, source);
      for (std::size_t c = 0; c != traits::channels; ++c) {
        traits::at(sum, c) += weight * traits::at(value, c);
      }
    }
    to.template store<false>(sum, index...);
  }
};

/// Returns the number of a level. In a kernel it is not checked, or stops the kernel if `Checked`;
/// in host code it throws shape_error if the level does not exist.
template <bool Checked, layout::integer_index I>
ROCARRAY_HOST_DEVICE constexpr std::size_t level_index(I index,
                                                       [[maybe_unused]] std::size_t levels) {
  auto const result = static_cast<std::size_t>(index);
  // As an unsigned number, a negative index exceeds every number of levels.
  [[maybe_unused]] bool const exists = result < levels;
#if ROCARRAY_DEVICE_PASS
  check_in_kernel<Checked>(exists, "level of a mipmap out of bounds");
#else
  if (!exists) {
    throw_shape_error("level {} is out of bounds for a mipmap with {} levels; use 0 to {}", index,
                      levels, levels - 1);
  }
#endif
  return result;
}

}  // namespace detail

template <class T, std::size_t N>
class mipmap;

/// A view of a mipmap and a sampler, made by mipmap::view and mipmap::normalized_view: what kernels
/// get. It borrows: the mipmap must outlive it and the work enqueued with it. Trivially copyable.
/// Its size is 800 to 1300 bytes, of the 4096 that the arguments of a kernel may have.
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

  /// Returns the number of levels, 1 to max_levels.
  ROCARRAY_HOST_DEVICE std::size_t levels() const noexcept { return levels_; }
  /// Returns the view of one level, which must be less than levels(). In host code, which includes
  /// kernels of the host platform, throws shape_error if it is not; device code does not check,
  /// unless ROCARRAY_CHECK_BOUNDS is 1.
  template <bool Checked = detail::check_bounds, layout::integer_index I>
  ROCARRAY_HOST_DEVICE level_view const& level(I index) const {
    return views_[detail::level_index<Checked>(index, levels_)];
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
          traits::at(result, i) =
              (1 - weight) * traits::at(result, i) + weight * traits::at(coarser, i);
        }
        return result;
      }
    }
    return detail::sample_at(views_[static_cast<std::size_t>(level + 0.5f)], arguments);
  }

 private:
  using traits = detail::pixel_traits<value_type>;

  template <class, std::size_t>
  friend class mipmap;

  // `levels` is not 0.
  mipmap_view(level_view const* views, std::size_t levels, filter_mode between_levels)
      : mipmap_view(views, levels, between_levels, std::make_index_sequence<max_levels>()) {}
  template <std::size_t... I>
  mipmap_view(level_view const* views, std::size_t levels, filter_mode between_levels,
              std::index_sequence<I...>)
      : views_{views[std::min(I, levels - 1)]...},
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
  template <std::integral I>
  mipmap(roc::shape<N> const& shape, I levels, stream_ref stream = {},
         detail::caller at = std::source_location::current()) {
    detail::call_scope const call("mipmap", at);
    create(shape, levels,
           [&](roc::shape<N> const& extents) { return image_type(extents, stream); });
  }
  /// Creates a complete mipmap with memory from `resource`, which must outlive it.
  mipmap(roc::shape<N> const& shape, memory_resource& resource, stream_ref stream = {},
         detail::caller at = std::source_location::current()) {
    detail::call_scope const call("mipmap", at);
    create(shape, detail::most_mipmap_levels(shape.data(), N),
           [&](roc::shape<N> const& extents) { return image_type(extents, resource, stream); });
  }
  /// Creates a mipmap with a number of levels, and memory from `resource`, which must outlive it.
  template <std::integral I>
  mipmap(roc::shape<N> const& shape, I levels, memory_resource& resource, stream_ref stream = {},
         detail::caller at = std::source_location::current()) {
    detail::call_scope const call("mipmap", at);
    create(shape, levels,
           [&](roc::shape<N> const& extents) { return image_type(extents, resource, stream); });
  }
  /// Takes over the memory of `other`, which then owns nothing.
  mipmap(mipmap&& other) noexcept = default;
  /// Releases the current memory, as the destructor does, and takes over that of `other`.
  mipmap& operator=(mipmap&& other) noexcept = default;
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
  /// is not from 0 to levels() - 1.
  template <layout::integer_index I>
  image_type const& level(I index, detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    std::vector<image_type> const& levels = checked();
    return levels[detail::level_index<true>(index, levels.size())];
  }
  template <layout::integer_index I,
            detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  image_type const& level(I index) const&& = delete;

  /// Computes each level after level 0 from the level before it, by for_each: an element is the
  /// mean of the elements that it covers, 2 along each axis, or 2 and a part of a third one if the
  /// extent is odd. Integers are read and stored as fractions. Call it in a file that hipcc or nvcc
  /// compiles: see for_each.
  ///
  /// @param stream a stream of the mipmap's device
  /// @throws roc::error (std::errc::not_supported) in a file that a host compiler compiled, unless
  ///   the platform is the host; errors of HIP
  ///
  /// *Synchronization:* asynchronous, in the order of the stream.
  void fill_levels(stream_ref stream, detail::caller at = std::source_location::current()) const {
    using channel = typename detail::pixel_traits<T>::channel;
    static_assert(detail::is_floating_channel<channel> || detail::is_normalizable<channel>,
                  "rocarray: fill_levels computes means: it needs elements of half or float, or "
                  "integers of 8 or 16 bits");
    detail::call_scope const call(__func__, at);
    sampler const how{.unit = sampler_unit::software};
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
  ///   or `between_levels` is linear and the elements are integers that are not read as fractions;
  ///   what image::view throws
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

  template <class I, class F>
  void create(roc::shape<N> const& shape, I count, F const& make_image) {
    std::size_t const levels = detail::checked_mipmap_levels(
        shape.data(), N, std::cmp_less(count, 0) ? -1 : static_cast<std::ptrdiff_t>(count));
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
    std::vector<typename MipmapView::level_view> views;
    views.reserve(levels);
    for (std::size_t i = 0; i != levels; ++i) views.push_back(view_of_level<MipmapView>(i, how));
    return MipmapView(views.data(), levels, between_levels);
  }

  std::vector<image_type> levels_;
};

}  // namespace roc

// SPDX-License-Identifier: MIT
// Owned arrays in device memory.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/detail/device_memory.hpp>
#include <roc/detail/device_operations.hpp>
#include <roc/device_view.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/reshape.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

/// An array in device memory (numba: `device_array`), of any rank and layout; elements are not
/// initialised. Move-only. Zero-size arrays have a null pointer, and operations on them do nothing.
///
/// It belongs to the device that was current, or the stream's, when it was made. Its destructor
/// waits until no work on the device can use the memory. Any use of an array that was moved from or
/// default-constructed throws lifetime_error, except destroying it or assigning to it.
template <class T, std::size_t N = 1>
class device_array : public detail::device_operations<device_array<T, N>, T, N> {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "rocarray: elements are copied byte by byte");
  using operations = detail::device_operations<device_array<T, N>, T, N>;

 public:
  using roc_device_memory = void;
  using element_type = T;
  using value_type = T;
  static constexpr std::size_t rank = N;

  /// Owns nothing, as if moved from.
  device_array() = default;
  /// Compact, in C or F order. Throws shape_error (the size overflows), out_of_memory, roc::error.
  explicit device_array(roc::shape<N> const& shape, order o = order::c, stream_ref stream = {})
      : device_array(shape, layout::compact_strides(shape, o), stream) {}
  /// With explicit strides, in elements, none negative. Throws layout_error where two indices would
  /// be one place, or a stride is negative.
  device_array(roc::shape<N> const& shape, roc::strides<N> const& strides, stream_ref stream = {})
      : memory_(bytes_for(shape, strides), stream.device_ordinal()),
        shape_(shape),
        strides_(strides),
        stream_(stream),
        alive_(true) {}

  device_array(device_array&& other) noexcept { swap(other); }
  device_array& operator=(device_array&& other) noexcept {
    device_array(std::move(other)).swap(*this);
    return *this;
  }
  void swap(device_array& other) noexcept {
    memory_.swap(other.memory_);
    std::swap(shape_, other.shape_);
    std::swap(strides_, other.strides_);
    std::swap(stream_, other.stream_);
    std::swap(alive_, other.alive_);
  }

  /// Device memory: not to be read by the host.
  T* data() const { return checked(static_cast<T*>(memory_.data())); }
  roc::shape<N> const& shape() const { return checked(shape_); }
  roc::strides<N> const& strides() const { return checked(strides_); }
  std::size_t extent(std::size_t axis) const { return checked(shape_)[axis]; }
  std::size_t size() const { return layout::element_count(checked(shape_)); }
  int device_ordinal() const { return checked(memory_.device()); }
  /// The stream that it was made with.
  stream_ref stream() const { return checked(stream_); }

  /// A view of all of it, for kernels; the array must outlive it.
  device_view<T, N> view() & { return whole(); }
  device_view<T, N> view() const& { return whole(); }
  device_view<T, N> view() && = delete;
  operator device_view<T, N>() const& { return whole(); }
  operator device_view<T, N>() && = delete;

  /// A view of a region, or of one element; see roc::slice. Throws shape_error beyond an extent; too
  /// many or too few expressions do not compile.
  template <layout::index_expression... E>
    requires layout::indexes<N, E...>
  auto operator()(E... expressions) const& {
    return this->region(expressions...);
  }
  template <layout::index_expression... E>
  auto operator()(E...) && = delete;  // the view would outlive the memory

  using operations::ravel;
  using operations::reshape;
  using operations::squeeze;
  using operations::transpose;
  /// On an array that is about to go, these move ownership into the result instead of borrowing.
  template <std::integral... E>
  auto reshape(E... extents) && {
    return take(std::as_const(*this).reshape(extents...));
  }
  template <std::size_t M>
  auto reshape(roc::shape<M> const& extents, order o = order::c) && {
    return take(std::as_const(*this).reshape(extents, o));
  }
  auto ravel(order o = order::c) && { return take(std::as_const(*this).ravel(o)); }
  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  auto squeeze() && {
    return take(std::as_const(*this).template squeeze<Axes...>());
  }
  auto transpose() && { return take(std::as_const(*this).transpose()); }
  auto transpose(std::array<std::size_t, N> const& axes) && {
    return take(std::as_const(*this).transpose(axes));
  }

 private:
  template <class, std::size_t>
  friend class device_array;

  static std::size_t bytes_for(roc::shape<N> const& shape, roc::strides<N> const& strides) {
    layout::check_size(shape, sizeof(T));
    auto const range = layout::element_range(shape, strides);
    if (range.low != 0 || !layout::is_unique(shape, strides)) {
      detail::throw_layout_error("device_array with strides ", {strides.data(), N}, "", {},
                                 ": give strides that are not negative and keep elements apart");
    }
    layout::check_size(roc::shape<1>{static_cast<std::size_t>(range.high)}, sizeof(T));
    return static_cast<std::size_t>(range.high) * sizeof(T);
  }

  template <class V>
  V const& checked(V const& value) const {
    if (!alive_) {
      detail::throw_lifetime_error(
          "use of a device_array that owns nothing: it was moved from or never given a shape");
    }
    return value;
  }

  device_view<T, N> whole() const { return {data(), shape_, strides_, memory_.device()}; }

  template <std::size_t M>
  device_array<T, M> take(device_view<T, M> const& as) {
    device_array<T, M> result;
    result.memory_ = std::move(memory_);
    result.shape_ = as.shape();
    result.strides_ = as.strides();
    result.stream_ = stream_;
    result.alive_ = std::exchange(alive_, false);
    return result;
  }

  detail::device_memory memory_;
  roc::shape<N> shape_{};
  roc::strides<N> strides_{};
  stream_ref stream_;
  bool alive_ = false;
};

namespace detail {

template <class X>
using array_of = device_array<typename decltype(side_of(std::declval<X&>()))::value_type,
                              decltype(side_of(std::declval<X&>()))::rank>;

}  // namespace detail

/// A new, uninitialised device array with the element type and shape of `x`, an array, view or
/// range on the host or the device (numba: `device_array_like`). C and F order are kept; any other
/// layout becomes compact with the same order of axes in memory.
template <detail::copy_argument X>
[[nodiscard]] auto device_array_like(X&& x, stream_ref stream = {}) {
  auto const side = detail::side_of(x);
  return detail::array_of<X>(side.extents, layout::like_strides(side.extents, side.steps), stream);
}

/// A device array with the contents of a host array, view or range, complete on return (numba:
/// `to_device`). Its layout is that of device_array_like. Throws what roc::copy throws.
template <detail::host_argument H>
[[nodiscard]] auto to_device(H&& host) {
  auto result = device_array_like(host);
  copy(host, result);
  return result;
}

/// The same, enqueued on `stream`; see roc::copy for how long the source must live.
template <detail::host_argument H>
  requires(!detail::owning_temporary<H>)
[[nodiscard]] auto to_device(H&& host, stream_ref stream) {
  auto result = device_array_like(host, stream);
  copy(host, result, stream);
  return result;
}

/// Into an existing array or view (numba: `to_device(ary, to=)`).
template <detail::host_argument H, detail::device_side D>
void to_device(H&& host, D&& into) {
  copy(host, into);
}
template <detail::host_argument H, detail::device_side D>
  requires(!detail::owning_temporary<H>)
void to_device(H&& host, D&& into, stream_ref stream) {
  copy(host, into, stream);
}

}  // namespace roc

// SPDX-License-Identifier: MIT
// A borrowed view of device memory, for copies and for kernels.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/element.hpp>
#include <roc/detail/fixed.hpp>
#include <roc/detail/device_operations.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

/// Device memory of someone else, in any strided layout: a pointer, a shape, strides (in elements,
/// signed) and a device. Trivially copyable; it goes into kernels by value. The memory must outlive
/// it, and the work enqueued with it.
///
/// See detail::device_operations for copies and for other views of the same memory.
template <class T, std::size_t N = 1>
class device_view : public detail::device_operations<device_view<T, N>, T, N> {
  static_assert(std::is_trivially_copyable_v<T>, "rocarray: elements are copied byte by byte");

 public:
  using roc_device_memory = void;
  using roc_borrowing_view = void;  // a temporary one takes no memory along
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  static constexpr std::size_t rank = N;

  device_view() = default;
  /// Contiguous device memory; `device` is its ordinal, -1 for the current one at the time of use.
  /// Throws shape_error where the size in bytes overflows.
  device_view(T* data, roc::shape<N> const& shape, order o = order::c, int device = -1)
      : device_view(data, shape, layout::compact_strides(shape, o), device) {}
  device_view(T* data, roc::shape<N> const& shape, roc::strides<N> const& strides, int device = -1)
      : data_(data), shape_(shape), strides_(strides), device_(device) {
    layout::check_size(shape, sizeof(T));
  }
  /// To a view of const elements.
  operator device_view<T const, N>() const
    requires(!std::is_const_v<T>)
  {
    return {data_, shape(), strides(), device_};
  }

  ROC_HOST_DEVICE T* data() const noexcept { return data_; }
  roc::shape<N> shape() const noexcept { return shape_.to_array(); }
  roc::strides<N> strides() const noexcept { return strides_.to_array(); }
  ROC_HOST_DEVICE std::size_t extent(std::size_t axis) const noexcept { return shape_[axis]; }
  ROC_HOST_DEVICE std::ptrdiff_t stride(std::size_t axis) const noexcept { return strides_[axis]; }
  ROC_HOST_DEVICE std::size_t size() const noexcept {
    std::size_t count = 1;
    for (std::size_t i = 0; i < N; ++i) count *= shape_[i];
    return count;
  }
  device_view view() const noexcept { return *this; }
  int device_ordinal() const noexcept { return device_; }

  /// One integer per axis: the element. In device code nothing is checked and integers are not
  /// negative; in host code, which kernels of the host platform are, negative integers count from
  /// the end and beyond the extent is a shape_error.
  template <layout::integer_index... I>
    requires(sizeof...(I) == N)
  ROC_HOST_DEVICE element<T> operator()(I... index) const {
#if ROC_DEVICE_PASS
    [[maybe_unused]] std::size_t axis = 0;
    std::ptrdiff_t offset = 0;
    ((offset += static_cast<std::ptrdiff_t>(index) * strides_[axis++]), ...);
    return element<T>(device_view<T, 0>(data_ + offset, device_));
#else
    auto const place = layout::index(layout::mapping<N>{shape(), strides(), 0}, index...);
    return element<T>(device_view<T, 0>(data_ + place.offset, device_));
#endif
  }
  /// A view of a region: integers, roc::slice, roc::all, roc::newaxis, roc::ellipsis. Throws
  /// shape_error beyond an extent; too many or too few expressions do not compile.
  template <layout::index_expression... E>
    requires(layout::indexes<N, E...> && !(layout::integer_index<E> && ...))
  auto operator()(E... expressions) const {
    return this->region(expressions...);
  }

 private:
  template <class, std::size_t>
  friend class device_view;

  // The element that an index names.
  ROC_HOST_DEVICE device_view(T* data, int device)
    requires(N == 0)
      : data_(data), device_(device) {}

  T* data_ = nullptr;
  detail::fixed<std::size_t, N> shape_;
  detail::fixed<std::ptrdiff_t, N> strides_;
  int device_ = -1;
};

}  // namespace roc

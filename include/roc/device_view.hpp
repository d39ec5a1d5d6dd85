// SPDX-License-Identifier: MIT
// A borrowed view of device memory, for copies and for kernels.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/copy_forms.hpp>
#include <roc/detail/device_check.hpp>
#include <roc/detail/device_copies.hpp>
#include <roc/detail/element.hpp>
#include <roc/detail/fixed.hpp>
#include <roc/detail/view_operations.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

/// Device memory of someone else, in any strided layout: a pointer, a shape, strides (in elements,
/// signed) and a device. Trivially copyable; it goes into kernels by value. The memory must outlive
/// it, and the work enqueued with it.
///
/// detail::device_copies has its copies, detail::view_operations other views of the same memory and
/// fills, detail::copy_forms what makes new arrays.
template <class T, std::size_t N = 1>
class device_view : public detail::view_operations<device_view<T, N>, T, N>,
                    public detail::device_copies<device_view<T, N>, T, N>,
                    public detail::copy_forms<device_view<T, N>, T, N> {
  static_assert(std::is_trivially_copyable_v<T>, "rocarray: elements are copied byte by byte");

 public:
  using roc_device_memory = void;
  using roc_borrowing_view = void;  // a temporary one takes no memory along
  using element_type = T;                  ///< as std::mdspan calls it
  using value_type = std::remove_cv_t<T>;  ///< as std::mdspan calls it
  static constexpr std::size_t rank = N;   ///< the number of axes
  static constexpr detail::place memory_place = detail::place::device;

  device_view() = default;  ///< of nothing: null, all extents 0
  /// Contiguous device memory; `device` is its ordinal, -1 for the current one at the time of use.
  /// Throws shape_error where the size in bytes overflows.
  device_view(T* data, roc::shape<N> const& shape, order o = order::c, int device = -1)
      : device_view(data, shape, layout::compact_strides(shape, o), device) {}
  /// With strides in elements, which may be negative or 0.
  device_view(T* data, roc::shape<N> const& shape, roc::strides<N> const& strides, int device = -1)
      : data_(data), shape_(shape), strides_(strides), device_(device) {
    layout::check_size(shape, sizeof(T));
  }
  /// From a view of elements that can be changed, to one of const elements.
  template <class U>
    requires(std::is_const_v<T> && std::same_as<U, value_type>)
  ROCARRAY_HOST_DEVICE device_view(device_view<U, N> const& other)  // NOLINT: implicit, as for pointers
      : data_(other.data_), shape_(other.shape_), strides_(other.strides_), device_(other.device_) {}

  /// The element of index 0 on each axis; not to be read by the host.
  ROCARRAY_HOST_DEVICE T* data() const noexcept { return data_; }
  /// Elements along each axis; in host code, kernels ask extent.
  roc::shape<N> shape() const noexcept { return shape_.to_array(); }
  /// In elements, signed; in host code, kernels ask stride.
  roc::strides<N> strides() const noexcept { return strides_.to_array(); }
  /// Elements along one axis, which must be less than the rank.
  ROCARRAY_HOST_DEVICE std::size_t extent(std::size_t axis) const noexcept { return shape_[axis]; }
  /// Elements from one index of the axis to the next.
  ROCARRAY_HOST_DEVICE std::ptrdiff_t stride(std::size_t axis) const noexcept { return strides_[axis]; }
  /// Elements in all.
  ROCARRAY_HOST_DEVICE std::size_t size() const noexcept {
    std::size_t count = 1;
    for (std::size_t i = 0; i != N; ++i) count *= shape_[i];
    return count;
  }
  device_view view() const noexcept { return *this; }  ///< itself, as arrays give one
  /// Of the device that has the memory; -1: the current one at the time of use.
  int device_ordinal() const noexcept { return device_; }

  /// One integer per axis: the element. Negative integers count from the end. Beyond the extent is
  /// a shape_error in host code, which kernels of the host platform are; device code does not look,
  /// unless ROCARRAY_CHECK_BOUNDS is 1.
  template <bool Checked = detail::check_bounds, layout::integer_index... I>
    requires(sizeof...(I) == N)
  ROCARRAY_HOST_DEVICE element<T> operator()(I... index) const {
    [[maybe_unused]] std::size_t axis = 0;
    std::ptrdiff_t offset = 0;
    ((offset += layout::detail::place<Checked>(index, axis, shape_[axis]) * strides_[axis], ++axis),
     ...);
    return element<T>(device_view<T, 0>(data_ + offset, device_));
  }
  /// A view of a region: integers, roc::slice, roc::all, roc::newaxis, roc::ellipsis. Throws
  /// shape_error beyond an extent, in host code; too many or too few expressions do not compile.
  template <bool Checked = detail::check_bounds, layout::index_expression... E>
    requires(layout::indexes<N, E...> && !(layout::integer_index<E> && ...))
  ROCARRAY_HOST_DEVICE auto operator()(E... expressions) const {
    auto const to = layout::detail::index<Checked>(
        layout::detail::kernel_mapping<N>{shape_, strides_, 0}, expressions...);
    return device_view<T, layout::index_rank<N, E...>>(
        data_ == nullptr ? nullptr : data_ + to.offset, to, device_);
  }

 private:
  template <class, std::size_t>
  friend class device_view;
  template <class, class, std::size_t>
  friend class detail::view_operations;

  ROCARRAY_HOST_DEVICE device_view(T* data, layout::detail::kernel_mapping<N> const& at, int device)
      : data_(data), shape_(at.shape), strides_(at.strides), device_(device) {}
  // The element that an index names.
  ROCARRAY_HOST_DEVICE device_view(T* data, int device)
    requires(N == 0)
      : data_(data), device_(device) {}

  template <class U, std::size_t M>
  device_view<U, M> same_memory(U* data, roc::shape<M> const& shape,
                                roc::strides<M> const& strides) const {
    return {data, shape, strides, device_};
  }

  T* data_ = nullptr;
  detail::fixed<std::size_t, N> shape_;
  detail::fixed<std::ptrdiff_t, N> strides_;
  int device_ = -1;
};

}  // namespace roc

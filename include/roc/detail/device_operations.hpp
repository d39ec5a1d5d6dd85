// SPDX-License-Identifier: MIT
// What device arrays and device views can do alike: copies, and other views of the same memory.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/host_array.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/reshape.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

template <class T, std::size_t N>
class device_view;

namespace detail {

/// Base of device_view and device_array; `Self` gives view(). The functions that return views
/// borrow: the array must outlive the view and the work enqueued with it.
template <class Self, class T, std::size_t N>
class device_operations {
 public:
  /// Payload: elements times their size, gaps not counted.
  std::size_t size_bytes() const { return self().size() * sizeof(T); }
  /// Contiguous in C order (F order). Unit axes do not matter; zero-size arrays are both.
  bool is_c_contiguous() const {
    return layout::is_c_contiguous(self().shape(), self().strides());
  }
  bool is_f_contiguous() const {
    return layout::is_f_contiguous(self().shape(), self().strides());
  }

  /// A new pageable host array with the same shape and axis order, complete on return; see roc::copy
  /// (numba: `copy_to_host`).
  auto copy_to_host() const {
    auto const view = self().view();
    host_array<std::remove_cv_t<T>, N> result(
        view.shape(), layout::like_strides(view.shape(), view.strides()));
    copy(view, result);
    return result;
  }
  /// Into existing host memory: see roc::copy for what it waits for and what it throws.
  template <writable_argument H>
    requires host_argument<H>
  void copy_to_host(H&& destination) const {
    auto const view = self().view();
    copy(view, destination);
  }
  /// Enqueued on `stream`; a pageable destination is complete after synchronisation.
  template <writable_argument H>
    requires(host_argument<H> && !owning_temporary<H>)
  void copy_to_host(H&& destination, stream_ref stream) const {
    auto const view = self().view();
    copy(view, destination, stream);
  }
  /// A new array, enqueued on `stream` and complete after synchronisation. Its destructor waits for
  /// the copy.
  auto copy_to_host(stream_ref stream) const {
    auto const view = self().view();
    host_array<std::remove_cv_t<T>, N> result(
        view.shape(), layout::like_strides(view.shape(), view.strides()));
    copy(view, result, stream);
    return result;
  }

  /// Fills this from host or device memory (numba: `copy_to_device`); see roc::copy.
  template <copy_argument S>
  void copy_to_device(S&& source) const {
    auto const view = self().view();
    copy(source, view);
  }
  /// Enqueued on `stream`.
  template <copy_argument S>
    requires(!owning_temporary<S>)
  void copy_to_device(S&& source, stream_ref stream) const {
    auto const view = self().view();
    copy(source, view, stream);
  }
  template <copy_argument S>
    requires(!owning_temporary<S>)
  void copy_to_device(S&& source, stream_ref stream, borrow_source_t) const {
    auto const view = self().view();
    copy(source, view, stream, borrow_source);
  }

  /// A view with other extents of the same size, one of which may be -1, elements kept in C order.
  /// Throws shape_error (sizes differ), layout_error (only a copy could do it: an array that is not
  /// contiguous in that order).
  template <std::integral... E>
  auto reshape(E... extents) const& {
    return reshaped(layout::signed_shape<sizeof...(E)>{static_cast<std::ptrdiff_t>(extents)...},
                    order::c);
  }
  /// The same with the order in which elements are counted (numba: `reshape(shape, order=)`).
  template <std::size_t M>
  auto reshape(roc::shape<M> const& extents, order o = order::c) const& {
    layout::signed_shape<M> wanted{};
    for (std::size_t i = 0; i < M; ++i) wanted[i] = static_cast<std::ptrdiff_t>(extents[i]);
    return reshaped(wanted, o);
  }
  /// A view of rank 1 over all elements in the given order; layout_error where that needs a copy.
  auto ravel(order o = order::c) const& { return reshaped(layout::signed_shape<1>{-1}, o); }
  /// A view without the named axes, whose extent must be 1 (shape_error).
  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  auto squeeze() const& {
    return mapped(layout::squeeze<Axes...>(mapping()));
  }
  /// A view with the axes in reverse.
  auto transpose() const& { return transpose(layout::reversed_axes<N>()); }
  /// A view whose axis i is axis axes[i]; layout_error where `axes` is no permutation.
  auto transpose(std::array<std::size_t, N> const& axes) const& {
    return mapped(layout::transpose(mapping(), axes));
  }

 protected:
  layout::mapping<N> mapping() const { return {self().shape(), self().strides(), 0}; }

  template <class... E>
  auto region(E... expressions) const {
    return mapped(layout::index(mapping(), expressions...));
  }

  template <std::size_t M>
  auto mapped(layout::mapping<M> const& to) const {
    auto const view = self().view();
    return device_view<T, M>(view.data() == nullptr ? nullptr : view.data() + to.offset, to.shape,
                             to.strides, view.device_ordinal());
  }

  template <std::size_t M>
  auto reshaped(layout::signed_shape<M> const& extents, order o) const {
    auto const from = mapping();
    return mapped(layout::reshape(from, layout::complete_shape(from.shape, extents), o));
  }

 private:
  Self const& self() const { return static_cast<Self const&>(*this); }
};

}  // namespace detail
}  // namespace roc

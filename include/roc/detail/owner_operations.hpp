// SPDX-License-Identifier: MIT
// What every array can do, on the host and on the device. On an array that stays, the result is a
// view that borrows; on one that is about to go (an rvalue), an array that takes the memory along.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <utility>

#include <roc/config.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/reshape.hpp>
#include <roc/layout/shape.hpp>

namespace roc::detail {

/// Base of device_array and host_array; see view_operations for what the functions mean and throw.
/// Where one throws, the array keeps its memory. Of the forms that take it along, transpose keeps
/// padding, in the others it is a gap.
template <class Self, class T, std::size_t N>
class owner_operations {
 public:
  /// Payload: elements times their size; gaps and padding are not counted.
  std::size_t size_bytes() const { return self().size() * sizeof(T); }
  /// Contiguous in C order. Unit axes do not matter; zero-size arrays are.
  bool is_c_contiguous() const {
    return layout::is_c_contiguous(self().shape(), self().strides());
  }
  /// Contiguous in F order.
  bool is_f_contiguous() const {
    return layout::is_f_contiguous(self().shape(), self().strides());
  }

  /// Of an array that stays, what view_operations gives under this name: a view that borrows. Of
  /// one that is about to go, an array that takes the memory along.
  ///@{
  template <std::integral... E>
  auto reshape(E... extents) & {
    return self().view().reshape(extents...);
  }
  template <std::integral... E>
  auto reshape(E... extents) const& {
    return self().view().reshape(extents...);
  }
  template <std::integral... E>
  auto reshape(E... extents) && {
    return self().take(self().view().reshape(extents...));
  }
  template <std::size_t M>
  auto reshape(roc::shape<M> const& extents, order o = order::c) & {
    return self().view().reshape(extents, o);
  }
  template <std::size_t M>
  auto reshape(roc::shape<M> const& extents, order o = order::c) const& {
    return self().view().reshape(extents, o);
  }
  template <std::size_t M>
  auto reshape(roc::shape<M> const& extents, order o = order::c) && {
    return self().take(self().view().reshape(extents, o));
  }

  auto ravel(order o = order::c) & { return self().view().ravel(o); }
  auto ravel(order o = order::c) const& { return self().view().ravel(o); }
  auto ravel(order o = order::c) && { return self().take(self().view().ravel(o)); }

  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  auto squeeze() & {
    return self().view().template squeeze<Axes...>();
  }
  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  auto squeeze() const& {
    return self().view().template squeeze<Axes...>();
  }
  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  auto squeeze() && {
    return self().take(self().view().template squeeze<Axes...>());
  }
  template <std::size_t M>
  auto squeeze_to() & {
    return self().view().template squeeze_to<M>();
  }
  template <std::size_t M>
  auto squeeze_to() const& {
    return self().view().template squeeze_to<M>();
  }
  template <std::size_t M>
  auto squeeze_to() && {
    return self().take(self().view().template squeeze_to<M>());
  }

  auto transpose() & { return self().view().transpose(); }
  auto transpose() const& { return self().view().transpose(); }
  auto transpose() && { return turned(layout::reversed_axes<N>()); }
  auto transpose(std::array<std::size_t, N> const& axes) & {
    return self().view().transpose(axes);
  }
  auto transpose(std::array<std::size_t, N> const& axes) const& {
    return self().view().transpose(axes);
  }
  auto transpose(std::array<std::size_t, N> const& axes) && { return turned(axes); }

  template <class U>
  auto as() & {
    return self().view().template as<U>();
  }
  template <class U>
  auto as() const& {
    return self().view().template as<U>();
  }
  template <class U>
  auto as() && {
    return self().take(self().view().template as<U>());
  }
  template <class U, class Record>
  auto field(U Record::*member) & {
    return self().view().field(member);
  }
  template <class U, class Record>
  auto field(U Record::*member) const& {
    return self().view().field(member);
  }
  template <class U, class Record>
  auto field(U Record::*member) && {
    return self().take(self().view().field(member));
  }

  // Views of parts: an array that is about to go has no single heir.
  auto split(std::size_t section, std::size_t axis = 0) & {
    return self().view().split(section, axis);
  }
  auto split(std::size_t section, std::size_t axis = 0) const& {
    return self().view().split(section, axis);
  }
  auto split(std::size_t section, std::size_t axis = 0) && = delete;

  // A region with a single element as a view of rank 0.
  template <layout::index_expression... E>
    requires layout::indexes<N, E...>
  auto region(E... expressions) & {
    return self().view().region(expressions...);
  }
  template <layout::index_expression... E>
    requires layout::indexes<N, E...>
  auto region(E... expressions) const& {
    return self().view().region(expressions...);
  }
  template <layout::index_expression... E>
    requires layout::indexes<N, E...>
  auto region(E... expressions) && {
    return self().take(self().view().region(expressions...));
  }
  ///@}

 private:
  Self& self() { return static_cast<Self&>(*this); }
  Self const& self() const { return static_cast<Self const&>(*this); }

  // The memory goes to an array of another form. Padding keeps its meaning only where the axes do.
  auto turned(std::array<std::size_t, N> const& axes) {
    auto const view = self().view().transpose(axes);
    auto const padding = self().padding_of(axes);
    auto result = self().take(view);
    result.set_padding(padding);
    return result;
  }
};

}  // namespace roc::detail

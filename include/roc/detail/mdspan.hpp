// SPDX-License-Identifier: MIT
// std::mdspan by its members: standard libraries that lack it are no hindrance, and the reference
// implementation is as good.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <roc/layout/shape.hpp>

namespace roc::detail {

template <class M>
concept mdspan_like = requires(M const& m, std::size_t axis) {
  typename M::element_type;
  typename M::value_type;
  typename M::data_handle_type;
  typename M::mapping_type;
  requires std::is_pointer_v<typename M::data_handle_type>;
  // An accessor that gives other values than lie in memory is none for a copy.
  requires std::same_as<typename M::reference, typename M::element_type&>;
  requires M::is_always_unique();
  requires M::is_always_strided();
  { M::rank() } -> std::convertible_to<std::size_t>;
  { m.data_handle() } -> std::same_as<typename M::data_handle_type const&>;
  { m.extent(axis) } -> std::convertible_to<std::size_t>;
  { m.stride(axis) } -> std::convertible_to<std::ptrdiff_t>;
};

template <mdspan_like M>
constexpr auto shape_of([[maybe_unused]] M const& span) {
  shape<M::rank()> result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<std::size_t>(span.extent(i));
  }
  return result;
}

template <mdspan_like M>
constexpr auto strides_of([[maybe_unused]] M const& span) {
  strides<M::rank()> result{};
  if constexpr (M::rank() != 0) {  // there is no stride(i) without axes
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = static_cast<std::ptrdiff_t>(span.stride(i));
    }
  }
  return result;
}

}  // namespace roc::detail

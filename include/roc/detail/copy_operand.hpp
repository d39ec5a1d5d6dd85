// SPDX-License-Identifier: MIT
// Operands of copies: from arrays, views and ranges to what the compiled library takes. Also which
// misuse, if any, the arguments of a call have.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <roc/detail/argument_traits.hpp>
#include <roc/detail/misuse.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/detail/throw.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// Returns a view of all of a host array, C array, range or mdspan. A host view is returned as it
/// is.
template <host_argument H>
auto as_host_view(H& host) {
  if constexpr (is_host_view<H>) {
    return host;
  } else if constexpr (is_host_array<H>) {
    return host.view();
  } else if constexpr (std::is_array_v<H>) {
    // Extents of all dimensions, in C order: the array is one contiguous block.
    constexpr std::size_t rank = std::rank_v<H>;
    using element = std::remove_all_extents_t<H>;
    return []<std::size_t... I>(H& array, std::index_sequence<I...>) {
      return host_view<element, rank>(reinterpret_cast<element*>(&array),
                                      shape<rank>{std::extent_v<H, I>...});
    }(host, std::make_index_sequence<rank>{});
  } else if constexpr (mdspan_like<std::remove_const_t<H>>) {
    return host_view(host);
  } else {
    using element = std::remove_pointer_t<decltype(std::data(host))>;
    return host_view<element, 1>(std::data(host), shape<1>{std::size(host)});
  }
}

/// Returns a view of all of an argument, on the host or the device.
template <copy_argument X>
auto view_of(X& x) {
  if constexpr (device_argument<X>) {
    return x.view();
  } else {
    return as_host_view(x);
  }
}

/// The view that view_of returns for an argument of type X, which may be a reference.
template <class X>
using view_type = std::remove_const_t<decltype(view_of(std::declval<X&>()))>;
template <class X>
using argument_value_type = typename view_type<X>::value_type;
template <class X>
inline constexpr std::size_t argument_rank = view_type<X>::rank;

/// An operand whose elements can be written.
template <class X>
concept writable_argument =
    copy_argument<X> && !std::is_const_v<typename view_type<X>::element_type>;

/// One operand of a copy with its element type and rank. Borrows the memory.
template <class T, std::size_t N>
struct copy_operand {
  using value_type = std::remove_cv_t<T>;
  static constexpr std::size_t rank = N;

  T* data;
  roc::shape<N> shape;
  roc::strides<N> strides;
  memory_space space;
  int device;
  bool is_untracked = false;      // see strided_region
  bool is_partly_pinned = false;  // see strided_region

  /// Returns this without its types. The result points into this object.
  detail::strided_region region() const {
    return {const_cast<value_type*>(data),
            sizeof(T),
            N,
            shape.data(),
            strides.data(),
            space,
            device,
            is_untracked,
            is_partly_pinned};
  }

  /// Returns this operand with the shape of the other one: contiguous host memory of rank 1 matches
  /// an array of any rank with as many elements, in C order. Throws shape_error otherwise.
  template <std::size_t M>
  copy_operand<T, M> with_rank_of(roc::shape<M> const& other) const {
    static_assert(M == N || N == 1,
                  "rocarray: source and destination have different ranks: use a view of the same "
                  "rank, or a contiguous range");
    if constexpr (M == N) {
      return *this;
    } else {
      if (space == memory_space::device) throw_ranks(other);
      if (shape[0] != layout::element_count(other) || !layout::is_c_contiguous(shape, strides)) {
        throw_mismatch(other);
      }
      return {data,         other,           layout::compact_strides(other), space, device,
              is_untracked, is_partly_pinned};
    }
  }

 private:
  template <std::size_t M>
  [[noreturn]] void throw_ranks(roc::shape<M> const& other) const {
    throw_shape_error(
        "incompatible rank: device array of shape {}, other array of shape {}; reshape the device "
        "array (only contiguous host memory matches any rank)",
        shape, other);
  }
  template <std::size_t M>
  [[noreturn]] void throw_mismatch(roc::shape<M> const& other) const {
    throw_shape_error(
        "incompatible shape: array {}, flat range {}; the range must be contiguous and have as "
        "many elements as the array",
        other, shape);
  }
};

/// Returns an argument as an operand.
template <copy_argument X>
auto operand_of(X& x) {
  auto const view = view_of(x);
  check_device(view.device_ordinal());
  using type = std::remove_const_t<decltype(view)>;
  return copy_operand<typename type::element_type, type::rank>{
      view.data(), view.shape(), view.strides(), memory_space_of<type>, view.device_ordinal()};
}

/// Calls f(source, destination) with both operands as regions of the same rank: an operand of rank
/// 1 takes the shape of the other one.
template <class S, class D, class F>
auto with_equal_ranks(S const& from, D const& to, F f) {
  static_assert(std::is_same_v<typename S::value_type, typename D::value_type>,
                "rocarray: source and destination have different element types");
  if constexpr (S::rank == D::rank) {
    return f(from.region(), to.region());
  } else if constexpr (S::rank == 1) {
    auto const reshaped = from.with_rank_of(to.shape);
    return f(reshaped.region(), to.region());
  } else {
    auto const reshaped = to.with_rank_of(from.shape);
    return f(from.region(), reshaped.region());
  }
}

// Each find_* function returns an object of the type in roc::misuse that names the problem, or
// misuse::none.

template <class X>
concept vector_of_bool = requires {
  requires std::same_as<typename std::remove_cvref_t<X>::value_type, bool>;
  requires std::same_as<typename std::remove_cvref_t<X>::const_reference, bool>;
};

template <class X>
constexpr auto find_argument_misuse() {
  using type = std::remove_cvref_t<X>;
  if constexpr (copy_argument<X>) {
    return misuse::none{};
  } else if constexpr (std::is_pointer_v<type> || std::is_null_pointer_v<type>) {
    return misuse::raw_pointer_has_no_size_so_make_a_host_view_or_a_device_view{};
  } else if constexpr (vector_of_bool<X>) {
    return misuse::vector_of_bool_has_no_addressable_elements{};
  } else if constexpr (std::is_array_v<type> || sized_data<X>) {
    return misuse::elements_are_not_trivially_copyable{};
  } else {
    return misuse::argument_is_not_an_array_a_view_or_a_contiguous_range{};
  }
}

/// The problem with an argument of a copy, fill or registration, before it is paired with another.
template <class X>
using argument_misuse = decltype(find_argument_misuse<X>());

template <class X>
constexpr auto find_host_misuse() {
  if constexpr (device_argument<X>) {
    return misuse::device_memory_was_given_but_host_memory_is_needed{};
  } else {
    return argument_misuse<X>{};
  }
}
/// The problem with an argument that must be host memory.
template <class X>
using host_misuse = decltype(find_host_misuse<X>());

template <class X>
constexpr auto find_device_misuse() {
  if constexpr (host_argument<X>) {
    return misuse::host_memory_was_given_but_device_memory_is_needed{};
  } else {
    return argument_misuse<X>{};
  }
}
/// The problem with an argument that must be device memory.
template <class X>
using device_misuse = decltype(find_device_misuse<X>());

template <class X>
constexpr auto find_destination_misuse() {
  if constexpr (writable_argument<X> || !copy_argument<X>) {
    return argument_misuse<X>{};
  } else {
    return misuse::destination_is_const{};
  }
}
/// The problem with an argument that is written.
template <class X>
using destination_misuse = decltype(find_destination_misuse<X>());

template <class X>
constexpr auto find_fill_argument_misuse() {
  if constexpr (copy_argument<X>) {
    return fill_misuse<typename view_type<X>::element_type>{};
  } else {
    return argument_misuse<X>{};
  }
}
/// The problem with an argument that a fill writes.
template <class X>
using fill_argument_misuse = decltype(find_fill_argument_misuse<X>());

/// The problem with the argument of an asynchronous call that has to be a stream.
template <class X>
using stream_misuse =
    std::conditional_t<std::is_convertible_v<X, stream_ref>, misuse::none,
                       misuse::argument_is_not_a_roc_stream_so_wrap_a_native_one_with_from_native>;

/// The problem with arguments that must outlive an asynchronous call.
template <class... X>
using temporary_misuse = std::conditional_t<
    (owning_temporary<X> || ...),
    misuse::temporary_would_be_destroyed_before_the_asynchronous_call_has_finished, misuse::none>;

template <class S, class D>
constexpr auto find_copy_misuse() {
  using misuse_of_one_operand = first_misuse<argument_misuse<S>, destination_misuse<D>>;
  if constexpr (!std::same_as<misuse_of_one_operand, misuse::none>) {
    return misuse_of_one_operand{};
  } else if constexpr (!std::same_as<argument_value_type<S>, argument_value_type<D>>) {
    return misuse::element_types_of_source_and_destination_differ{};
  } else if constexpr (argument_rank<S> != argument_rank<D> && argument_rank<S> != 1 &&
                       argument_rank<D> != 1) {
    return misuse::ranks_of_source_and_destination_differ{};
  } else {
    return misuse::none{};
  }
}
/// The problem with a copy from S to D that is complete on return.
template <class S, class D>
using copy_misuse = decltype(find_copy_misuse<S, D>());
/// The problem with an asynchronous copy from S to D.
template <class S, class D>
using async_copy_misuse =
    first_misuse<argument_misuse<S>, argument_misuse<D>, temporary_misuse<S, D>, copy_misuse<S, D>>;

template <class S, class D>
concept copyable_to = correct_use<copy_misuse<S, D>>;
template <class S, class D>
concept async_copyable_to = correct_use<async_copy_misuse<S, D>>;

}  // namespace roc::detail

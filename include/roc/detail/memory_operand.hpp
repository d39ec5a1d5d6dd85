// SPDX-License-Identifier: MIT
// Operands of roc::copy: beyond arrays, views and ranges in memory that their type names, also
// memory whose kind is looked up, and tensors whose element type and rank are known at run time.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <roc/detail/argument_traits.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/locate.hpp>
#include <roc/detail/misuse.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/detail/tensor_operand.hpp>
#include <roc/memory_view.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

template <class X>
inline constexpr bool memory_view_type = false;
template <class T, std::size_t N>
inline constexpr bool memory_view_type<memory_view<T, N>> = true;
template <class X>
concept is_memory_view = memory_view_type<std::remove_cvref_t<X>>;

/// Tensors, by their type X without const. A header that supports one specializes it with
/// `is_tensor` as true, `describe(x)`, which returns a tensor_description and may throw, and
/// `type_of<T>`, the element_type of T.
template <class X>
struct tensor_traits {
  static constexpr bool is_tensor = false;
};
template <class X>
concept tensor_argument = tensor_traits<std::remove_cvref_t<X>>::is_tensor;

/// Any operand of roc::copy.
template <class X>
concept memory_argument = copy_argument<X> || is_memory_view<X> || tensor_argument<X>;

// Standard containers that allocate pageable host memory.
template <class X>
inline constexpr bool host_container = false;
template <class T, std::size_t N>
inline constexpr bool host_container<std::array<T, N>> = true;
template <class T>
inline constexpr bool host_container<std::vector<T, std::allocator<T>>> = true;

/// An operand whose type does not tell where its memory is: mdspans, spans, containers of other
/// libraries. Its location is looked up.
template <class X>
concept located_at_run_time =
    is_memory_view<X> ||
    (host_argument<X> && !is_host_view<X> && !is_host_array<X> &&
     !std::is_array_v<std::remove_reference_t<X>> && !host_container<std::remove_cvref_t<X>>);

/// Returns a view of all of an argument that is no tensor. Constrained because its return type is
/// deduced: without that, a candidate of overload resolution for a tensor would not compile.
template <class X>
  requires(is_memory_view<X> || copy_argument<X>)
auto memory_view_of(X& x) {
  if constexpr (is_memory_view<X>) {
    return x;
  } else {
    return view_of(x);
  }
}
template <class X>
using memory_view_for = std::remove_const_t<decltype(memory_view_of(std::declval<X&>()))>;

/// Returns an argument that is no tensor as an operand. If its type does not tell where the memory
/// is, that is looked up. Throws what locate throws.
template <class X>
auto located_operand_of(X& x, operand_role role) {
  if constexpr (!located_at_run_time<X>) {
    return operand_of(x);
  } else {
    auto const view = memory_view_of(x);
    using type = std::remove_const_t<decltype(view)>;
    copy_operand<typename type::element_type, type::rank> operand{
        view.data(), view.shape(), view.strides(), memory_space::host, -1};
    strided_region region = operand.region();
    memory_location const* stated = nullptr;
    if constexpr (is_memory_view<X>) {
      if (view.location()) stated = &*view.location();
    }
    locate(region, stated, role);
    operand.space = region.space;
    operand.device = region.device;
    operand.is_untracked = region.is_untracked;
    operand.is_partly_pinned = region.is_partly_pinned;
    return operand;
  }
}

/// Returns an argument as an operand for a copy from or to a `Tensor`.
template <class Tensor, class X>
tensor_operand tensor_operand_of(X& x, operand_role role) {
  if constexpr (tensor_argument<X>) {
    tensor_operand result(tensor_traits<std::remove_cvref_t<X>>::describe(x), name_of(role));
    result.look_up(role);
    return result;
  } else {
    auto const operand = located_operand_of(x, role);
    static_assert(std::remove_const_t<decltype(operand)>::rank <= tensor_operand::max_rank,
                  "rocarray: an operand that is copied from or to a tensor has more than 64 axes");
    using value = typename std::remove_const_t<decltype(operand)>::value_type;
    return {operand.region(), tensor_traits<Tensor>::template type_of<value>, name_of(role)};
  }
}

/// Calls f(source, destination) with both arguments as regions. Their ranks are equal, unless one
/// of them is a tensor.
template <class S, class D, class F>
auto with_regions(S& from, D& to, F f) {
  if constexpr (tensor_argument<S> || tensor_argument<D>) {
    using tensor = std::remove_cvref_t<std::conditional_t<tensor_argument<S>, S, D>>;
    tensor_operand source = tensor_operand_of<tensor>(from, operand_role::source);
    tensor_operand destination = tensor_operand_of<tensor>(to, operand_role::destination);
    tensor_operand::match(source, destination);
    return f(source.region(), destination.region());
  } else {
    return with_equal_ranks(located_operand_of(from, operand_role::source),
                            located_operand_of(to, operand_role::destination), f);
  }
}

/// Copies between two arguments; `stream` and `use` are as for detail::copy.
template <class S, class D>
void copy_arguments(S& from, D& to, stream_ref const* stream, source_use use = source_use::copied) {
  with_regions(from, to, [&](strided_region const& source, strided_region const& destination) {
    copy(source, destination, stream, use);
  });
}

/// Calls f(region) for an argument that is written and whose type does not tell where its memory
/// is.
template <class X, class F>
void with_destination_region(X& to, F f) {
  constexpr auto role = operand_role::destination;
  if constexpr (tensor_argument<X>) {
    tensor_operand destination(tensor_traits<std::remove_cvref_t<X>>::describe(to), name_of(role));
    destination.check_writable();
    destination.look_up(role);
    f(destination.region());
  } else {
    auto const destination = located_operand_of(to, role);
    f(destination.region());
  }
}
template <class X>
concept looked_up_argument = tensor_argument<X> || located_at_run_time<X>;

/// The elements of an argument of roc::copy that is no tensor.
template <class X>
using memory_value_type = typename memory_view_for<X>::value_type;

/// Writes `value` to every element of an argument; `stream` is as for detail::fill. Throws
/// dlpack_error if a tensor has elements of another type.
template <class X, class V>
void fill_argument(X& to, V const& value, stream_ref const* stream) {
  if constexpr (tensor_argument<X>) {
    using traits = tensor_traits<std::remove_cvref_t<X>>;
    element_type const actual = traits::describe(to).type;
    constexpr element_type given = traits::template type_of<V>;
    if (actual != given) throw_value_type_differs(given, actual);
  }
  if constexpr (looked_up_argument<X>) {
    with_destination_region(to,
                            [&](strided_region const& region) { fill(region, &value, stream); });
  } else if (stream == nullptr) {
    view_of(to).fill(value);
  } else {
    view_of(to).fill(value, *stream);
  }
}
/// Writes zero bytes to every element of an argument. Zeroing an array includes its padding.
template <class X>
void zero_argument(X& to, stream_ref const* stream) {
  if constexpr (looked_up_argument<X>) {
    with_destination_region(to, [&](strided_region const& region) { zero(region, stream); });
  } else if constexpr (owning_array<X>) {
    stream == nullptr ? to.zero() : to.zero(*stream);
  } else {
    stream == nullptr ? view_of(to).zero() : view_of(to).zero(*stream);
  }
}

/// The direction of a copy from S to D, for messages; null if the types do not tell it.
template <class S, class D>
constexpr char const* find_memory_direction() {
  if constexpr (copy_argument<S> && copy_argument<D> && !located_at_run_time<S> &&
                !located_at_run_time<D>) {
    return copy_direction<S, D>;
  } else {
    return nullptr;
  }
}
template <class S, class D>
inline constexpr char const* memory_direction = find_memory_direction<S, D>();

// Which misuse the arguments of a copy have; as in copy_operand.hpp.

template <class X>
concept owning_memory_temporary = !is_memory_view<X> && !tensor_argument<X> && owning_temporary<X>;
/// The problem with temporaries in an asynchronous call.
template <class... X>
using memory_temporary_misuse = std::conditional_t<
    (owning_memory_temporary<X> || ...),
    misuse::temporary_would_be_destroyed_before_the_asynchronous_call_has_finished, misuse::none>;

/// Has the members of an mdspan, whatever its layout and its accessor are.
template <class X>
concept any_mdspan = requires {
  typename X::data_handle_type;
  typename X::mapping_type;
  typename X::accessor_type;
  X::rank();
};

template <class X>
constexpr auto find_memory_misuse() {
  using type = std::remove_cvref_t<X>;
  if constexpr (mdspan_like<type>) {
    using element = typename type::value_type;
    return std::conditional_t<std::is_trivially_copyable_v<element>, misuse::none,
                              misuse::elements_are_not_trivially_copyable>{};
  } else if constexpr (memory_argument<X>) {
    return misuse::none{};
  } else if constexpr (any_mdspan<type>) {
    return misuse::mdspan_has_no_strided_layout_or_no_default_accessor{};
  } else {
    return argument_misuse<X>{};
  }
}
/// The problem with an operand of roc::copy, before it is paired with another.
template <class X>
using memory_misuse = decltype(find_memory_misuse<X>());

template <class X>
constexpr auto find_destination_memory_misuse() {
  if constexpr (is_memory_view<X>) {
    return write_misuse<typename std::remove_cvref_t<X>::element_type>{};
  } else if constexpr (copy_argument<X> && std::same_as<memory_misuse<X>, misuse::none>) {
    return destination_misuse<X>{};
  } else {
    return memory_misuse<X>{};
  }
}
/// The problem with the destination of roc::copy.
template <class X>
using destination_memory_misuse = decltype(find_destination_memory_misuse<X>());

template <class X>
constexpr auto find_fill_memory_misuse() {
  if constexpr (is_memory_view<X>) {
    return fill_misuse<typename std::remove_cvref_t<X>::element_type>{};
  } else if constexpr (copy_argument<X> && std::same_as<memory_misuse<X>, misuse::none>) {
    return fill_argument_misuse<X>{};
  } else {
    return memory_misuse<X>{};
  }
}
/// The problem with the destination of roc::fill.
template <class X>
using fill_memory_misuse = decltype(find_fill_memory_misuse<X>());
/// The problem with the value of roc::fill. The type of a tensor's elements is known at run time
/// only, so that the type of the value is checked instead.
template <class X, class V>
using fill_value_misuse = std::conditional_t<tensor_argument<X>, fill_misuse<V>, misuse::none>;

/// Returns false if a static extent of one mdspan differs from that of the other one.
template <class S, class D>
constexpr bool have_compatible_extents() {
  constexpr auto dynamic = std::numeric_limits<std::size_t>::max();
  if constexpr (requires {
                  S::static_extent(0);
                  D::static_extent(0);
                }) {
    for (std::size_t i = 0; i < S::rank(); ++i) {
      std::size_t const source = S::static_extent(i);
      std::size_t const destination = D::static_extent(i);
      if (source != destination && source != dynamic && destination != dynamic) return false;
    }
  }
  return true;
}

// The problem with a pair of mdspans of the same element type, which must match exactly.
template <class S, class D>
constexpr auto find_mdspan_misuse() {
  if constexpr (S::rank() != D::rank()) {
    return misuse::ranks_of_source_and_destination_differ{};
  } else if constexpr (!have_compatible_extents<S, D>()) {
    return misuse::static_extents_of_source_and_destination_differ{};
  } else {
    return misuse::none{};
  }
}

template <class S, class D>
constexpr auto find_memory_copy_misuse() {
  using source = std::remove_cvref_t<S>;
  using destination = std::remove_cvref_t<D>;
  using misuse_of_one_operand = first_misuse<memory_misuse<S>, destination_memory_misuse<D>>;
  if constexpr (!std::same_as<misuse_of_one_operand, misuse::none>) {
    return misuse_of_one_operand{};
  } else if constexpr (tensor_argument<S> || tensor_argument<D>) {
    return misuse::none{};  // the element types and the ranks are compared at run time
  } else {
    using from = memory_view_for<S>;
    using to = memory_view_for<D>;
    if constexpr (!std::same_as<typename from::value_type, typename to::value_type>) {
      return misuse::element_types_of_source_and_destination_differ{};
    } else if constexpr (mdspan_like<source> && mdspan_like<destination>) {
      return find_mdspan_misuse<source, destination>();
    } else if constexpr (from::rank != to::rank && from::rank != 1 && to::rank != 1) {
      return misuse::ranks_of_source_and_destination_differ{};
    } else {
      return misuse::none{};
    }
  }
}
/// The problem with roc::copy from S to D that is complete on return.
template <class S, class D>
using memory_copy_misuse = decltype(find_memory_copy_misuse<S, D>());

/// The problem with an asynchronous roc::copy from S to D.
template <class S, class D>
using async_memory_copy_misuse =
    first_misuse<memory_misuse<S>, memory_misuse<D>, memory_temporary_misuse<S, D>,
                 memory_copy_misuse<S, D>>;

/// S can be copied to D by roc::copy, complete on return or enqueued.
template <class S, class D>
concept memory_copyable_to = correct_use<memory_copy_misuse<S, D>>;
template <class S, class D>
concept async_memory_copyable_to = correct_use<async_memory_copy_misuse<S, D>>;

}  // namespace roc::detail

// SPDX-License-Identifier: MIT
// The reasons why a call does not compile.
#pragma once

#include <concepts>
#include <type_traits>

namespace roc {

/// The reasons why a call does not compile. The overload that accepts such arguments is deleted and
/// has the reason as its last template argument, which the compiler's message shows.
namespace misuse {
struct none {};
struct temporary_would_be_destroyed_before_the_asynchronous_call_has_finished {};
struct view_would_outlive_the_temporary_array {};
struct destination_is_const {};
struct raw_pointer_has_no_size_so_make_a_host_view_or_a_device_view {};
struct vector_of_bool_has_no_addressable_elements {};
struct elements_are_not_trivially_copyable {};
struct argument_is_not_an_array_a_view_or_a_contiguous_range {};
struct argument_is_not_a_range_of_device_arrays_or_device_views {};
struct element_types_of_source_and_destination_differ {};
struct ranks_of_source_and_destination_differ {};
struct static_extents_of_source_and_destination_differ {};
struct mdspan_has_no_strided_layout_or_no_default_accessor {};
struct elements_of_more_than_16_bytes_cannot_be_filled {};
struct elements_are_not_numbers_that_collectives_can_reduce {};
struct argument_is_not_a_roc_stream_so_wrap_a_native_one_with_from_native {};
struct device_memory_was_given_but_host_memory_is_needed {};
struct host_memory_was_given_but_device_memory_is_needed {};
}  // namespace misuse

namespace detail {

/// True if there is no problem.
template <class Misuse>
concept correct_use = std::same_as<Misuse, misuse::none>;
/// True if there is a problem. Constrains the deleted overload that shows it.
template <class Misuse>
concept incorrect_use = !correct_use<Misuse>;

/// The first of the problems that is not `none`.
template <class... Misuse>
struct first_misuse_of {
  using type = misuse::none;
};
template <class First, class... Rest>
struct first_misuse_of<First, Rest...> {
  using type = First;
};
template <class... Rest>
struct first_misuse_of<misuse::none, Rest...> : first_misuse_of<Rest...> {};
template <class... Misuse>
using first_misuse = typename first_misuse_of<Misuse...>::type;

/// The problem with elements of type T, which may be const, that are written.
template <class T>
using write_misuse =
    std::conditional_t<std::is_const_v<T>, misuse::destination_is_const, misuse::none>;
/// The problem with elements of type T, which may be const, that a fill writes.
template <class T>
using fill_misuse = first_misuse<
    write_misuse<T>,
    std::conditional_t<(sizeof(T) > 16), misuse::elements_of_more_than_16_bytes_cannot_be_filled,
                       misuse::none>>;

/// The problem with an asynchronous member function of a temporary array.
using temporary_array_misuse =
    misuse::temporary_would_be_destroyed_before_the_asynchronous_call_has_finished;
/// The problem with a member function of a temporary array that returns a view.
using view_of_temporary_misuse = misuse::view_would_outlive_the_temporary_array;

}  // namespace detail
}  // namespace roc

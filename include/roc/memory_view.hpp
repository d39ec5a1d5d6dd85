// SPDX-License-Identifier: MIT
// A borrowed view of memory whose kind is found at run time: a pointer, a shape and strides.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include <roc/detail/argument_traits.hpp>
#include <roc/layout/shape.hpp>
#include <roc/memory/memory_location.hpp>

namespace roc {

/// A view of any memory in any strided layout, for copies: pageable, pinned or registered host
/// memory, managed memory, or memory of a device. roc::copy finds out which, as hipMemcpyDefault
/// does, unless the view states its location. It borrows: the memory must outlive it. Trivially
/// copyable.
///
/// Strides count elements and may be negative or, in a source, 0. (HIP: a pointer and
/// hipMemcpyDefault; C++: `std::mdspan`; SYCL: `sycl::usm::alloc::unknown`)
template <class T, std::size_t N = 1>
class memory_view {
  static_assert(std::is_trivially_copyable_v<T>,
                "rocarray: elements must be trivially copyable, because they are copied as bytes");

 public:
  using element_type = T;                  ///< with const, as in std::mdspan
  using value_type = std::remove_cv_t<T>;  ///< without const, as in std::mdspan
  static constexpr std::size_t rank = N;   ///< the number of axes

  constexpr memory_view() = default;  ///< Creates an empty view: null, all extents 0.
  /// Creates a view of contiguous memory. Throws shape_error if the size in bytes overflows.
  constexpr memory_view(T* data, roc::shape<N> const& shape, order o = order::c)
      : memory_view(data, shape, layout::compact_strides(shape, o)) {}
  /// Creates a view with strides. `data` is the element at index 0 of every axis. Throws
  /// shape_error if the size in bytes overflows.
  constexpr memory_view(T* data, roc::shape<N> const& shape, roc::strides<N> const& strides)
      : data_(data), shape_(shape), strides_(strides) {
    layout::check_size(shape, sizeof(T));
  }
  /// Creates a view of a std::mdspan, or of a class with its members, with the default accessor.
  template <detail::mdspan_like M>
    requires(M::rank() == N && std::convertible_to<typename M::data_handle_type, T*> &&
             std::same_as<typename M::value_type, std::remove_cv_t<T>>)
  constexpr memory_view(M const& span)  // NOLINT: implicit, as for host_view
      : memory_view(span.data_handle(), detail::shape_of(span), detail::strides_of(span)) {}
  /// Creates a view of a contiguous range, such as a std::span. Not of a temporary that owns its
  /// memory.
  template <detail::contiguous_range R>
    requires(N == 1 && !detail::owning_temporary<R> &&
             !requires { std::remove_cvref_t<R>::rank; } &&
             std::convertible_to<decltype(std::data(std::declval<R&>())), T*> &&
             std::same_as<std::remove_cvref_t<decltype(*std::data(std::declval<R&>()))>,
                          std::remove_cv_t<T>>)
  constexpr memory_view(R&& range)  // NOLINT: implicit, as for host_view
      : memory_view(std::data(range), roc::shape<1>{std::size(range)}) {}
  /// Converts to a view of const elements.
  template <class U>
    requires(std::is_const_v<T> && std::same_as<U, value_type>)
  constexpr memory_view(memory_view<U, N> const& other)  // NOLINT: implicit, as for pointers
      : data_(other.data()),
        shape_(other.shape()),
        strides_(other.strides()),
        location_(other.location()) {}

  /// Returns this view with a location, so that copies skip the look-up: memory_location::host(),
  /// or a roc::device. HIP is still asked once about memory of a device that the library did not
  /// allocate: it may be managed or pinned memory, whose uses are recorded.
  ///
  /// A wrong location is a roc::error if the library allocated the memory, or if HIP rejects the
  /// copy. If the CPU accesses memory of a device that other code allocated, the process is stopped
  /// by a signal, as for a host_view of it. Managed memory of other code must be stated as memory
  /// of a device. Memory that other code has pinned, stated as host memory, is copied like pageable
  /// memory; no look-up tells that it is pinned.
  ///
  /// *Synchronization:* if a call reads the memory as pageable host memory before it returns, it
  /// waits for writes that were enqueued before through `memory_view::at`. Other calls on another
  /// stream, and uses through device_view, are not ordered: synchronize the stream.
  [[nodiscard]] constexpr memory_view at(memory_location location) const {
    memory_view result = *this;
    result.location_ = location;
    return result;
  }

  /// Returns the address of the element at index 0 of every axis.
  constexpr T* data() const noexcept { return data_; }
  /// Returns the number of elements along each axis.
  constexpr roc::shape<N> const& shape() const noexcept { return shape_; }
  /// Returns the strides: signed, in elements.
  constexpr roc::strides<N> const& strides() const noexcept { return strides_; }
  /// Returns the number of elements along one axis, which must be less than the rank.
  constexpr std::size_t extent(std::size_t axis) const noexcept { return shape_[axis]; }
  /// Returns the number of elements.
  constexpr std::size_t size() const noexcept { return layout::element_count(shape_); }
  /// Returns the location that was stated; nullopt: it is looked up.
  constexpr std::optional<memory_location> const& location() const noexcept { return location_; }

 private:
  T* data_ = nullptr;
  roc::shape<N> shape_{};
  roc::strides<N> strides_{};
  std::optional<memory_location> location_;
};

/// Deduces element type and rank.
///@{
template <class T, std::size_t N>
memory_view(T*, shape<N> const&) -> memory_view<T, N>;
template <class T, std::size_t N>
memory_view(T*, shape<N> const&, order) -> memory_view<T, N>;
template <class T, std::size_t N>
memory_view(T*, shape<N> const&, strides<N> const&) -> memory_view<T, N>;
template <class R>
  requires(!detail::mdspan_like<std::remove_cvref_t<R>> && detail::contiguous_range<R>)
memory_view(R&&) -> memory_view<std::remove_pointer_t<decltype(std::data(std::declval<R&>()))>, 1>;
template <detail::mdspan_like M>
memory_view(M const&) -> memory_view<typename M::element_type, M::rank()>;
///@}

}  // namespace roc

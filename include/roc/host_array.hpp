// SPDX-License-Identifier: MIT
// Owned host memory: pageable, or pinned for copies at link speed.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/copy_forms.hpp>
#include <roc/detail/host_storage.hpp>
#include <roc/detail/memory_iterator.hpp>
#include <roc/detail/mapped_view.hpp>
#include <roc/detail/owner_operations.hpp>
#include <roc/detail/padded_memory.hpp>
#include <roc/detail/throw.hpp>
#include <roc/memory/host_memory.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>
#include <roc/layout/padding.hpp>
#include <roc/stream.hpp>

namespace roc {

template <class T, std::size_t N>
class device_view;

/// An array in host memory that the library allocated, of any layout; elements are not initialised.
/// Move-only.
///
/// It knows the asynchronous copies that use it: its destructor waits for them, and for what was
/// enqueued behind them on the same streams. Use of a moved-from array throws lifetime_error,
/// except destroying it or assigning to it. detail::owner_operations has other views of its memory,
/// detail::copy_forms what makes new arrays.
template <class T, std::size_t N = 1>
class host_array : public detail::owner_operations<host_array<T, N>, T, N>,
                   public detail::copy_forms<host_array<T, N>, T, N>,
                   public detail::padded_memory<host_array<T, N>, N> {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "rocarray: elements are copied byte by byte");

 public:
  using roc_host_array = void;
  using element_type = T;                 ///< as std::mdspan calls it
  using value_type = T;                   ///< as std::mdspan calls it
  static constexpr std::size_t rank = N;  ///< the number of axes

  /// Owns nothing, as if moved from.
  host_array() = default;
  /// Compact, in C or F order; `flags` are for pinned and mapped memory. Throws shape_error (the
  /// size overflows), out_of_memory, roc::error (not_supported: a device without managed memory).
  explicit host_array(roc::shape<N> const& shape, order o = order::c,
                      host_memory kind = host_memory::pageable,
                      host_flags flags = host_flags::portable)
      : host_array(shape, layout::compact_strides(shape, o), kind, flags) {}
  /// With explicit strides, in elements, none negative. Throws layout_error where two indices would
  /// be one place, or a stride is negative.
  host_array(roc::shape<N> const& shape, roc::strides<N> const& strides,
             host_memory kind = host_memory::pageable, host_flags flags = host_flags::portable)
      : memory_(detail::allocation_bytes(shape, strides, sizeof(T)), kind, flags),
        data_(static_cast<T*>(memory_.data())),
        shape_(shape),
        strides_(strides),
        alive_(true) {}
  /// With padding, which `padded_view` reaches: see roc::padding.
  template <std::same_as<padded<N>> P>
  host_array(roc::shape<N> const& shape, P const& padding, order o = order::c,
             host_memory kind = host_memory::pageable, host_flags flags = host_flags::portable)
      : host_array(detail::padded_extents(shape, padding, sizeof(T)), o, kind, flags) {
    this->set_padding(shape_);
    shape_ = shape;
  }
  /// The other owns nothing then.
  host_array(host_array&& other) noexcept { swap(other); }
  /// What this owned goes, as by its destructor, which waits.
  host_array& operator=(host_array&& other) noexcept {
    host_array(std::move(other)).swap(*this);
    return *this;
  }
  /// Exchanges memory and shape; views stay with the memory.
  void swap(host_array& other) noexcept {
    memory_.swap(other.memory_);
    std::swap(data_, other.data_);
    std::swap(shape_, other.shape_);
    std::swap(strides_, other.strides_);
    this->swap_padding(other);
    std::swap(alive_, other.alive_);
  }

  T* data() { return checked(data_); }              ///< the first element
  T const* data() const { return checked(data_); }  ///< the first element
  /// Elements along each axis, without padding.
  roc::shape<N> const& shape() const { return checked(shape_); }
  /// In elements.
  roc::strides<N> const& strides() const { return checked(strides_); }
  /// Elements along one axis, which must be less than the rank.
  std::size_t extent(std::size_t axis) const { return shape()[axis]; }
  std::size_t size() const { return layout::element_count(shape()); }  ///< elements in all
  host_memory kind() const noexcept { return memory_.kind(); }         ///< as it was made
  /// The flags that its pinned memory really has, asked from HIP (hipHostGetFlags), which may have
  /// more than were asked for; plain for other kinds and without elements. Throws roc::error.
  host_flags flags() const {
    static_cast<void>(data());
    return memory_.flags();
  }

  /// Of all of it; the array must outlive it.
  host_view<T, N> view() & { return {data(), shape_, strides_}; }
  /// Of const elements.
  host_view<T const, N> view() const& { return {data(), shape_, strides_}; }
  host_view<T, N> view() const&& = delete;
  operator host_view<T, N>() & { return view(); }             ///< implicit, as view()
  operator host_view<T const, N>() const& { return view(); }  ///< implicit, as view()
  operator host_view<T, N>() const&& = delete;
  operator host_view<T const, N>() const&& = delete;
  /// The array as kernels and copies of the current device see it (hipHostGetDevicePointer): of
  /// mapped and managed arrays. The address may be another than data(). Nothing is copied. The
  /// array must outlive the work that uses it. Throws registration_error for other kinds.
  roc::device_view<T, N> device_view() & { return device_view_of(view()); }
  /// Of const elements.
  roc::device_view<T const, N> device_view() const& { return device_view_of(view()); }
  roc::device_view<T, N> device_view() const&& = delete;
  /// A view of the array with its padding; of one that has none, view().
  host_view<T, N> padded_view() & { return {data(), this->padded_shape(), strides_}; }
  /// Of const elements.
  host_view<T const, N> padded_view() const& { return {data(), this->padded_shape(), strides_}; }
  host_view<T, N> padded_view() const&& = delete;

  /// An element, or a view of a region: see host_view. On an array that is about to go, the
  /// element's value, or an array that takes the memory along.
  template <class... E>
    requires layout::indexes<N, E...>
  decltype(auto) operator()(E... expressions) & {
    return view()(expressions...);
  }
  /// Of const elements.
  template <class... E>
    requires layout::indexes<N, E...>
  decltype(auto) operator()(E... expressions) const& {
    return view()(expressions...);
  }
  /// Takes the memory along, or gives the element's value.
  template <class... E>
    requires layout::indexes<N, E...>
  auto operator()(E... expressions) && {
    if constexpr ((layout::integer_index<E> && ...)) {
      return T(view()(expressions...));
    } else {
      return std::move(*this).region(expressions...);
    }
  }

  /// As those of host_view; padding and gaps are not touched.
  void fill(T const& value) { view().fill(value); }
  /// Enqueued on `stream`; the value has been read on return.
  void fill(T const& value, stream_ref stream) { view().fill(value, stream); }

  /// All elements in the order of memory. Throws layout_error for one with gaps. The iterators are
  /// no pointers, so that std::span does not take an array with gaps for contiguous.
  auto begin() { return detail::memory_iterator(dense()); }
  /// One past the last element.
  auto end() { return detail::memory_iterator(dense() + size()); }
  /// Of const elements.
  auto begin() const { return detail::memory_iterator<T const*>(dense()); }
  /// Of const elements.
  auto end() const { return detail::memory_iterator<T const*>(dense() + size()); }

 private:
  template <class, std::size_t>
  friend class host_array;
  template <class, class, std::size_t>
  friend class detail::owner_operations;

  template <class V>
  V const& checked(V const& value) const {
    if (!alive_) {
      detail::throw_lifetime_error(
          "use of a host_array that owns nothing: it was moved from or never given a shape");
    }
    return value;
  }

  T* dense() const {
    auto const range = layout::element_range(checked(shape_), strides_);
    if (static_cast<std::size_t>(range.high - range.low) != size()) {
      detail::throw_layout_error("iteration over an array with gaps, strides ",
                                 {strides_.data(), N}, "", {}, ": index it, or make it compact");
    }
    return data_ + range.low;
  }

  template <class U, std::size_t M>
  host_array<U, M> take(host_view<U, M> const& as) {
    host_array<U, M> result;
    result.memory_ = std::move(memory_);
    result.data_ = as.size() == 0 ? nullptr : as.data();
    result.shape_ = as.shape();
    result.strides_ = as.strides();
    result.alive_ = std::exchange(alive_, false);
    return result;
  }

  detail::host_storage memory_;
  T* data_ = nullptr;
  roc::shape<N> shape_{};
  roc::strides<N> strides_{};
  bool alive_ = false;
};

/// A host array in pinned memory (hipHostMalloc; numba.cuda: `pinned_array`), portable if nothing
/// else is said. Memory of such arrays is kept for later ones: see pinned_cache.
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> pinned_array(shape<N> const& shape, order o = order::c) {
  return host_array<T, N>(shape, o, host_memory::pinned);
}
/// With flags.
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> pinned_array(shape<N> const& shape, host_flags flags,
                                            order o = order::c) {
  return host_array<T, N>(shape, o, host_memory::pinned, flags);
}
/// Of one axis.
template <class T>
[[nodiscard]] host_array<T, 1> pinned_array(std::size_t extent,
                                            host_flags flags = host_flags::portable) {
  return host_array<T, 1>(shape<1>{extent}, order::c, host_memory::pinned, flags);
}

/// Pinned memory that kernels reach by device_view (hipHostMallocMapped; numba.cuda:
/// `mapped_array`): for what is read or written once. Coherent, if not said otherwise.
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> mapped_array(shape<N> const& shape,
                                            host_flags flags = host_flags::default_flags,
                                            order o = order::c) {
  return host_array<T, N>(shape, o, host_memory::mapped, flags);
}
/// Of one axis.
template <class T>
[[nodiscard]] host_array<T, 1> mapped_array(std::size_t extent,
                                            host_flags flags = host_flags::default_flags) {
  return host_array<T, 1>(shape<1>{extent}, order::c, host_memory::mapped, flags);
}

/// Memory that host and device both use, by one address (hipMallocManaged; numba.cuda:
/// `managed_array`): see roc/memory/managed.hpp. Asynchronous copies treat it as pinned memory. Where the
/// device has not ConcurrentManagedAccess, the host may touch it only while no work of the device
/// is pending: roc::map waits. Throws roc::error (not_supported) where the current device has no
/// managed memory.
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> managed_array(shape<N> const& shape, order o = order::c) {
  return host_array<T, N>(shape, o, host_memory::managed);
}
/// Of one axis.
template <class T>
[[nodiscard]] host_array<T, 1> managed_array(std::size_t extent) {
  return host_array<T, 1>(shape<1>{extent}, order::c, host_memory::managed);
}

}  // namespace roc

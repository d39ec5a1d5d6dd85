// SPDX-License-Identifier: MIT
// Owned host memory: pageable, or pinned for copies at link speed.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/detail/throw.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

/// What kind of host memory an array lives in.
enum class host_memory : unsigned char {
  pageable,  ///< ordinary memory: copies are staged
  pinned,    ///< locked by the runtime (hipHostMalloc): the device reaches it by DMA
};

namespace detail {

/// Uninitialised bytes that the library knows; null for zero bytes. Throws out_of_memory.
ROC_API void* allocate_host(std::size_t bytes, host_memory kind);
/// Waits for the copies that still use them, then frees. Errors go to the log hook.
ROC_API void free_host(void* data, std::size_t bytes, host_memory kind) noexcept;

}  // namespace detail

/// An array in host memory that the library allocated, compact in any order of its axes; elements
/// are not initialised. Move-only.
///
/// It knows the asynchronous copies that use it: its destructor waits for them. Use of a moved-from
/// array throws lifetime_error, except destroying it or assigning to it.
template <class T, std::size_t N = 1>
class host_array {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "rocarray: elements are copied byte by byte");

 public:
  using roc_host_array = void;
  using element_type = T;
  using value_type = T;
  static constexpr std::size_t rank = N;

  /// Owns nothing, as if moved from.
  host_array() = default;
  /// Throws shape_error (the size overflows), out_of_memory.
  explicit host_array(roc::shape<N> const& shape, order o = order::c,
                      host_memory kind = host_memory::pageable)
      : host_array(shape, layout::compact_strides(shape, o), kind) {}
  /// With the order of the axes that `strides` have, compact (layout::like_strides).
  host_array(roc::shape<N> const& shape, roc::strides<N> const& strides,
             host_memory kind = host_memory::pageable)
      : shape_(shape), strides_(layout::like_strides(shape, strides)), kind_(kind) {
    layout::check_size(shape, sizeof(T));
    bytes_ = layout::element_count(shape) * sizeof(T);
    data_ = static_cast<T*>(detail::allocate_host(bytes_, kind));
    alive_ = true;
  }
  ~host_array() { detail::free_host(data_, bytes_, kind_); }
  host_array(host_array&& other) noexcept { swap(other); }
  host_array& operator=(host_array&& other) noexcept {
    host_array(std::move(other)).swap(*this);
    return *this;
  }
  void swap(host_array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(shape_, other.shape_);
    std::swap(strides_, other.strides_);
    std::swap(kind_, other.kind_);
    std::swap(alive_, other.alive_);
  }

  T* data() { return checked(data_); }
  T const* data() const { return checked(data_); }
  roc::shape<N> const& shape() const { return checked(shape_); }
  roc::strides<N> const& strides() const { return checked(strides_); }
  std::size_t extent(std::size_t axis) const { return shape()[axis]; }
  std::size_t size() const { return layout::element_count(shape()); }
  std::size_t size_bytes() const { return size() * sizeof(T); }
  bool is_c_contiguous() const { return layout::is_c_contiguous(shape(), strides_); }
  bool is_f_contiguous() const { return layout::is_f_contiguous(shape(), strides_); }
  host_memory kind() const noexcept { return kind_; }

  host_view<T, N> view() & { return {data(), shape_, strides_}; }
  host_view<T const, N> view() const& { return {data(), shape_, strides_}; }
  host_view<T, N> view() && = delete;

  /// An element, or a view of a region: see host_view.
  template <class... E>
  decltype(auto) operator()(E... expressions) {
    return view()(expressions...);
  }
  template <class... E>
  decltype(auto) operator()(E... expressions) const {
    return view()(expressions...);
  }

  /// All elements in the order of memory.
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  T const* begin() const { return data(); }
  T const* end() const { return data() + size(); }

 private:
  template <class V>
  V const& checked(V const& value) const {
    if (!alive_) {
      detail::throw_lifetime_error(
          "use of a host_array that owns nothing: it was moved from or never given a shape");
    }
    return value;
  }

  T* data_ = nullptr;
  std::size_t bytes_ = 0;
  roc::shape<N> shape_{};
  roc::strides<N> strides_{};
  host_memory kind_ = host_memory::pageable;
  bool alive_ = false;
};

/// A host array in pinned memory (hipHostMalloc; numba.cuda: `pinned_array`).
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> pinned_array(shape<N> const& shape, order o = order::c) {
  return host_array<T, N>(shape, o, host_memory::pinned);
}
template <class T>
[[nodiscard]] host_array<T, 1> pinned_array(std::size_t extent) {
  return host_array<T, 1>(shape<1>{extent}, order::c, host_memory::pinned);
}

}  // namespace roc

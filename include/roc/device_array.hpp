// SPDX-License-Identifier: MIT
// Owned arrays in device memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <roc/bound_view.hpp>
#include <roc/config.hpp>
#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/copy_forms.hpp>
#include <roc/detail/device_copies.hpp>
#include <roc/detail/device_storage.hpp>
#include <roc/detail/owner_operations.hpp>
#include <roc/detail/padded_memory.hpp>
#include <roc/device_view.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/shape.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/layout/padding.hpp>
#include <roc/stream.hpp>

namespace roc {

/// An array in device memory (numba: `device_array`), of any rank and layout; elements are not
/// initialised. Move-only. Zero-size arrays have a null pointer, and operations on them do nothing.
///
/// It belongs to the device that was current, or the stream's, when it was made, and its memory
/// comes from that device's resource (roc::device_resource). Its destructor waits for nothing: the
/// memory is used again when the work of its stream, and of every stream that used it, is done.
/// Copies and fills of the library on other streams note that themselves; kernels need record_stream. Any
/// use of an array that was moved from or default-constructed throws lifetime_error, except
/// destroying it or assigning to it. const is shallow, as a pointer's: the elements of a const
/// array can be written.
///
/// detail::device_copies has its copies, detail::owner_operations other views of its memory,
/// detail::copy_forms what makes new arrays.
template <class T, std::size_t N = 1>
class device_array : public detail::owner_operations<device_array<T, N>, T, N>,
                     public detail::device_copies<device_array<T, N>, T, N>,
                     public detail::copy_forms<device_array<T, N>, T, N>,
                     public detail::padded_memory<device_array<T, N>, N> {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "rocarray: elements are copied byte by byte");
  using copies = detail::device_copies<device_array<T, N>, T, N>;

 public:
  using roc_device_memory = void;
  using element_type = T;                 ///< as std::mdspan calls it
  using value_type = T;                   ///< as std::mdspan calls it
  static constexpr std::size_t rank = N;  ///< the number of axes

  /// Owns nothing, as if moved from.
  device_array() = default;
  /// Compact, in C or F order. Throws shape_error (the size overflows), out_of_memory, roc::error.
  explicit device_array(roc::shape<N> const& shape, order o = order::c, stream_ref stream = {})
      : device_array(shape, layout::compact_strides(shape, o), stream) {}
  /// With explicit strides, in elements, none negative. Throws layout_error where two indices would
  /// be one place, or a stride is negative.
  device_array(roc::shape<N> const& shape, roc::strides<N> const& strides, stream_ref stream = {})
      : device_array(detail::device_storage(detail::device_memory(
                         detail::allocation_bytes(shape, strides, sizeof(T)), stream)),
                     0, shape, strides, stream) {}
  /// With memory from this resource, which must outlive the array.
  device_array(roc::shape<N> const& shape, memory_resource& from, order o = order::c,
               stream_ref stream = {})
      : device_array(detail::device_storage(detail::device_memory(
                         detail::allocation_bytes(shape, layout::compact_strides(shape, o),
                                                  sizeof(T)),
                         stream, from)),
                     0, shape, layout::compact_strides(shape, o), stream) {}
  /// With padding (katsdpsigproc: `padded_shape`), which zero() covers and `padded_view` reaches;
  /// copies and fill never do. Throws layout_error where the demands contradict each other.
  template <std::same_as<padded<N>> P>
  device_array(roc::shape<N> const& shape, P const& padding, order o = order::c,
               stream_ref stream = {})
      : device_array(detail::padded_extents(shape, padding, sizeof(T)), o, stream) {
    pad(shape);
  }

  /// The other owns nothing then.
  device_array(device_array&& other) noexcept { swap(other); }
  /// What this owned goes; waits for nothing.
  device_array& operator=(device_array&& other) noexcept {
    device_array(std::move(other)).swap(*this);
    return *this;
  }
  /// Exchanges memory and shape; views stay with the memory.
  void swap(device_array& other) noexcept {
    storage_.swap(other.storage_);
    std::swap(data_, other.data_);
    std::swap(shape_, other.shape_);
    std::swap(strides_, other.strides_);
    this->swap_padding(other);
    std::swap(stream_, other.stream_);
    std::swap(alive_, other.alive_);
  }

  /// Device memory: not to be read by the host.
  T* data() const { return checked(data_); }
  /// Elements along each axis, without padding.
  roc::shape<N> const& shape() const { return checked(shape_); }
  /// In elements.
  roc::strides<N> const& strides() const { return checked(strides_); }
  /// Elements along one axis, which must be less than the rank.
  std::size_t extent(std::size_t axis) const { return checked(shape_)[axis]; }
  /// Elements in all.
  std::size_t size() const { return layout::element_count(checked(shape_)); }
  /// Of the device that has its memory.
  int device_ordinal() const {
    static_cast<void>(checked(alive_));
    return storage_.device();
  }
  /// The stream that it was made with.
  stream_ref stream() const { return checked(stream_); }

  /// Tells that kernels of yours on `stream`, which is not the array's, use its memory: it is not
  /// used again before they are done (torch: `record_stream`). Once is enough, and before the first
  /// of them best: work on `stream` also comes after what the memory was used for before. On a
  /// stream of another library (from_native), once more after the last. Throws roc::error.
  void record_stream(stream_ref stream) const { detail::record_stream(data(), storage_.device(), stream); }

  /// A view of all of it, for kernels; the array must outlive it.
  device_view<T, N> view() const& { return {data(), shape_, strides_, storage_.device()}; }
  device_view<T, N> view() const&& = delete;
  /// Implicit, as view().
  operator device_view<T, N>() const& { return view(); }
  operator device_view<T, N>() const&& = delete;
  /// Implicit, of const elements.
  operator device_view<T const, N>() const& { return view(); }
  operator device_view<T const, N>() const&& = delete;
  /// A view of the array with its padding; of one that has none, view().
  device_view<T, N> padded_view() const& {
    return {data(), this->padded_shape(), strides_, storage_.device()};
  }
  device_view<T, N> padded_view() const&& = delete;

  /// A view of a region, of one element a view of rank 0; see roc::slice. On an array that is about
  /// to go, an array that takes the memory along. Throws shape_error beyond an extent; too many or
  /// too few expressions do not compile.
  template <layout::index_expression... E>
    requires layout::indexes<N, E...>
  auto operator()(E... expressions) const& {
    return view().region(expressions...);
  }
  /// Takes the memory along.
  template <layout::index_expression... E>
    requires layout::indexes<N, E...>
  auto operator()(E... expressions) && {
    return std::move(*this).region(expressions...);
  }
  template <class... E>
  auto operator()(E...) const&& = delete;  // the view would outlive the memory

  using copies::bind;
  bound_view<T, N> bind(stream_ref) const&& = delete;
  // Asynchronous, of an array that goes at once.
  using copies::copy_to_device;
  using copies::copy_to_host;
  auto copy_to_host(stream_ref) const&& = delete;
  template <class H>
  void copy_to_host(H&&, stream_ref) const&& = delete;
  template <class S, class... Borrow>
  void copy_to_device(S&&, stream_ref, Borrow...) const&& = delete;

  /// Writes `value` to every element, of 1 to 16 bytes; padding and gaps are not touched. Ordered
  /// after all work enqueued earlier on the device, and done on return.
  void fill(T const& value) const { view().fill(value); }
  /// Enqueued on `stream`; the value has been read on return.
  void fill(T const& value, stream_ref stream) const { view().fill(value, stream); }

  /// Gives the memory away: the caller frees it (hipFree), or what was adopted, as it came; a
  /// finaliser is dropped. This array owns nothing then. Throws lifetime_error where others own the
  /// memory too, or it is of a pool, as that of arrays made without a hip_memory_resource is, and
  /// layout_error where it does not begin with this array's first element.
  T* release() {
    T* const data = checked(data_);
    if (!storage_.is_sole()) {
      detail::throw_lifetime_error(
          "release of an array that lies in an allocation with others: copy it to one of its own");
    }
    if (data != static_cast<T*>(storage_.data())) {
      detail::throw_layout_error("release of a part of an allocation: release the whole array");
    }
    storage_.release();
    device_array().swap(*this);
    return data;
  }

 private:
  template <class, std::size_t>
  friend class device_array;
  template <class, class, std::size_t>
  friend class detail::owner_operations;
  friend class device_allocation;
  template <class U, std::size_t M, class F>
  friend device_array<U, M> adopt(U*, roc::shape<M> const&, roc::strides<M> const&, F);

  device_array(detail::device_storage storage, std::size_t offset_bytes,
               roc::shape<N> const& shape, roc::strides<N> const& strides, stream_ref stream)
      : storage_(std::move(storage)),
        shape_(shape),
        strides_(strides),
        stream_(stream.handle() == nullptr ? stream_ref() : stream),  // that of the device in use
        alive_(true) {
    bool const empty = layout::element_count(shape) == 0;
    if (!empty) {
      data_ = reinterpret_cast<T*>(static_cast<std::byte*>(storage_.data()) + offset_bytes);
    }
  }

  template <class V>
  V const& checked(V const& value) const {
    if (!alive_) {
      detail::throw_lifetime_error(
          "use of a device_array that owns nothing: it was moved from or never given a shape");
    }
    return value;
  }

  // All of it becomes the memory of an array of this shape.
  void pad(roc::shape<N> const& shape) {
    this->set_padding(shape_);
    shape_ = shape;
  }

  template <class U, std::size_t M>
  device_array<U, M> take(device_view<U, M> const& as) {
    device_array<U, M> result;
    result.storage_.swap(storage_);
    result.data_ = as.size() == 0 ? nullptr : as.data();
    result.shape_ = as.shape();
    result.strides_ = as.strides();
    result.stream_ = stream_;
    result.alive_ = std::exchange(alive_, false);
    return result;
  }

  detail::device_storage storage_;
  T* data_ = nullptr;
  roc::shape<N> shape_{};
  roc::strides<N> strides_{};
  stream_ref stream_;
  bool alive_ = false;
};

}  // namespace roc

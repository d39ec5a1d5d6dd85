// SPDX-License-Identifier: MIT
// Pointers, iterators and an execution policy for Thrust (part of CUDA) and rocThrust (part of
// ROCm). For source files that the device compiler compiles.
#pragma once

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstddef>

#include <roc/detail/kernel_support.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/layout/shape.hpp>
#include <roc/native.hpp>

namespace roc {

namespace detail {

/// A functor that returns the memory offset, in elements, of the `index`-th element in C order.
template <std::size_t N>
struct thrust_offset {
  kernel_array<std::size_t, N> extents;
  kernel_array<std::ptrdiff_t, N> strides;

  ROCARRAY_HOST_DEVICE std::ptrdiff_t operator()(std::ptrdiff_t index) const {
    auto rest = static_cast<std::size_t>(index);
    std::ptrdiff_t offset = 0;
    for (std::size_t axis = N; axis-- != 0;) {
      offset += static_cast<std::ptrdiff_t>(rest % extents[axis]) * strides[axis];
      rest /= extents[axis];
    }
    return offset;
  }
};

template <class T, std::size_t N>
using thrust_iterator = ::thrust::permutation_iterator<
    ::thrust::device_ptr<T>,
    ::thrust::transform_iterator<thrust_offset<N>, ::thrust::counting_iterator<std::ptrdiff_t>>>;

}  // namespace detail

/// Returns an execution policy that runs Thrust's algorithms on a stream:
///   thrust::sort(roc::thrust_policy(stream), roc::thrust_begin(a.view()), ...)
///
/// *Synchronization:* most algorithms of Thrust synchronize the stream before they return.
///
/// *Lifetime:* call the array's record_stream first if `stream` is not the array's stream.
inline auto thrust_policy(stream_ref stream) {
#if ROCARRAY_PLATFORM_AMD
  return ::thrust::hip::par.on(native(stream));
#else
  return ::thrust::cuda::par.on(native(stream));
#endif
}

/// Returns Thrust's pointer to the first element, in memory order, of device memory without gaps.
/// @throws layout_error if the memory has gaps; use thrust_elements for such memory
///
/// *Lifetime:* the memory must outlive the pointer.
template <class T, std::size_t N>
[[nodiscard]] ::thrust::device_ptr<T> thrust_begin(device_view<T, N> const& view) {
  auto const shape = view.shape();
  auto const strides = view.strides();
  auto const range = layout::element_range(shape, strides);
  if (static_cast<std::size_t>(range.high - range.low) != layout::element_count(shape) ||
      !layout::is_unique(shape, strides)) {
    detail::throw_layout_error(
        "thrust_begin cannot be used for memory with gaps: strides {}; use roc::thrust_elements",
        strides);
  }
  return ::thrust::device_pointer_cast(view.data() + range.low);
}
/// Returns the pointer one past the last element; otherwise as thrust_begin.
template <class T, std::size_t N>
[[nodiscard]] ::thrust::device_ptr<T> thrust_end(device_view<T, N> const& view) {
  return thrust_begin(view) + static_cast<std::ptrdiff_t>(view.size());
}

/// Random-access iterators over the elements of device memory with any strides, in C order. Slower
/// than thrust_begin: each access costs a division per axis.
///
/// *Lifetime:* the memory must outlive this object and its iterators.
template <class T, std::size_t N>
class thrust_elements {
 public:
  /// Borrows the memory of the view.
  explicit thrust_elements(device_view<T, N> const& view)
      : data_(::thrust::device_pointer_cast(view.data())),
        size_(static_cast<std::ptrdiff_t>(view.size())) {
    auto const shape = view.shape();
    auto const strides = view.strides();
    offset_.extents = shape;
    offset_.strides = strides;
  }

  /// Returns an iterator to the first element in C order.
  [[nodiscard]] auto begin() const { return at(0); }
  /// Returns an iterator one past the last element.
  [[nodiscard]] auto end() const { return at(size_); }
  /// Returns the number of elements.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(size_); }

 private:
  detail::thrust_iterator<T, N> at(std::ptrdiff_t index) const {
    ::thrust::counting_iterator<std::ptrdiff_t> const count(index);
    return detail::thrust_iterator<T, N>(data_, ::thrust::make_transform_iterator(count, offset_));
  }

  ::thrust::device_ptr<T> data_;
  std::ptrdiff_t size_;
  detail::thrust_offset<N> offset_;
};

/// Returns a view, in C order, of memory that Thrust points to. For a device_vector v:
/// as_device_view(v.data(), roc::shape<1>{v.size()}).
/// @param extents the shape of the view
/// @param device ordinal of the device, as for device_view
///
/// *Lifetime:* the memory must outlive the view.
template <class T, std::size_t N>
[[nodiscard]] device_view<T, N> as_device_view(::thrust::device_ptr<T> data,
                                               shape<N> const& extents, int device = -1) {
  return {::thrust::raw_pointer_cast(data), extents, order::c, device};
}

}  // namespace roc

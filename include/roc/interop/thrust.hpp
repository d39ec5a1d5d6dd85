// SPDX-License-Identifier: MIT
// Thrust and rocThrust: pointers, iterators and a policy for the library's arrays. For files that
// the device compiler compiles; Thrust comes with CUDA, rocThrust with ROCm.
#pragma once

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstddef>

#include <roc/detail/fixed.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/layout/shape.hpp>
#include <roc/native.hpp>

namespace roc {

namespace detail {

/// Where in memory an element is that comes `index`-th in C order.
template <std::size_t N>
struct thrust_place {
  fixed<std::size_t, N> extents;
  fixed<std::ptrdiff_t, N> strides;

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
    ::thrust::transform_iterator<thrust_place<N>, ::thrust::counting_iterator<std::ptrdiff_t>>>;

}  // namespace detail

/// What Thrust's algorithms take as execution policy so that they run on a stream:
///   thrust::sort(roc::thrust_policy(stream), roc::thrust_begin(a.view()), ...)
/// Thrust waits for the stream at the end of most of them. On a stream that is not the array's,
/// call the array's record_stream before.
inline auto thrust_policy(stream_ref stream) {
#if ROCARRAY_PLATFORM_AMD
  return ::thrust::hip::par.on(native(stream));
#else
  return ::thrust::cuda::par.on(native(stream));
#endif
}

/// The first element of device memory without gaps, in the order of memory, as Thrust knows it.
/// Nothing is copied; the memory must outlive it. Throws layout_error for memory with gaps: see
/// thrust_elements.
template <class T, std::size_t N>
[[nodiscard]] ::thrust::device_ptr<T> thrust_begin(device_view<T, N> const& view) {
  auto const shape = view.shape();
  auto const strides = view.strides();
  auto const range = layout::element_range(shape, strides);
  if (static_cast<std::size_t>(range.high - range.low) != layout::element_count(shape) ||
      !layout::is_unique(shape, strides)) {
    detail::throw_layout_error("a Thrust pointer to memory with gaps, strides ",
                               {strides.data(), N}, "", {}, ": use roc::thrust_elements");
  }
  return ::thrust::device_pointer_cast(view.data() + range.low);
}
/// One past the last element.
template <class T, std::size_t N>
[[nodiscard]] ::thrust::device_ptr<T> thrust_end(device_view<T, N> const& view) {
  return thrust_begin(view) + static_cast<std::ptrdiff_t>(view.size());
}

/// The elements of any strided device memory, in C order, as iterators of random access. Slower
/// than thrust_begin: each costs a division per axis.
template <class T, std::size_t N>
class thrust_elements {
 public:
  /// Borrows: the memory must outlive it.
  explicit thrust_elements(device_view<T, N> const& view)
      : data_(::thrust::device_pointer_cast(view.data())),
        size_(static_cast<std::ptrdiff_t>(view.size())) {
    auto const shape = view.shape();
    auto const strides = view.strides();
    place_.extents = shape;
    place_.strides = strides;
  }

  [[nodiscard]] auto begin() const { return at(0); }    ///< the first element in C order
  [[nodiscard]] auto end() const { return at(size_); }  ///< one past the last
  /// Elements in all.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(size_); }

 private:
  detail::thrust_iterator<T, N> at(std::ptrdiff_t index) const {
    ::thrust::counting_iterator<std::ptrdiff_t> const count(index);
    return detail::thrust_iterator<T, N>(data_, ::thrust::make_transform_iterator(count, place_));
  }

  ::thrust::device_ptr<T> data_;
  std::ptrdiff_t size_;
  detail::thrust_place<N> place_;
};

/// Memory that Thrust points to, as a view of this shape (C order); `device` as in device_view. A
/// device_vector v: as_device_view(v.data(), roc::shape<1>{v.size()}).
template <class T, std::size_t N>
[[nodiscard]] device_view<T, N> as_device_view(::thrust::device_ptr<T> data,
                                               shape<N> const& extents, int device = -1) {
  return {::thrust::raw_pointer_cast(data), extents, order::c, device};
}

}  // namespace roc

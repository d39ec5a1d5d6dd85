// SPDX-License-Identifier: MIT
// A functor called with every index of a shape, on the device.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/detail/fixed.hpp>
#include <roc/detail/launch.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

/// What for_each runs for one linear index: f with the index split over the extents, in C order.
template <class F, std::size_t N>
struct over_shape {
  F f;                                    ///< called with an index
  detail::fixed<std::size_t, N> extents;  ///< of the shape

  /// Calls f with index number `linear`.
  ROCARRAY_HOST_DEVICE void operator()(std::size_t linear) const {
    detail::fixed<std::size_t, N> index;
    for (std::size_t axis = N; axis-- != 0;) {
      index[axis] = linear % extents[axis];
      linear /= extents[axis];
    }
    call(index, std::make_index_sequence<N>{});
  }

 private:
  template <std::size_t... I>
  ROCARRAY_HOST_DEVICE void call([[maybe_unused]] detail::fixed<std::size_t, N> const& index,
                            std::index_sequence<I...>) const {
    f(index[I]...);
  }
};

/// Calls f(i, j, …) once for every index of `extents`, in parallel and in no order, on the device
/// of `stream`; asynchronous, in the order of the stream. Zero extents: nothing; no extents: f().
///
/// Memory of the library's arrays that `f` holds views of is not used again before `f` is done.
///
/// `f` is copied to the device, so it must be trivially copyable and hold views or values, no
/// references. It is a functor or lambda marked ROCARRAY_HOST_DEVICE, in a file compiled by hipcc or
/// nvcc (with --extended-lambda), or any functor in a file compiled by a host compiler, which runs
/// on the host platform only: elsewhere that throws roc::error (std::errc::not_supported). On the
/// host platform an exception that leaves `f` ends the process.
/// Throws roc::error (what HIP reports), shape_error (the extents' product overflows).
template <class F, std::size_t N>
void for_each(stream_ref stream, shape<N> const& extents, F f) {
  static_assert(detail::is_device_functor<F>,
                "rocarray: for_each copies the functor to the device byte by byte");
  std::size_t const count = layout::element_count(extents);
  if (count == 0) return;
  detail::launch(over_shape<F, N>{std::move(f), extents}, count, stream);
}

/// The same for one dimension of `extent` indices.
template <class F>
void for_each(stream_ref stream, std::size_t extent, F f) {
  for_each(stream, shape<1>{extent}, std::move(f));
}

}  // namespace roc

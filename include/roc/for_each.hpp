// SPDX-License-Identifier: MIT
// Calls a functor with every index of a shape, on the device.
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/kernel_support.hpp>
#include <roc/detail/launch.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

/// The functor that for_each launches. Called with a linear index, it calls f(i, j, …) with the
/// index that has this position in C order.
template <class F, std::size_t N>
struct over_shape {
  F f;                                           ///< the user's functor
  detail::kernel_array<std::size_t, N> extents;  ///< of the shape

  /// Calls f with the index at position `linear` of the shape.
  ROCARRAY_HOST_DEVICE void operator()(std::size_t linear) const {
    detail::kernel_array<std::size_t, N> index;
    for (std::size_t axis = N; axis-- != 0;) {
      index[axis] = linear % extents[axis];
      linear /= extents[axis];
    }
    call(index, std::make_index_sequence<N>{});
  }

 private:
  template <std::size_t... I>
  ROCARRAY_HOST_DEVICE void call([[maybe_unused]] detail::kernel_array<std::size_t, N> const& index,
                                 std::index_sequence<I...>) const {
    f(index[I]...);
  }
};

// In each overload, so that a compiler's message about the functor begins with few lines about
// templates.
#define ROCARRAY_CHECK_FUNCTOR(F)                                                               \
  static_assert(detail::is_device_functor<F>,                                                   \
                "rocarray: for_each copies the functor to the device byte by byte: it must be " \
                "trivially copyable")

/// Enqueues f(i, j, …), once for every index of a shape, on the device of `stream`. The calls run
/// in parallel and in no order. A shape of rank 0 calls f() once; an extent of zero calls nothing.
///
/// @param stream the stream, whose device is used
/// @param extents of the shape
/// @param f a functor or lambda that is copied to the device byte by byte, so it must be trivially
///   copyable and hold views or values, no references. In a file compiled by hipcc or by nvcc (with
///   --extended-lambda), it is marked ROCARRAY_HOST_DEVICE. In a file compiled by a host compiler,
///   any functor compiles, but runs on the host platform only: elsewhere the call throws roc::error
///   (std::errc::not_supported). On the host platform an exception that leaves `f` ends the
///   process.
/// @throws shape_error (the product of the extents overflows), roc::error
///
/// *Synchronization:* asynchronous, in the order of the stream.
///
/// *Lifetime:* the memory of arrays that `f` holds views of is not reused before `f` has finished,
/// so the arrays may be destroyed after the call.
template <class F, std::size_t N>
void for_each(stream_ref stream, shape<N> const& extents, F f,
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  std::size_t const count = layout::element_count(extents);
  if (count == 0) return;
  detail::launch(over_shape<F, N>{std::move(f), extents}, count, stream);
}

/// Enqueues f(i) for every i in [0, extent), as for_each with a shape does. Throws shape_error if
/// the extent is negative.
template <class F, std::integral I = std::size_t>
void for_each(stream_ref stream, I extent, F f,
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  for_each(stream, shape<1>{detail::checked_extent(extent)}, std::move(f));
}

/// Enqueues f(i, j, …) for extents in braces: for_each(stream, {n, m}, f). Throws shape_error if an
/// extent is negative.
///@{
template <class F, std::size_t N>
  requires(N >= 2)
void for_each(stream_ref stream, std::size_t const (&extents)[N], F f,
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  for_each(stream, detail::shape_from(extents), std::move(f));
}
template <class F, std::integral I, std::size_t N>
  requires(N >= 2 && !std::same_as<I, std::size_t>)
void for_each(stream_ref stream, I const (&extents)[N], F f,
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  for_each(stream, detail::shape_from(extents), std::move(f));
}
///@}

#undef ROCARRAY_CHECK_FUNCTOR

}  // namespace roc

// SPDX-License-Identifier: MIT
// Calls a functor with every index of a shape or a box, on the device.
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <type_traits>
#include <utility>

#include <roc/block_shape.hpp>
#include <roc/config.hpp>
#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/index_grid.hpp>
#include <roc/detail/launch.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace detail {

/// A block_shape, or the default.
template <class Block>
concept block_of_threads = is_block<Block>;

/// Returns the extents of the box [begin, end). Throws shape_error unless begin <= end on all axes.
template <std::size_t N>
constexpr shape<N> extents_of_box(shape<N> const& begin, shape<N> const& end) {
  shape<N> result{};
  for (std::size_t axis = N; axis-- != 0;) {
    if (begin[axis] > end[axis]) {
      throw_shape_error(
          "the box from {} to {} begins at {} and ends at {} on axis {}; use a begin that is not "
          "greater than the end",
          begin, end, begin[axis], end[axis], axis);
    }
    result[axis] = end[axis] - begin[axis];
  }
  return result;
}

/// Returns an index given as any integer. Throws shape_error if it is negative.
template <std::integral I>
constexpr std::size_t checked_index(I index) {
  if constexpr (std::signed_integral<I>) {
    if (index < 0) throw_shape_error("a bound is negative: {}; use 0 or more", index);
  }
  return static_cast<std::size_t>(index);
}

/// Returns indices in braces as an array. Throws shape_error if one is negative.
template <std::integral I, std::size_t N>
constexpr shape<N> indices_from(I const (&indices)[N]) {
  shape<N> result{};
  for (std::size_t axis = 0; axis < N; ++axis) result[axis] = checked_index(indices[axis]);
  return result;
}

}  // namespace detail

// In each overload, so that a compiler's message about the functor begins with few lines about
// templates.
#define ROCARRAY_CHECK_FUNCTOR(F)                                                               \
  static_assert(detail::is_device_functor<F>,                                                   \
                "rocarray: for_each copies the functor to the device byte by byte: it must be " \
                "trivially copyable")

#define ROCARRAY_CHECK_BLOCK(Block, N)     \
  static_assert(                           \
      detail::rank_of_block<Block> <= (N), \
      "rocarray: the block_shape of for_each has more extents than the indices have axes")

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
/// @param block the blocks of threads, as block_shape<8, 32>{}. The default suits functors whose
///   calls do not share what they read. Not used by the host platform, which has no blocks.
/// @throws shape_error (the product of the extents overflows), roc::error
///
/// *Synchronization:* asynchronous, in the order of the stream.
///
/// *Lifetime:* the memory of arrays that `f` holds views of is not reused before `f` has finished,
/// so the arrays may be destroyed after the call.
template <class F, std::size_t N, detail::block_of_threads Block = detail::default_block>
void for_each(stream_ref stream, shape<N> const& extents, F f, Block block = {},
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  ROCARRAY_CHECK_BLOCK(Block, N);
  for_each(stream, shape<N>{}, extents, std::move(f), block);
}

/// Enqueues f(i, j, …), once for every index of the box from `begin` to before `end`, as for_each
/// with a shape does. The interior of an array is the box from {1, 1} to {rows - 1, columns - 1}. A
/// box that ends where it begins on an axis calls nothing.
///
/// @param stream the stream, whose device is used
/// @param begin the lowest index on each axis
/// @param end one past the highest index on each axis
/// @param f the functor, see for_each with a shape
/// @param block the blocks of threads, which begin at `begin`
/// @throws shape_error (`begin` is greater than `end` on an axis, the number of indices overflows),
///   roc::error
///
/// *Synchronization:* asynchronous, in the order of the stream.
///
/// *Lifetime:* as for_each with a shape.
template <class F, std::size_t N, detail::block_of_threads Block = detail::default_block>
void for_each(stream_ref stream, shape<N> const& begin, shape<N> const& end, F f,
              [[maybe_unused]] Block block = {},
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  ROCARRAY_CHECK_BLOCK(Block, N);
  auto const extents = detail::extents_of_box(begin, end);
  detail::launch<Block>(f, begin, extents, stream);
}

/// Enqueues f(i) for every i in [0, extent), as for_each with a shape does. Throws shape_error if
/// the extent is negative.
template <class F, std::integral I = std::size_t,
          detail::block_of_threads Block = detail::default_block>
void for_each(stream_ref stream, I extent, F f, Block block = {},
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  ROCARRAY_CHECK_BLOCK(Block, 1);
  for_each(stream, shape<1>{detail::checked_extent(extent)}, std::move(f), block);
}

/// Enqueues f(i) for every i in [begin, end), as for_each with a box does. Throws shape_error if a
/// bound is negative or `begin` is greater than `end`.
template <class F, std::integral I = std::size_t, std::integral J = std::size_t,
          detail::block_of_threads Block = detail::default_block>
void for_each(stream_ref stream, I begin, J end, F f, Block block = {},
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  ROCARRAY_CHECK_BLOCK(Block, 1);
  for_each(stream, shape<1>{detail::checked_index(begin)}, shape<1>{detail::checked_index(end)},
           std::move(f), block);
}

/// Enqueues f(i, j, …) for extents in braces: for_each(stream, {n, m}, f). Throws shape_error if an
/// extent is negative.
///@{
template <class F, std::size_t N, detail::block_of_threads Block = detail::default_block>
  requires(N >= 2)
void for_each(stream_ref stream, std::size_t const (&extents)[N], F f, Block block = {},
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  ROCARRAY_CHECK_BLOCK(Block, N);
  for_each(stream, detail::shape_from(extents), std::move(f), block);
}
template <class F, std::integral I, std::size_t N,
          detail::block_of_threads Block = detail::default_block>
  requires(N >= 2 && !std::same_as<I, std::size_t>)
void for_each(stream_ref stream, I const (&extents)[N], F f, Block block = {},
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  ROCARRAY_CHECK_BLOCK(Block, N);
  for_each(stream, detail::shape_from(extents), std::move(f), block);
}
///@}

/// Enqueues f(i, j, …) for a box with bounds in braces: for_each(stream, {1, 1}, {n, m}, f). The
/// indices of one bound have the same type, or are std::size_t and constants. Throws shape_error if
/// a bound is negative or `begin` is greater than `end` on an axis.
///@{
template <class F, std::size_t N, detail::block_of_threads Block = detail::default_block>
  requires(N >= 2)
void for_each(stream_ref stream, std::size_t const (&begin)[N], std::size_t const (&end)[N], F f,
              Block block = {}, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  ROCARRAY_CHECK_BLOCK(Block, N);
  for_each(stream, detail::indices_from(begin), detail::indices_from(end), std::move(f), block);
}
template <class F, std::integral I, std::integral J, std::size_t N,
          detail::block_of_threads Block = detail::default_block>
  requires(N >= 2 && !(std::same_as<I, std::size_t> && std::same_as<J, std::size_t>))
void for_each(stream_ref stream, I const (&begin)[N], J const (&end)[N], F f, Block block = {},
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  ROCARRAY_CHECK_FUNCTOR(F);
  ROCARRAY_CHECK_BLOCK(Block, N);
  for_each(stream, detail::indices_from(begin), detail::indices_from(end), std::move(f), block);
}
///@}

#undef ROCARRAY_CHECK_BLOCK
#undef ROCARRAY_CHECK_FUNCTOR

}  // namespace roc

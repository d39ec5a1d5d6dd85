// SPDX-License-Identifier: MIT
// One side of a copy with its type: from arrays, views and ranges to what the library takes.
#pragma once

#include <cstddef>
#include <type_traits>

#include <roc/detail/host_argument.hpp>
#include <roc/detail/region.hpp>
#include <roc/detail/throw.hpp>
#include <roc/layout/shape.hpp>

namespace roc::detail {

template <class X>
concept copy_argument = host_argument<X> || device_side<X>;

template <class T, std::size_t N>
struct side {
  using value_type = std::remove_cv_t<T>;
  static constexpr std::size_t rank = N;

  T* data;
  shape<N> extents;
  strides<N> steps;
  place where;
  int device;

  detail::region region() const {
    return {const_cast<value_type*>(data), sizeof(T), N, extents.data(), steps.data(), where, device};
  }

  /// A flat piece of host memory stands for an array of any rank with as many elements, in C order.
  template <std::size_t M>
  side<T, M> with_rank_of(shape<M> const& wanted) const {
    static_assert(M == N || N == 1,
                  "rocarray: source and destination have different ranks: give a view of the same "
                  "rank, or a contiguous range");
    if constexpr (M == N) {
      return *this;
    } else {
      if (where == place::device) throw_ranks(wanted);
      if (extents[0] != layout::element_count(wanted) ||
          !layout::is_c_contiguous(extents, steps)) {
        throw_mismatch(wanted);
      }
      return {data, wanted, layout::compact_strides(wanted), where, device};
    }
  }

 private:
  template <std::size_t M>
  [[noreturn]] void throw_ranks(shape<M> const& wanted) const {
    std::array<std::ptrdiff_t, M> values{};
    for (std::size_t i = 0; i < M; ++i) values[i] = static_cast<std::ptrdiff_t>(wanted[i]);
    auto const size = static_cast<std::ptrdiff_t>(extents[0]);
    throw_shape_error("incompatible rank: device ", {&size, 1}, ", other ", {values.data(), M},
                      ": only flat host memory stands for any rank, reshape the device array");
  }
  template <std::size_t M>
  [[noreturn]] void throw_mismatch(shape<M> const& wanted) const {
    std::array<std::ptrdiff_t, M> values{};
    for (std::size_t i = 0; i < M; ++i) values[i] = static_cast<std::ptrdiff_t>(wanted[i]);
    auto const size = static_cast<std::ptrdiff_t>(extents[0]);
    throw_shape_error("incompatible shape: array ", {values.data(), M}, ", flat range ", {&size, 1},
                      ": the range needs as many elements, one after the other");
  }
};

template <copy_argument X>
auto view_of(X& x) {
  if constexpr (device_side<X>) {
    return x.view();
  } else {
    return as_host_view(x);
  }
}

template <copy_argument X>
auto side_of(X& x) {
  auto const view = view_of(x);
  using type = std::remove_const_t<decltype(view)>;
  return side<typename type::element_type, type::rank>{
      view.data(), view.shape(), view.strides(), type::memory_place, view.device_ordinal()};
}

/// Calls f with both sides brought to one rank, that of the one which is not flat.
template <class S, class D, class F>
auto with_equal_ranks(S const& source, D const& destination, F f) {
  static_assert(std::is_same_v<typename S::value_type, typename D::value_type>,
                "rocarray: source and destination have different element types");
  if constexpr (S::rank == D::rank) {
    return f(source.region(), destination.region());
  } else if constexpr (S::rank == 1) {
    auto const same = source.with_rank_of(destination.extents);
    return f(same.region(), destination.region());
  } else {
    auto const same = destination.with_rank_of(source.extents);
    return f(source.region(), same.region());
  }
}

template <class S, class D>
void copy_sides(S const& source, D const& destination, stream_ref const* stream,
                source_use use = source_use::copied) {
  with_equal_ranks(source, destination, [&](region const& from, region const& to) {
    copy(from, to, stream, use);
  });
}

/// A destination that can be written.
template <class X>
concept writable_argument = copy_argument<X> && requires(X& x) {
  requires !std::is_const_v<std::remove_pointer_t<decltype(side_of(x).data)>>;
};

}  // namespace roc::detail

// SPDX-License-Identifier: MIT
// Index expressions that host and device evaluate, to compare the results.
#pragma once

#include <cstddef>

#include <roc/roc.hpp>

namespace roc::test {

/// The number of index expressions.
inline constexpr int index_forms = 10;

/// Calls f(v(...)) with index expression number `form`. `v` has the shape (4, 5, 6).
template <class View, class F>
ROCARRAY_HOST_DEVICE void index_form(View const& v, int form, F const& f) {
  switch (form) {
    case 0: return f(v(all, all, all));
    case 1: return f(v(slice(1, none, 2), ellipsis));
    case 2: return f(v(slice(none, none, -1), 2, all));
    case 3: return f(v(-1, slice(4, 0, -2), slice(-5, -1)));
    case 4: return f(v(ellipsis, newaxis, -6));
    case 5: return f(v(3u, all, std::size_t{5}));
    case 6: return f(v(slice(2, 2), all, 0));
    case 7: return f(v(newaxis, 0, ellipsis));
    case 8: return f(v(slice(0, 4, 3), slice(none, none, -3), slice(5, none, -5)));
    default: return f(v(ellipsis)(1, all, all)(slice(1, 4), -2));
  }
}

/// Returns a hash of the extents and of the value and position of every element.
template <class T, std::size_t N, template <class, std::size_t> class View>
ROCARRAY_HOST_DEVICE long long digest(View<T, N> const& v) {
  long long result = N;
  for (std::size_t i = 0; i < N; ++i) {
    result = 31 * result + static_cast<long long>(v.extent(i));
    if (v.extent(i) == 0) return result;
  }
  if constexpr (N == 1) {
    for (std::size_t i = 0; i < v.extent(0); ++i) result = 7 * result % 1'000'003 + v(i);
  } else if constexpr (N > 1) {
    for (std::size_t i = 0; i < v.extent(0); ++i) {
      result = 11 * result % 1'000'003 + digest(v(i, ellipsis));
    }
  }
  return result;
}

/// Writes the digest of index expression i of `v` to out(i), with for_each.
void digest_forms(stream_ref stream, device_view<int const, 3> v, device_view<long long> out);
/// Writes 10 * i + k to element k of row i, counting rows from the end, with for_each. The kernel
/// indexable_with with negative numbers.
void number_rows(stream_ref stream, device_view<int, 2> v);

}  // namespace roc::test

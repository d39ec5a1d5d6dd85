// SPDX-License-Identifier: MIT
// expected: mdspan_has_no_strided_layout_or_no_default_accessor
#include <roc/roc.hpp>

#include "span_of.hpp"

// A mdspan whose layout is not always strided.
struct span_without_strides : span_of<float, 3> {
  static constexpr bool is_always_strided() { return false; }
};

void test(span_without_strides& from, roc::device_array<float>& to) { roc::copy(from, to); }

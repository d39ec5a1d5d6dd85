// SPDX-License-Identifier: MIT
// Arithmetic of layouts: shapes, index expressions, reshapes, splits, padding, rectangles,
// canonical layouts and overlap, each compared with an enumeration of the elements or with 128-bit
// integers.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <roc/error.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/padding.hpp>
#include <roc/layout/rectangle.hpp>
#include <roc/layout/reshape.hpp>
#include <roc/layout/shape.hpp>
#include <roc/layout/split.hpp>

#include "campaigns/fuzz_input.hpp"
#include "layout/canonical_layout.hpp"
#include "layout/for_each_row.hpp"
#include "layout/overlap.hpp"

namespace {

namespace layout = roc::layout;
using roc::order;
using roc::fuzz::input;
using roc::fuzz::require;

__extension__ using wide = __int128;
using offsets = std::vector<std::ptrdiff_t>;

constexpr wide max_size = PTRDIFF_MAX;

enum class thrown { nothing, shape, layout };

// Calls f and returns what it threw. Other exceptions end the process.
template <class F>
thrown error_of(F f) {
  try {
    f();
    return thrown::nothing;
  } catch (roc::shape_error const&) {
    return thrown::shape;
  } catch (roc::layout_error const&) {
    return thrown::layout;
  }
}

// The oracle: enumerates indices one after the other.

template <std::size_t N>
using index_t = std::array<std::size_t, N>;

// Calls f(index) for all indices of a shape, the last axis (C order) or the first (F) fastest.
template <std::size_t N, class F>
void for_each_index(roc::shape<N> const& shape, order o, F f) {
  for (std::size_t extent : shape) {
    if (extent == 0) return;
  }
  index_t<N> index{};
  for (;;) {
    f(index);
    std::size_t i = 0;
    for (; i != N; ++i) {
      std::size_t const axis = o == order::c ? N - 1 - i : i;
      if (++index[axis] != shape[axis]) break;
      index[axis] = 0;
    }
    if (i == N) return;
  }
}

template <std::size_t N>
std::ptrdiff_t offset_of(layout::mapping<N> const& m, index_t<N> const& index) {
  std::ptrdiff_t result = m.offset;
  for (std::size_t i = 0; i < N; ++i) {
    result += static_cast<std::ptrdiff_t>(index[i]) * m.strides[i];
  }
  return result;
}

template <std::size_t N>
offsets offsets_of(layout::mapping<N> const& m, order o = order::c) {
  offsets result;
  for_each_index(m.shape, o, [&](index_t<N> const& i) { result.push_back(offset_of(m, i)); });
  return result;
}

template <std::size_t N>
bool has_no_elements(roc::shape<N> const& shape) {
  return std::find(shape.begin(), shape.end(), 0u) != shape.end();
}

// A product that stops growing beyond what 64 bits hold.
wide product(wide a, wide b) {
  constexpr wide limit = wide{1} << 100;
  if (a == 0 || b == 0) return 0;
  return a > limit / b ? limit : a * b;
}

template <std::size_t N>
wide count_of(roc::shape<N> const& shape) {
  wide count = 1;
  if (has_no_elements(shape)) return 0;
  for (std::size_t extent : shape) count = product(count, static_cast<wide>(extent));
  return count;
}

// Inputs

// A shape of few elements: up to 6 on an axis, and 0 at times.
template <std::size_t N>
roc::shape<N> small_shape(input& in) {
  roc::shape<N> result{};
  for (auto& extent : result) extent = in.one_in(16) ? 0 : 1 + in.below(N > 3 ? 4 : 6);
  return result;
}

// Strides without a rule, or those of an array with gaps, permuted and reversed axes.
template <std::size_t N>
layout::mapping<N> small_mapping(input& in) {
  layout::mapping<N> result{small_shape<N>(in), {}, in.between(-20, 20)};
  if (in.one_in(3)) {
    for (auto& stride : result.strides) stride = in.between(-12, 12);
    return result;
  }
  std::array<std::size_t, N> axes{};
  for (std::size_t i = 0; i < N; ++i) axes[i] = i;
  for (std::size_t i = N; i > 1; --i) std::swap(axes[i - 1], axes[in.below(i)]);
  std::ptrdiff_t step = in.one_in(4) ? 2 : 1;
  for (std::size_t axis : axes) {
    result.strides[axis] = in.one_in(4) ? -step : step;
    step *= static_cast<std::ptrdiff_t>(std::max<std::size_t>(result.shape[axis], 1));
    if (in.one_in(3)) step += in.between(0, 3);
  }
  return result;
}

template <std::size_t N>
roc::shape<N> hostile_shape(input& in) {
  roc::shape<N> result{};
  for (auto& extent : result) extent = static_cast<std::size_t>(in.hostile());
  return result;
}

// Shapes and strides

template <std::size_t N>
void check_hostile_shape(input& in) {
  auto const shape = hostile_shape<N>(in);
  roc::strides<N> strides{};
  for (auto& stride : strides) stride = in.hostile();
  std::size_t const element = 1 + in.below(16);
  wide const count = count_of(shape);

  thrown const too_large = count > max_size ? thrown::shape : thrown::nothing;
  require(
      error_of([&] { layout::check_size(shape, element); }) ==
          (product(count, static_cast<wide>(element)) > max_size ? thrown::shape : thrown::nothing),
      "check_size");
  require(error_of([&] {
            require(static_cast<wide>(layout::element_count(shape)) == count, "element_count");
          }) == too_large,
          "element_count throws");
  for (order const o : {order::c, order::f}) {
    require(error_of([&] {
              auto const compact = layout::compact_strides(shape, o);
              wide step = 1;
              for (std::size_t i = 0; i < N; ++i) {
                std::size_t const axis = o == order::c ? N - 1 - i : i;
                require(compact[axis] == std::min(step, max_size), "compact stride %zu", axis);
                step = product(step, static_cast<wide>(shape[axis]));
              }
            }) == too_large,
            "compact_strides throws");
  }

  // Both ends only move outwards, so that a range that is too long at one axis stays so.
  wide low = 0, high = 1;
  bool overflows = false;
  for (std::size_t i = 0; i < N && count != 0; ++i) {
    wide const reach = (static_cast<wide>(shape[i]) - 1) * strides[i];
    (reach < 0 ? low : high) += reach;
    overflows = overflows || low < PTRDIFF_MIN || high > max_size || high - low > max_size;
    if (overflows) break;
  }
  require(error_of([&] {
            auto const range = layout::element_range(shape, strides);
            require(range.low == (count == 0 ? 0 : low) && range.high == (count == 0 ? 0 : high),
                    "element_range");
          }) == (overflows ? thrown::shape : thrown::nothing),
          "element_range throws");
  // These must neither throw nor overflow.
  static_cast<void>(layout::is_unique(shape, strides));
  static_cast<void>(layout::is_c_contiguous(shape, strides));
  static_cast<void>(layout::is_f_contiguous(shape, strides));
  require(error_of([&] { static_cast<void>(layout::like_strides(shape, strides)); }) == too_large,
          "like_strides throws");
}

bool is_iota(offsets const& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<std::ptrdiff_t>(i)) return false;
  }
  return true;
}

template <std::size_t N>
void check_small_shape(input& in) {
  auto m = small_mapping<N>(in);
  m.offset = 0;
  offsets const c = offsets_of(m, order::c);
  offsets const f = offsets_of(m, order::f);
  require(layout::element_count(m.shape) == c.size(), "element_count of a small shape");
  require(layout::is_c_contiguous(m.shape, m.strides) == is_iota(c), "is_c_contiguous");
  require(layout::is_f_contiguous(m.shape, m.strides) == is_iota(f), "is_f_contiguous");
  for (order const o : {order::c, order::f}) {
    layout::mapping<N> const compact{m.shape, layout::compact_strides(m.shape, o), 0};
    require(is_iota(offsets_of(compact, o)), "compact_strides");
  }
  auto const range = layout::element_range(m.shape, m.strides);
  if (c.empty()) {
    require(range.low == 0 && range.high == 0, "element_range without elements");
  } else {
    auto const [least, greatest] = std::minmax_element(c.begin(), c.end());
    require(range.low == *least && range.high == *greatest + 1, "element_range");
  }

  bool const is_distinct = std::set(c.begin(), c.end()).size() == c.size();
  bool const is_unique = layout::is_unique(m.shape, m.strides);
  require(!is_unique || is_distinct, "is_unique, but two elements are the same");
  // An array nests: each stride is longer than all elements of the axes with smaller strides.
  std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> axes;  // stride, reach
  for (std::size_t i = 0; i < N; ++i) {
    std::ptrdiff_t const stride = std::abs(m.strides[i]);
    if (m.shape[i] > 1)
      axes.emplace_back(stride, stride * static_cast<std::ptrdiff_t>(m.shape[i] - 1));
  }
  std::sort(axes.begin(), axes.end());
  std::ptrdiff_t reach = 0;
  bool is_nested = true;
  for (auto const& [stride, length] : axes) {
    is_nested = is_nested && stride > reach;
    reach += length;
  }
  require(is_unique == (is_nested || c.empty()), "is_unique of axes that nest");
  if (!c.empty()) {
    roc::strides<N> positive{};
    for (std::size_t i = 0; i < N; ++i) positive[i] = std::abs(m.strides[i]);
    require(roc::detail::has_aliased_elements(N, m.shape.data(), positive.data()) == !is_distinct,
            "has_aliased_elements");
  }

  layout::mapping<N> const like{m.shape, layout::like_strides(m.shape, m.strides), 0};
  offsets like_offsets = offsets_of(like);
  std::sort(like_offsets.begin(), like_offsets.end());
  require(is_iota(like_offsets), "like_strides is not compact");
  for (std::size_t i = 0; i < N && !c.empty(); ++i) {
    for (std::size_t k = 0; k < N; ++k) {
      if (m.shape[i] == 1 || m.shape[k] == 1) continue;
      bool const keeps = like.strides[i] < like.strides[k] || i == k;
      bool const is_before = std::abs(m.strides[i]) < std::abs(m.strides[k]) ||
                             (std::abs(m.strides[i]) == std::abs(m.strides[k]) && i > k);
      // Axes of extent 1 may have any stride in C and F order, and these come first.
      if (is_before) require(keeps, "like_strides exchanges axes %zu and %zu", i, k);
    }
  }
}

// Index expressions

// The indices that an expression selects, or nullopt if it is out of bounds.
using selection = std::optional<std::vector<std::size_t>>;

struct end_of_slice {
  bool is_none;
  bool is_unsigned;
  std::int64_t value;

  roc::layout::slice_end get() const {
    if (is_none) return roc::none;
    if (is_unsigned) return static_cast<std::uint64_t>(value);
    return value;
  }
  // The index as an integer without limits; counted from the end if negative.
  wide index(wide extent) const {
    if (is_unsigned) return static_cast<wide>(static_cast<std::uint64_t>(value));
    return value < 0 ? value + extent : wide{value};
  }
};

end_of_slice take_end(input& in) {
  std::size_t const kind = in.below(4);
  if (kind == 0) return {true, false, 0};
  return {false, kind == 1, in.one_in(4) ? in.hostile() : in.between(-7, 7)};
}

struct slice_input {
  end_of_slice start;
  end_of_slice stop;
  bool step_is_unsigned;
  std::int64_t step_value;

  roc::slice get() const {
    if (step_is_unsigned) return {start.get(), stop.get(), static_cast<std::uint64_t>(step_value)};
    return {start.get(), stop.get(), step_value};
  }

  selection indices(std::size_t extent) const {
    auto const n = static_cast<wide>(extent);
    wide const step = step_is_unsigned ? static_cast<wide>(static_cast<std::uint64_t>(step_value))
                                       : wide{step_value};
    if (step == 0) return std::nullopt;
    wide const last_valid = step > 0 || n == 0 ? n : n - 1;
    for (end_of_slice const& end : {start, stop}) {
      if (!end.is_none && (end.index(n) < 0 || end.index(n) > last_valid)) return std::nullopt;
    }
    wide const from = start.is_none ? (step > 0 ? 0 : n - 1) : start.index(n);
    wide const to = stop.is_none ? (step > 0 ? n : -1) : stop.index(n);
    std::vector<std::size_t> result;
    for (wide i = from; step > 0 ? i < to : i > to; i += step) {
      if (i < 0 || i >= n) break;
      result.push_back(static_cast<std::size_t>(i));
    }
    return result;
  }
};

slice_input take_slice(input& in) {
  end_of_slice const start = take_end(in);
  end_of_slice const stop = take_end(in);
  bool const is_unsigned = in.one_in(4);
  return {start, stop, is_unsigned, in.one_in(4) ? in.hostile() : in.between(-3, 3)};
}

// An expression of one axis: the expression itself, and the indices that it selects.
struct whole_axis {
  roc::all_t get() const { return roc::all; }
  selection indices(std::size_t extent) const {
    std::vector<std::size_t> result(extent);
    for (std::size_t i = 0; i < extent; ++i) result[i] = i;
    return result;
  }
};

template <class I>
struct integer {
  I value;
  I get() const { return value; }
  selection indices(std::size_t extent) const {
    wide index = static_cast<wide>(value);
    if (index < 0) index += static_cast<wide>(extent);
    if (index < 0 || index >= static_cast<wide>(extent)) return std::nullopt;
    return std::vector{static_cast<std::size_t>(index)};
  }
};

template <class X>
inline constexpr bool keeps_axis = true;
template <class I>
inline constexpr bool keeps_axis<integer<I>> = false;

// Checks the region that `call` selects, where `axes` are what it does with each axis of `from`.
template <std::size_t N, class Call, class... Axis>
void check_region(layout::mapping<N> const& from, Call call, Axis const&... axes) {
  std::array<selection, N> selected;
  std::array<bool, N> kept{};
  std::size_t axis = 0;
  ((selected[axis] = axes.indices(from.shape[axis]), kept[axis] = keeps_axis<Axis>, ++axis), ...);
  bool const is_valid = std::all_of(selected.begin(), selected.end(),
                                    [](selection const& s) { return s.has_value(); });
  thrown const error = error_of([&] {
    auto const region = call();
    require(is_valid, "an index out of bounds is accepted");
    roc::shape<N> extents{};
    bool is_empty = false;
    for (std::size_t i = 0; i < N; ++i) {
      extents[i] = selected[i]->size();
      is_empty = is_empty || extents[i] == 0;
    }
    offsets expected;
    for_each_index(extents, order::c, [&](index_t<N> index) {
      for (std::size_t i = 0; i < N; ++i) index[i] = (*selected[i])[index[i]];
      expected.push_back(offset_of(from, index));
    });
    require(offsets_of(region) == expected, "index selects other elements");
    std::vector<std::size_t> shape;
    for (std::size_t i = 0; i < N; ++i) {
      if (kept[i]) shape.push_back(extents[i]);
    }
    std::vector<std::size_t> actual(region.shape.begin(), region.shape.end());
    std::erase(actual, 1u);
    std::erase(shape, 1u);
    require(actual == shape, "shape of a region");
    if (is_empty) require(region.offset == from.offset, "offset of an empty region");
  });
  require(error == (is_valid ? thrown::nothing : thrown::shape), "index throws");
}

// Calls f with an expression of one axis.
template <class F>
void with_expression(input& in, F f) {
  switch (in.below(5)) {
    case 0: return f(whole_axis{});
    case 1: return f(integer<std::int64_t>{in.hostile()});
    case 2: return f(integer<std::uint64_t>{static_cast<std::uint64_t>(in.hostile())});
    case 3: return f(integer<signed char>{static_cast<signed char>(in.between(-9, 9))});
    default: return f(take_slice(in));
  }
}

void check_index(input& in) {
  std::size_t const kind = in.below(6);
  if (kind < 2) {
    auto const m = small_mapping<1>(in);
    with_expression(in, [&](auto a) {
      if (kind == 0)
        check_region(
            m, [&] { return layout::index(m, a.get()); }, a);
      if (kind == 1) {
        check_region(
            m, [&] { return layout::index(m, roc::newaxis, a.get(), roc::ellipsis); }, a);
      }
    });
  } else if (kind < 4) {
    auto const m = small_mapping<2>(in);
    with_expression(in, [&](auto a) {
      with_expression(in, [&](auto b) {
        if (kind == 2)
          check_region(
              m, [&] { return layout::index(m, a.get(), b.get()); }, a, b);
        if (kind == 3) {
          check_region(
              m, [&] { return layout::index(m, a.get(), roc::ellipsis, roc::newaxis, b.get()); }, a,
              b);
        }
      });
    });
  } else {
    auto const m = small_mapping<3>(in);
    whole_axis const all;
    with_expression(in, [&](auto a) {
      if (kind == 4) {
        check_region(
            m, [&] { return layout::index(m, roc::ellipsis, a.get()); }, all, all, a);
      } else {
        auto const s = take_slice(in);
        check_region(
            m, [&] { return layout::index(m, s.get(), a.get(), roc::all); }, s, a, all);
      }
    });
  }
}

// Reshapes

template <std::size_t N, std::size_t M>
void check_complete_shape(input& in) {
  auto const from = in.one_in(4) ? hostile_shape<N>(in) : small_shape<N>(in);
  layout::signed_shape<M> to{};
  for (auto& extent : to) extent = in.one_in(3) ? -1 : in.hostile();
  wide const size = count_of(from);
  std::size_t inferred = 0;
  bool is_valid = size <= max_size;
  bool has_zero = false;
  wide rest = 1;
  for (std::ptrdiff_t extent : to) {
    if (extent == -1) ++inferred;
    if (extent < -1) is_valid = false;
    if (extent == 0) has_zero = true;
    if (extent > 0) rest = product(rest, extent);
  }
  if (has_zero) rest = 0;
  if (inferred > 1) is_valid = false;
  if (inferred == 1) is_valid = is_valid && rest != 0 && size % rest == 0;
  if (inferred == 0) is_valid = is_valid && rest == size;
  thrown const error = error_of([&] {
    auto const result = layout::complete_shape(from, to);
    require(is_valid, "complete_shape accepts extents that do not fit");
    for (std::size_t i = 0; i < M; ++i) {
      wide const expected = to[i] == -1 ? size / rest : wide{to[i]};
      require(static_cast<wide>(result[i]) == expected, "complete_shape, axis %zu", i);
    }
  });
  require(error == (is_valid ? thrown::nothing : thrown::shape), "complete_shape throws");
}

// A shape with as many elements as `from`, mostly.
template <std::size_t M, std::size_t N>
roc::shape<M> fitting_shape(roc::shape<N> const& from, input& in) {
  std::size_t size = 1;
  for (std::size_t extent : from) size *= extent;
  roc::shape<M> result{};
  for (std::size_t i = 0; i < M; ++i) {
    std::vector<std::size_t> divisors{1};
    for (std::size_t d = 2; d <= size; ++d) {
      if (size % d == 0) divisors.push_back(d);
    }
    result[i] = i + 1 == M ? size : divisors[in.below(std::min<std::size_t>(divisors.size(), 256))];
    if (result[i] != 0) size /= result[i];
  }
  if (in.one_in(16)) result[in.below(M)] = in.below(8);
  return result;
}

template <std::size_t N, std::size_t M>
void check_reshape(input& in) {
  auto const from = small_mapping<N>(in);
  auto const to = fitting_shape<M>(from.shape, in);
  order const o = in.one_in(2) ? order::c : order::f;
  offsets const expected = offsets_of(from, o);
  bool const fits = count_of(to) == static_cast<wide>(expected.size());
  // The only strides that can do it: the distances of the first two elements along each axis.
  layout::mapping<M> only{to, {}, expected.empty() ? from.offset : expected.front()};
  std::size_t distance = 1;
  for (std::size_t i = 0; i < M && fits && !expected.empty(); ++i) {
    std::size_t const axis = o == order::c ? M - 1 - i : i;
    if (to[axis] > 1) only.strides[axis] = expected[distance] - expected[0];
    distance *= to[axis];
  }
  bool const is_view = fits && offsets_of(only, o) == expected;
  thrown const error = error_of([&] {
    auto const result = layout::reshape(from, to, o);
    require(is_view, "a reshape without strides that keep the order");
    require(result.shape == to && offsets_of(result, o) == expected, "reshape");
  });
  require(error == (!fits     ? thrown::shape
                    : is_view ? thrown::nothing
                              : thrown::layout),
          "reshape throws");
}

template <std::size_t N>
void check_axes(input& in) {
  auto const m = small_mapping<N>(in);
  std::array<std::size_t, N> axes{};
  for (auto& axis : axes)
    axis = in.one_in(8) ? static_cast<std::size_t>(in.hostile()) : in.below(N);
  bool const is_permutation = [&] {
    auto sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < N; ++i) {
      if (sorted[i] != i) return false;
    }
    return true;
  }();
  thrown const error = error_of([&] {
    auto const result = layout::transpose(m, axes);
    for_each_index(result.shape, order::c, [&](index_t<N> const& index) {
      index_t<N> original{};
      for (std::size_t i = 0; i < N; ++i) original[axes[i]] = index[i];
      require(offset_of(result, index) == offset_of(m, original), "transpose");
    });
    for (std::size_t i = 0; i < N; ++i) require(result.shape[i] == m.shape[axes[i]], "its shape");
  });
  require(error == (is_permutation ? thrown::nothing : thrown::layout), "transpose throws");

  std::size_t const others = static_cast<std::size_t>(std::count_if(
      m.shape.begin(), m.shape.end(), [](std::size_t extent) { return extent != 1; }));
  require(error_of([&] {
            auto const result = layout::squeeze_to<N - 1>(m);
            require(offsets_of(result) == offsets_of(m), "squeeze_to");
            require(!has_no_elements(m.shape) || has_no_elements(result.shape), "its shape");
          }) == (others == N - 1 ? thrown::nothing : thrown::shape),
          "squeeze_to throws");
  require(error_of([&] {
            auto const result = layout::squeeze<0, N - 1>(m);
            require(offsets_of(result) == offsets_of(m), "squeeze");
          }) == (m.shape[0] == 1 && m.shape[N - 1] == 1 ? thrown::nothing : thrown::shape),
          "squeeze throws");
}

// Sections, elements of another size, members

template <std::size_t N>
void check_split(input& in) {
  auto const m = small_mapping<N>(in);
  std::size_t const axis = in.one_in(8) ? static_cast<std::size_t>(in.hostile()) : in.below(N);
  auto const section = static_cast<std::size_t>(in.one_in(4) ? in.hostile() : in.between(0, 8));
  std::size_t count = 0;
  thrown const error = error_of([&] { count = layout::split_count(m, axis, section); });
  require(error == (axis < N && section != 0 ? thrown::nothing : thrown::shape), "split throws");
  if (error != thrown::nothing) return;
  std::size_t first = 0;
  for (std::size_t number = 0; number < count; ++number) {
    auto const part = layout::split_part(m, axis, section, number);
    require(part.shape[axis] == std::min(section, m.shape[axis] - first), "extent of a part");
    for_each_index(part.shape, order::c, [&](index_t<N> index) {
      std::ptrdiff_t const offset = offset_of(part, index);
      index[axis] += first;
      require(offset == offset_of(m, index), "elements of a part");
    });
    first += part.shape[axis];
  }
  require(first == m.shape[axis], "the parts are not the axis");
  auto const beyond = in.one_in(2) ? count : static_cast<std::size_t>(in.hostile());
  if (beyond >= count) {
    require(error_of([&] { static_cast<void>(layout::split_part(m, axis, section, beyond)); }) ==
                thrown::shape,
            "a part beyond the last");
  }
}

template <std::size_t N>
void check_reinterpret(input& in) {
  auto m = small_mapping<N>(in);
  bool const is_hostile = in.one_in(4);
  if (is_hostile) m.strides[in.below(N)] = in.hostile();
  std::size_t const from = 1 + in.below(16);
  std::size_t const to = 1 + in.below(16);
  std::size_t const factor = from > to ? from / to : to / from;
  bool const grows = to > from;
  bool const is_empty = has_no_elements(m.shape);
  // The last axis with more than one element that has stride 1; without any such axis the last.
  std::size_t unit = N;
  bool is_single = true;
  for (std::size_t i = 0; i < N; ++i) {
    if (m.shape[i] == 1) continue;
    is_single = false;
    if (m.strides[i] == 1) unit = i;
  }
  if (is_single) unit = N - 1;
  thrown expected = thrown::nothing;
  auto const fails = [&](std::ptrdiff_t value) {
    wide const scaled =
        grows ? value / static_cast<wide>(factor) : value * static_cast<wide>(factor);
    return grows ? value % static_cast<std::ptrdiff_t>(factor) != 0
                 : scaled > PTRDIFF_MAX || scaled < PTRDIFF_MIN;
  };
  if (from != to) {
    if (from % to != 0 && to % from != 0) {
      expected = thrown::layout;
    } else if (unit == N) {
      expected = thrown::layout;
    } else if (grows && m.shape[unit] % factor != 0) {
      expected = thrown::shape;
    } else if (!is_empty) {
      bool any = fails(m.offset);
      for (std::size_t i = 0; i < N; ++i) {
        any = any || (i != unit && m.shape[i] != 1 && fails(m.strides[i]));
      }
      if (any) expected = thrown::layout;
    }
  }
  thrown const error = error_of([&] {
    auto const result = layout::reinterpret(m, from, to);
    if (is_hostile || is_empty || from == to) return;
    for_each_index(result.shape, order::c, [&](index_t<N> index) {
      std::ptrdiff_t const address = offset_of(result, index) * static_cast<std::ptrdiff_t>(to);
      std::size_t const position = index[unit] * to;  // in bytes, along the axis
      index[unit] = position / from;
      require(address == offset_of(m, index) * static_cast<std::ptrdiff_t>(from) +
                             static_cast<std::ptrdiff_t>(position % from),
              "bytes of reinterpret");
    });
    require(result.shape[unit] * to == m.shape[unit] * from, "size of reinterpret");
  });
  require(error == expected, "reinterpret throws");
}

template <std::size_t N>
void check_field(input& in) {
  auto m = small_mapping<N>(in);
  bool const is_hostile = in.one_in(4);
  if (is_hostile) m.strides[in.below(N)] = in.hostile();
  auto const number = [&] {
    return static_cast<std::size_t>(in.one_in(8) ? in.hostile() : in.between(0, 24));
  };
  std::size_t const record = 1 + in.below(24);
  std::size_t const place = number();
  std::size_t const size = number();
  bool is_valid = static_cast<wide>(place) + static_cast<wide>(size) <= static_cast<wide>(record) &&
                  size != 0 && record % size == 0;
  auto const factor = static_cast<wide>(size == 0 ? 1 : record / size);
  auto const fits = [&](wide value) {
    return value * factor <= PTRDIFF_MAX && value * factor >= PTRDIFF_MIN;
  };
  if (!has_no_elements(m.shape)) {
    is_valid = is_valid && fits(m.offset);
    for (std::size_t i = 0; i < N; ++i) {
      is_valid = is_valid && (m.shape[i] == 1 || fits(m.strides[i]));
    }
  }
  thrown const error = error_of([&] {
    auto const result = layout::field(m, record, place, size);
    if (is_hostile) return;
    offsets expected = offsets_of(m);
    for (auto& offset : expected) offset *= static_cast<std::ptrdiff_t>(factor);
    require(result.shape == m.shape && offsets_of(result) == expected, "field");
  });
  require(error == (is_valid ? thrown::nothing : thrown::layout), "field throws");
}

// Padding

void check_padding(input& in) {
  struct constraints {
    std::vector<std::size_t> roundings;
    std::size_t minimum = 0;
    std::size_t alignment = 1;
    std::size_t bytes = 1;
    std::optional<std::size_t> exact;
    bool is_valid = true;
  } wanted;
  bool const is_hostile = in.one_in(4);
  auto const number = [&] {
    return static_cast<std::size_t>(is_hostile ? in.hostile() : in.between(0, 40));
  };
  auto const is_power = [](std::size_t n) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      if (n == std::size_t{1} << bit) return true;
    }
    return false;
  };
  std::size_t const unpadded = number();
  std::size_t const element = 1 + in.below(32);
  roc::padding halves[2];
  thrown error = thrown::nothing;
  roc::padding all;
  error = error_of([&] {
    for (std::size_t steps = in.below(8); steps != 0; --steps) {
      roc::padding& subject = halves[in.below(2)];
      std::size_t const n = number();
      switch (in.below(5)) {
        case 0:
          if (std::find(wanted.roundings.begin(), wanted.roundings.end(), n) ==
              wanted.roundings.end()) {
            wanted.roundings.push_back(n);
          }
          wanted.is_valid = wanted.is_valid && n != 0;
          subject.round_to(n);
          break;
        case 1:
          wanted.minimum = std::max(wanted.minimum, n);
          subject.at_least(n);
          break;
        case 2:
          wanted.is_valid = wanted.is_valid && is_power(n);
          wanted.alignment = std::max(wanted.alignment, n);
          subject.align(n);
          break;
        case 3:
          wanted.is_valid = wanted.is_valid && is_power(n);
          wanted.bytes = std::max(wanted.bytes, n);
          subject.align_bytes(n);
          break;
        default:
          wanted.is_valid = wanted.is_valid && (!wanted.exact || *wanted.exact == n);
          wanted.exact = n;
          subject.exactly(n);
      }
    }
    all = halves[0] & halves[1];
  });
  wanted.is_valid = wanted.is_valid && wanted.roundings.size() <= 4;
  require(error == (wanted.is_valid ? thrown::nothing : thrown::layout), "constraints throw");
  if (error != thrown::nothing) return;
  require(all.byte_alignment() == wanted.bytes, "byte_alignment");

  auto const satisfies = [&](std::size_t extent) {
    bool result = extent >= unpadded && extent >= wanted.minimum &&
                  extent % wanted.alignment == 0 && extent * element % wanted.bytes == 0 &&
                  (!wanted.exact || extent == *wanted.exact);
    for (std::size_t n : wanted.roundings) result = result && extent >= (unpadded + n - 1) / n * n;
    return result;
  };
  error = error_of([&] {
    std::size_t const extent = all.extent(unpadded, element);
    if (is_hostile) {
      require(extent >= unpadded && extent >= wanted.minimum, "a padded extent is too small");
      require(!wanted.exact || extent == *wanted.exact, "the exact padded extent");
      return;
    }
    require(satisfies(extent), "a padded extent does not satisfy its constraints");
    for (std::size_t smaller = 0; smaller < extent; ++smaller) {
      require(!satisfies(smaller), "a smaller padded extent satisfies them");
    }
  });
  if (is_hostile) return;
  require(error == (wanted.exact && !satisfies(*wanted.exact) ? thrown::layout : thrown::nothing),
          "padding::extent throws");
}

// Rectangles

template <std::size_t N>
void check_rectangle(input& in) {
  bool const is_hostile = in.one_in(3);
  auto const number = [&](std::ptrdiff_t most) {
    return static_cast<std::size_t>(is_hostile ? in.hostile() : in.between(0, most));
  };
  std::size_t const bytes = in.one_in(8) ? static_cast<std::size_t>(PTRDIFF_MAX) : in.below(200);
  roc::shape<N> origin{};
  roc::shape<N> region{};
  roc::pitches<N> pitch{};
  for (auto& place : origin) place = number(4);
  for (auto& extent : region) extent = number(6);
  for (auto& distance : pitch) distance = number(20);
  constexpr wide limit = wide{1} << 64;  // products beyond 63 bits are all the same to the library
  auto const times = [&](wide a, wide b) { return std::min(product(a, b), limit); };
  std::array<wide, N> steps{};
  bool pitches_fit = true;
  for (std::size_t axis = N; axis-- != 0;) {
    steps[axis] = 1;
    if (axis + 1 == N) continue;
    wide const least = times(steps[axis + 1], static_cast<wide>(region[axis + 1]));
    steps[axis] = pitch[axis] == 0 ? least : static_cast<wide>(pitch[axis]);
    pitches_fit = pitches_fit && steps[axis] >= least;
    if (steps[axis] > max_size && pitch[axis] != 0 && least > max_size) return;  // not decided here
  }
  wide end = 1;
  wide first = 0;
  for (std::size_t axis = 0; axis < N; ++axis) {
    first += times(steps[axis], static_cast<wide>(origin[axis]));
    end += times(steps[axis], static_cast<wide>(origin[axis]));
    if (region[axis] != 0) end += times(steps[axis], static_cast<wide>(region[axis]) - 1);
  }
  bool const is_empty = has_no_elements(region);
  thrown const expected = !pitches_fit                                  ? thrown::layout
                          : !is_empty && end > static_cast<wide>(bytes) ? thrown::shape
                                                                        : thrown::nothing;
  thrown const error = error_of([&] {
    auto const m = roc::detail::rectangle_mapping<N>(bytes, origin, region, pitch);
    require(m.shape == region && m.offset == (is_empty ? 0 : first), "offset of a rectangle");
    for (std::size_t i = 0; i < N && !is_empty; ++i) {
      require(m.strides[i] == std::min(steps[i], max_size), "stride %zu of a rectangle", i);
    }
  });
  require(error == expected, "rectangle throws");
}

// Canonical layouts, rows, overlap

constexpr std::size_t base_address = std::size_t{1} << 40;

template <std::size_t N>
struct copy_of {
  roc::shape<N> shape{};
  roc::strides<N> source_strides{};
  roc::strides<N> destination_strides{};
  std::size_t element = 1;
  std::ptrdiff_t source_offset = 0;
  std::ptrdiff_t destination_offset = 0;

  layout::canonical_layout canonical(layout::side leading) const {
    using roc::detail::memory_space;
    roc::detail::strided_region const source{
        address(source_offset), element, N, shape.data(), source_strides.data(),
        memory_space::host,     -1};
    roc::detail::strided_region const destination{
        address(destination_offset), element, N, shape.data(), destination_strides.data(),
        memory_space::host,          -1};
    return layout::canonicalize(source, destination, leading);
  }

  static void* address(std::ptrdiff_t offset) {
    return reinterpret_cast<void*>(base_address + static_cast<std::size_t>(offset));
  }

  // The offsets of the bytes that are copied and of those that they are copied to.
  std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> bytes() const {
    std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> result;
    auto const size = static_cast<std::ptrdiff_t>(element);
    layout::mapping<N> const from{shape, source_strides, 0};
    layout::mapping<N> const to{shape, destination_strides, 0};
    for_each_index(shape, order::c, [&](index_t<N> const& index) {
      for (std::ptrdiff_t byte = 0; byte < size; ++byte) {
        result.emplace_back(source_offset + offset_of(from, index) * size + byte,
                            destination_offset + offset_of(to, index) * size + byte);
      }
    });
    return result;
  }
};

template <std::size_t N>
copy_of<N> take_copy(input& in) {
  copy_of<N> result;
  auto source = small_mapping<N>(in);
  auto const destination = small_mapping<N>(in);
  for (auto& extent : source.shape) extent = std::max<std::size_t>(extent, 1);
  result.shape = source.shape;
  result.source_strides = source.strides;
  // Often the same strides, so that axes merge.
  result.destination_strides = in.one_in(2) ? source.strides : destination.strides;
  result.element = 1 + in.below(5);
  result.destination_offset = in.between(-100, 100);
  return result;
}

std::ptrdiff_t offset_from_base(void const* address) {
  return static_cast<std::ptrdiff_t>(reinterpret_cast<std::size_t>(address) - base_address);
}

// The bytes of a canonical layout, in its linear order.
std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> bytes_of(layout::canonical_layout const& c) {
  std::vector<std::size_t> index(c.rank);
  std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> result;
  for (;;) {
    std::ptrdiff_t source = offset_from_base(c.source);
    std::ptrdiff_t destination = offset_from_base(c.destination);
    for (std::size_t i = 0; i < c.rank; ++i) {
      source += static_cast<std::ptrdiff_t>(index[i]) * c.axes[i].source;
      destination += static_cast<std::ptrdiff_t>(index[i]) * c.axes[i].destination;
    }
    for (std::size_t byte = 0; byte < c.run; ++byte) {
      result.emplace_back(source + static_cast<std::ptrdiff_t>(byte),
                          destination + static_cast<std::ptrdiff_t>(byte));
    }
    std::size_t i = c.rank;
    while (i-- != 0) {
      if (++index[i] != c.axes[i].extent) break;
      index[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) return result;
  }
}

std::vector<std::ptrdiff_t> side_of(
    std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> const& bytes, layout::side side) {
  std::vector<std::ptrdiff_t> result;
  for (auto const& [source, destination] : bytes) {
    result.push_back(side == layout::side::source ? source : destination);
  }
  return result;
}

template <std::size_t N>
void check_canonical(input& in) {
  auto const copy = take_copy<N>(in);
  auto const leading = in.one_in(2) ? layout::side::source : layout::side::destination;
  auto const c = copy.canonical(leading);
  auto const linear = bytes_of(c);
  auto sorted = linear;
  auto expected = copy.bytes();
  std::sort(sorted.begin(), sorted.end());
  std::sort(expected.begin(), expected.end());
  require(sorted == expected, "the canonical layout copies other bytes");
  require(c.bytes() == linear.size(), "bytes of a canonical layout");
  std::ptrdiff_t previous = PTRDIFF_MAX;
  for (std::size_t i = 0; i < c.rank; ++i) {
    auto const& axis = c.axes[i];
    std::ptrdiff_t const step = leading == layout::side::source ? axis.source : axis.destination;
    require(axis.extent > 1 && step >= 0 && step <= previous, "the order of the axes");
    previous = step;
    if (i != 0) {
      auto const extent = static_cast<std::ptrdiff_t>(axis.extent);
      auto const& outer = c.axes[i - 1];
      require(
          outer.source != axis.source * extent || outer.destination != axis.destination * extent,
          "two axes that merge");
    }
  }
  for (auto const side : {layout::side::source, layout::side::destination}) {
    auto const on_side = side_of(linear, side);
    bool is_dense = true;
    for (std::size_t i = 1; i < on_side.size(); ++i) {
      is_dense = is_dense && on_side[i] == on_side[0] + static_cast<std::ptrdiff_t>(i);
    }
    require(c.is_dense(side) == is_dense, "is_dense");
    auto const [least, greatest] = std::minmax_element(on_side.begin(), on_side.end());
    auto const span = layout::span_of(c, side);
    require(span.low == *least - on_side[0] && span.high == *greatest + 1 - on_side[0], "span_of");
    auto const range = layout::byte_range_of(c, side);
    require(range.begin == base_address + static_cast<std::size_t>(*least) &&
                range.end == base_address + static_cast<std::size_t>(*greatest + 1),
            "byte_range_of");
  }

  std::size_t const begin = in.take<std::uint16_t>() % (linear.size() + 1);
  std::size_t const end = begin + in.take<std::uint16_t>() % (linear.size() - begin + 1);
  std::size_t position = begin;
  layout::for_each_row(
      c, {begin, end},
      [&](std::ptrdiff_t source, std::ptrdiff_t destination, std::size_t packed,
          layout::rows rows) {
        require(packed == position - begin && rows.count != 0 && rows.run != 0,
                "the order of rows");
        for (std::size_t row = 0; row < rows.count; ++row) {
          auto const number = static_cast<std::ptrdiff_t>(row);
          for (std::size_t byte = 0; byte < rows.run; ++byte, ++position) {
            require(position < end, "rows beyond the range");
            auto const in_row = static_cast<std::ptrdiff_t>(byte);
            std::pair const actual{
                source + number * layout::inner_step(c, layout::side::source) + in_row,
                destination + number * layout::inner_step(c, layout::side::destination) + in_row};
            require(actual.first == linear[position].first - offset_from_base(c.source) &&
                        actual.second == linear[position].second - offset_from_base(c.destination),
                    "bytes of a row");
          }
        }
      });
  require(position == end, "the rows are not the range");
}

// More axes than a canonical layout has: those of extent 1 are dropped, others are merged.
void check_many_axes(input& in) {
  constexpr std::size_t rank = layout::max_axes + 4;
  copy_of<rank> copy;
  std::ptrdiff_t step = 1;
  std::size_t count = 1;
  for (std::size_t i = rank; i-- != 0;) {
    copy.shape[i] = count < 4096 ? 1 + in.below(3) : 1;
    copy.source_strides[i] = copy.destination_strides[i] = step;
    count *= copy.shape[i];
    step *= static_cast<std::ptrdiff_t>(copy.shape[i]) + (in.one_in(16) ? 1 : 0);
  }
  auto actual = bytes_of(copy.canonical(layout::side::source));
  auto expected = copy.bytes();
  std::sort(actual.begin(), actual.end());
  std::sort(expected.begin(), expected.end());
  require(actual == expected, "the canonical layout of many axes copies other bytes");
}

template <std::size_t N>
void check_overlap(input& in) {
  auto const first = take_copy<N>(in);
  auto second = take_copy<N>(in);
  second.source_offset = in.between(-60, 60);
  auto const first_bytes = first.bytes();
  auto const second_bytes = second.bytes();
  auto const first_layout = first.canonical(layout::side::destination);
  auto const second_layout = second.canonical(layout::side::source);
  auto const overlap = [](std::vector<std::ptrdiff_t> a, std::vector<std::ptrdiff_t> b) {
    std::set<std::ptrdiff_t> const values(a.begin(), a.end());
    return std::any_of(b.begin(), b.end(), [&](auto offset) { return values.contains(offset); });
  };
  using layout::side;
  require(layout::sides_overlap(first_layout) ==
              overlap(side_of(first_bytes, side::source), side_of(first_bytes, side::destination)),
          "sides_overlap");
  for (side const a : {side::source, side::destination}) {
    for (side const b : {side::source, side::destination}) {
      bool const expected = overlap(side_of(first_bytes, a), side_of(second_bytes, b));
      require(layout::regions_overlap(first_layout, a, second_layout, b) == expected,
              "regions_overlap");
      require(!expected || !layout::provably_disjoint(first_layout, a, second_layout, b),
              "provably_disjoint");
    }
  }
  auto written = side_of(first_bytes, side::destination);
  std::size_t const count = written.size();
  bool const is_twice = std::set(written.begin(), written.end()).size() != count;
  require(layout::destination_overlaps_itself(first_layout) == is_twice,
          "destination_overlaps_itself");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  input in(data, size);
  switch (in.below(24)) {
    case 0: check_hostile_shape<1>(in); break;
    case 1: check_hostile_shape<3>(in); break;
    case 2: check_small_shape<2>(in); break;
    case 3: check_small_shape<3>(in); break;
    case 4: check_small_shape<4>(in); break;
    case 5: check_index(in); break;
    case 6: check_complete_shape<2, 3>(in); break;
    case 7: check_complete_shape<3, 1>(in); break;
    case 8: check_reshape<2, 3>(in); break;
    case 9: check_reshape<3, 2>(in); break;
    case 10: check_reshape<4, 4>(in); break;
    case 11: check_axes<3>(in); break;
    case 12: check_split<2>(in); break;
    case 13: check_reinterpret<3>(in); break;
    case 14: check_field<2>(in); break;
    case 15: check_padding(in); break;
    case 16: in.one_in(2) ? check_rectangle<2>(in) : check_rectangle<3>(in); break;
    case 17: check_canonical<2>(in); break;
    case 18: check_canonical<4>(in); break;
    case 19: check_many_axes(in); break;
    case 20: in.one_in(2) ? check_overlap<2>(in) : check_overlap<3>(in); break;
    default: check_index(in);
  }
  return 0;
}

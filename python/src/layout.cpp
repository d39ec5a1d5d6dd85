// SPDX-License-Identifier: MIT
#include "layout.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <roc/detail/allocation_bytes.hpp>
#include <roc/error.hpp>
#include <roc/layout/reshape.hpp>

namespace roc::python {
namespace {

// Returns f.operator()<rank>().
template <class F, std::size_t N = 0>
auto with_rank(std::size_t rank, F f) {
  if constexpr (N == max_rank) {
    return f.template operator()<N>();
  } else {
    if (rank == N) return f.template operator()<N>();
    return with_rank<F, N + 1>(rank, f);
  }
}

// Copies extents to the end of an array; the axes before them have extent 1.
template <std::size_t N, class T>
std::array<T, N> to_array(extents const& values, T padding) {
  std::array<T, N> result{};
  result.fill(padding);
  std::transform(values.begin(), values.end(),
                 result.end() - static_cast<std::ptrdiff_t>(values.size()),
                 [](std::int64_t value) { return static_cast<T>(value); });
  return result;
}
template <std::size_t N>
roc::shape<N> to_shape(extents const& values) {
  return to_array<N>(values, std::size_t{1});
}
template <std::size_t N>
roc::strides<N> to_strides(extents const& values) {
  return to_array<N>(values, std::ptrdiff_t{0});
}

// Returns strides in bytes. Throws ValueError if one does not fit.
extents scaled(extents values, std::size_t factor) {
  for (auto& value : values) {
    auto const elements = value;
    if (__builtin_mul_overflow(elements, static_cast<std::int64_t>(factor), &value)) {
      raise(PyExc_ValueError, "an array is larger than the address space: its stride is " +
                                  std::to_string(elements) + " elements of " +
                                  std::to_string(factor) + " bytes; use smaller extents");
    }
  }
  return values;
}

// Returns strides in elements, which must be whole.
extents in_elements(extents values, std::size_t element_size) {
  for (auto& value : values) value /= static_cast<std::int64_t>(element_size);
  return values;
}

// Returns f(), and turns the errors of the layout arithmetic into ValueError.
template <class F>
auto with_errors(F f) {
  try {
    return f();
  } catch (error const& problem) {
    raise(PyExc_ValueError, problem.what());
  }
}

py::tuple as_tuple(py::handle key) {
  return py::isinstance<py::tuple>(key) ? py::reinterpret_borrow<py::tuple>(key)
                                        : py::make_tuple(key);
}

void add_slice(strided_layout& result, py::handle item, std::int64_t extent, std::int64_t stride) {
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t step = 0;
  if (PySlice_Unpack(item.ptr(), &start, &stop, &step) != 0) throw py::error_already_set();
  Py_ssize_t const count = PySlice_AdjustIndices(extent, &start, &stop, step);
  if (count != 0) result.offset += start * stride;
  result.shape.push_back(count);
  // Wraps only for strides that are never applied: a step beyond the extent selects one element.
  result.strides.push_back(static_cast<std::int64_t>(
      static_cast<std::uint64_t>(stride) * static_cast<std::uint64_t>(count > 1 ? step : 1)));
}

}  // namespace

bool is_integer(py::handle object) {
  if (PyLong_Check(object.ptr())) return !PyBool_Check(object.ptr());
  if (PyIndex_Check(object.ptr()) == 0) return false;
  // An array has the method of integers too, which fails unless its rank is 0.
  py::object const rank = py::getattr(object, "ndim", py::none());
  return !PyLong_Check(rank.ptr()) || PyObject_IsTrue(rank.ptr()) == 0;
}

std::int64_t to_integer(py::handle object, char const* what, PyObject* out_of_range) {
  if (!is_integer(object)) {
    raise(PyExc_TypeError,
          std::string(what) + " is of type " + type_name(object) + "; use an integer");
  }
  Py_ssize_t const value = PyNumber_AsSsize_t(object.ptr(), PyExc_OverflowError);
  if (value != -1 || PyErr_Occurred() == nullptr) return value;
  if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw py::error_already_set();
  PyErr_Clear();
  raise(out_of_range, std::string(what) + " has more than 64 bits; use a smaller integer");
}

bool to_bool(py::handle object, char const* what) {
  py::detail::make_caster<bool> caster;
  if (caster.load(object, true)) return py::detail::cast_op<bool>(caster);
  raise(PyExc_TypeError,
        std::string(what) + " is of type " + type_name(object) + "; use True, False or None");
}

void check_rank(std::size_t rank) {
  if (rank <= max_rank) return;
  raise(PyExc_ValueError, "an array has at most " + std::to_string(max_rank) + " axes, but " +
                              std::to_string(rank) + " were given; use fewer");
}

bool has_whole_strides(strided_layout const& layout, std::size_t element_size) {
  if (layout.size() == 0) return true;
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    if (layout.shape[i] != 1 && layout.strides[i] % static_cast<std::int64_t>(element_size) != 0) {
      return false;
    }
  }
  return true;
}

std::int64_t strided_layout::size() const noexcept {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t result = 1;
  for (auto extent : shape) {
    if (__builtin_mul_overflow(result, extent, &result)) return INT64_MAX;
  }
  return result;
}

extents read_shape(py::handle object, bool may_infer) {
  extents result;
  if (is_integer(object)) {
    result.push_back(to_integer(object, "the extent", PyExc_ValueError));
  } else {
    if (!py::isinstance<py::iterable>(object)) {
      raise(PyExc_TypeError, std::string("the shape is of type ") + type_name(object) +
                                 "; use an integer or a tuple of integers");
    }
    for (py::handle item : object)
      result.push_back(to_integer(item, "an extent", PyExc_ValueError));
  }
  check_rank(result.size());
  for (auto extent : result) {
    if (extent < (may_infer ? -1 : 0)) {
      raise(PyExc_ValueError,
            "an extent is negative: " + std::to_string(extent) +
                (may_infer ? "; use 0 or more, or -1 for the one that follows from the others"
                           : "; use 0 or more"));
    }
  }
  return result;
}

extents read_strides(py::handle object) {
  extents result;
  for (py::handle item : object) result.push_back(to_integer(item, "a stride", PyExc_ValueError));
  return result;
}

py::tuple to_tuple(extents const& values) {
  py::tuple result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = values[i];
  return result;
}

order read_order(std::string const& text) {
  if (text == "C") return order::c;
  if (text == "F") return order::f;
  raise(PyExc_ValueError, "the order is not valid: '" + text + "'; use 'C' or 'F'");
}

std::string to_string(extents const& values) {
  std::string result = "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) result += ", ";
    result += std::to_string(values[i]);
  }
  return result + (values.size() == 1 ? ",)" : ")");
}

strided_layout compact_layout(extents shape, order o, std::size_t element_size) {
  extents strides = with_errors([&] {
    return with_rank(shape.size(), [&]<std::size_t N>() {
      auto const of_array = layout::compact_strides(to_shape<N>(shape), o);
      return extents(of_array.begin(), of_array.end());
    });
  });
  return {std::move(shape), scaled(std::move(strides), element_size)};
}

strided_layout like_layout(strided_layout const& layout, std::size_t element_size) {
  // Other strides are those of no contiguous array: only their order is used.
  extents const order = has_whole_strides(layout, element_size)
                            ? in_elements(layout.strides, element_size)
                            : layout.strides;
  extents strides = with_errors([&] {
    return with_rank(layout.rank(), [&]<std::size_t N>() {
      auto const of_array = layout::like_strides(to_shape<N>(layout.shape), to_strides<N>(order));
      return extents(of_array.begin(), of_array.end());
    });
  });
  return {layout.shape, scaled(std::move(strides), element_size)};
}

bool is_contiguous(strided_layout const& layout, order o, std::size_t element_size) {
  if (!has_whole_strides(layout, element_size)) return false;
  extents const strides = in_elements(layout.strides, element_size);
  return with_rank(layout.rank(), [&]<std::size_t N>() {
    auto const shape = to_shape<N>(layout.shape);
    auto const in_memory = to_strides<N>(strides);
    return o == order::c ? layout::is_c_contiguous(shape, in_memory)
                         : layout::is_f_contiguous(shape, in_memory);
  });
}

std::size_t allocation_bytes(strided_layout const& layout, std::size_t element_size) {
  if (!has_whole_strides(layout, element_size)) {
    raise(PyExc_ValueError,
          "array strides are no multiples of the element's " + std::to_string(element_size) +
              " bytes: " + to_string(layout.strides) + "; use multiples, in bytes");
  }
  extents const strides = in_elements(layout.strides, element_size);
  return with_errors([&] {
    return with_rank(layout.rank(), [&]<std::size_t N>() {
      return detail::allocation_bytes(to_shape<N>(layout.shape), to_strides<N>(strides),
                                      element_size);
    });
  });
}

byte_range bytes_of(strided_layout const& layout, std::size_t element_size) {
  if (layout.size() == 0) return {0, 0};
  return with_errors([&] {
    return with_rank(layout.rank(), [&]<std::size_t N>() {
      auto const range =
          layout::element_range(to_shape<N>(layout.shape), to_strides<N>(layout.strides));
      // The range of the first bytes of the elements.
      return byte_range{range.low, range.high - 1 + static_cast<std::int64_t>(element_size)};
    });
  });
}

strided_layout select(strided_layout const& layout, py::handle key) {
  py::tuple const items = as_tuple(key);
  std::size_t indexed_axes = 0;
  bool has_ellipsis = false;
  for (py::handle item : items) {
    if (item.is(py::ellipsis())) {
      if (has_ellipsis) raise(PyExc_IndexError, "an index has more than one ellipsis ('...')");
      has_ellipsis = true;
    } else if (is_integer(item) || PySlice_Check(item.ptr())) {
      ++indexed_axes;
    } else if (!item.is_none()) {
      raise(PyExc_TypeError, std::string("an index is of type ") + type_name(item) +
                                 "; use integers, slices, '...' and None");
    }
  }
  if (indexed_axes > layout.rank()) {
    raise(PyExc_IndexError, "too many indices: the array has " + std::to_string(layout.rank()) +
                                " axes, but " + std::to_string(indexed_axes) + " were indexed");
  }
  strided_layout result{{}, {}, layout.offset};
  std::size_t axis = 0;
  auto const keep_axes = [&](std::size_t count) {
    for (; count != 0; --count, ++axis) {
      result.shape.push_back(layout.shape[axis]);
      result.strides.push_back(layout.strides[axis]);
    }
  };
  for (py::handle item : items) {
    if (item.is(py::ellipsis())) {
      keep_axes(layout.rank() - indexed_axes);
    } else if (item.is_none()) {
      result.shape.push_back(1);
      result.strides.push_back(0);
    } else if (PySlice_Check(item.ptr())) {
      add_slice(result, item, layout.shape[axis], layout.strides[axis]);
      ++axis;
    } else {
      std::int64_t const index = to_integer(item, "an index", PyExc_IndexError);
      std::int64_t const extent = layout.shape[axis];
      if (index < -extent || index >= extent) {
        raise(PyExc_IndexError, "index " + std::to_string(index) + " is out of bounds for axis " +
                                    std::to_string(axis) + " with size " + std::to_string(extent));
      }
      result.offset += (index < 0 ? index + extent : index) * layout.strides[axis];
      ++axis;
    }
  }
  keep_axes(layout.rank() - axis);
  check_rank(result.rank());
  return result;
}

bool selects_element(strided_layout const& layout, py::handle key) {
  py::tuple const items = as_tuple(key);
  return items.size() == layout.rank() && std::all_of(items.begin(), items.end(), is_integer);
}

std::optional<strided_layout> try_reshape(strided_layout const& layout, extents const& shape,
                                          order o, std::size_t element_size) {
  std::size_t const unit = has_whole_strides(layout, element_size) ? element_size : 1;
  extents const strides = in_elements(layout.strides, unit);
  // Axes of extent 1 do not change the result: both get the rank of the longer one.
  return with_rank(
      std::max(layout.rank(), shape.size()), [&]<std::size_t N>() -> std::optional<strided_layout> {
        auto const from = to_shape<N>(layout.shape);
        layout::mapping<N> const mapping{from, to_strides<N>(strides)};
        layout::signed_shape<N> const requested = to_array<N>(shape, std::ptrdiff_t{1});
        try {
          auto const to = layout::complete_shape(from, requested);
          auto const reshaped = layout::reshape(mapping, to, o);
          auto const added = static_cast<std::ptrdiff_t>(N - shape.size());
          return strided_layout{
              {reshaped.shape.begin() + added, reshaped.shape.end()},
              scaled({reshaped.strides.begin() + added, reshaped.strides.end()}, unit),
              layout.offset};
        } catch (shape_error const&) {
          raise(PyExc_ValueError,
                "cannot reshape array of shape " + to_string(layout.shape) + " to " +
                    to_string(shape) +
                    "; use extents with the same number of elements, at most one of "
                    "them -1");
        } catch (layout_error const&) {
          return {};
        }
      });
}

strided_layout transpose(strided_layout const& layout, py::handle axes) {
  std::vector<std::size_t> permutation;
  auto const rank = static_cast<std::int64_t>(layout.rank());
  if (axes.is_none()) {
    for (std::size_t i = layout.rank(); i-- != 0;) permutation.push_back(i);
  } else {
    for (py::handle item : axes) {
      std::int64_t const axis = to_integer(item, "an axis", PyExc_ValueError);
      permutation.push_back(static_cast<std::size_t>(axis < 0 ? axis + rank : axis));
    }
    auto sorted = permutation;
    std::sort(sorted.begin(), sorted.end());
    bool is_permutation = sorted.size() == layout.rank();
    for (std::size_t i = 0; is_permutation && i < sorted.size(); ++i)
      is_permutation = sorted[i] == i;
    if (!is_permutation) {
      raise(PyExc_ValueError, "the axes " + text_of(axes) +
                                  " are no permutation of those of an array of " +
                                  std::to_string(rank) + " axes; name each once");
    }
  }
  strided_layout result{{}, {}, layout.offset};
  for (std::size_t axis : permutation) {
    result.shape.push_back(layout.shape[axis]);
    result.strides.push_back(layout.strides[axis]);
  }
  return result;
}

strided_layout squeeze(strided_layout const& layout) {
  strided_layout result{{}, {}, layout.offset};
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    if (layout.shape[i] == 1) continue;
    result.shape.push_back(layout.shape[i]);
    result.strides.push_back(layout.strides[i]);
  }
  return result;
}

}  // namespace roc::python

// SPDX-License-Identifier: MIT
// Layouts whose rank is known at run time: index expressions, reshape, transpose. The arithmetic is
// that of <roc/layout/>.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <roc/layout/shape.hpp>

#include "call.hpp"

namespace roc::python {

/// The largest rank of an array of this package, as in NumPy 1.
inline constexpr std::size_t max_rank = 32;

/// Throws ValueError if the rank is larger than max_rank.
void check_rank(std::size_t rank);

using extents = std::vector<std::int64_t>;

/// A strided layout. All functions throw Python exceptions.
struct strided_layout {
  extents shape;
  extents strides;          ///< in bytes, as in NumPy
  std::int64_t offset = 0;  ///< of the first element from the memory of the array indexed, in bytes

  std::size_t rank() const noexcept { return shape.size(); }
  /// Returns the number of elements; INT64_MAX if it is larger, as a broadcast array's may be.
  std::int64_t size() const noexcept;
};

/// Returns true for an integer, or an object with `__index__`, that is neither a bool nor an array
/// of rank > 0.
bool is_integer(py::handle object);
/// Returns an integer. `what` names it in messages. Throws TypeError for other objects, and
/// `out_of_range` for an integer that does not fit.
std::int64_t to_integer(py::handle object, char const* what, PyObject* out_of_range);
/// Returns a bool or a number as a bool. `what` names it in messages. Throws TypeError.
bool to_bool(py::handle object, char const* what);
/// Returns extents given as an integer or a sequence of integers. Throws ValueError for a negative
/// extent, except -1 if `may_infer`, and for more than max_rank extents.
extents read_shape(py::handle object, bool may_infer = false);
/// Returns strides given as a sequence of integers.
extents read_strides(py::handle object);
py::tuple to_tuple(extents const& values);
/// Returns 'C' or 'F' as an order. Throws ValueError for other texts.
order read_order(std::string const& text);
/// Returns a text such as "(2, 3)".
std::string to_string(extents const& values);

/// Returns a contiguous layout.
strided_layout compact_layout(extents shape, order o, std::size_t element_size);
/// Returns a contiguous layout with the same order of axes in memory.
strided_layout like_layout(strided_layout const& layout, std::size_t element_size);
/// Returns true if every stride that is applied is a multiple of the element size.
bool has_whole_strides(strided_layout const& layout, std::size_t element_size);
bool is_contiguous(strided_layout const& layout, order o, std::size_t element_size);

/// Returns the bytes of an allocation for the layout. Throws ValueError for strides that are
/// negative, let elements overlap, or are no multiples of the element size.
std::size_t allocation_bytes(strided_layout const& layout, std::size_t element_size);
/// The bytes [low, high) of the elements, relative to the first one.
struct byte_range {
  std::int64_t low;
  std::int64_t high;
};
byte_range bytes_of(strided_layout const& layout, std::size_t element_size);

/// Returns the selection of an index expression of integers, slices, `...` and None, with Python's
/// rules for slices. Throws IndexError and TypeError.
strided_layout select(strided_layout const& layout, py::handle key);
/// Returns true if the expression selects one element: an integer for every axis, and nothing else.
bool selects_element(strided_layout const& layout, py::handle key);

/// Returns a layout of the same elements in the same logical order, or nothing if that needs a
/// copy. Throws ValueError if the number of elements differs.
std::optional<strided_layout> try_reshape(strided_layout const& layout, extents const& shape,
                                          order o, std::size_t element_size);
strided_layout transpose(strided_layout const& layout, py::handle axes);
/// Returns the layout without its axes of extent 1.
strided_layout squeeze(strided_layout const& layout);

}  // namespace roc::python

// SPDX-License-Identifier: MIT
// Arrays without their types, for operations that other libraries execute: roc/interop/mpi.hpp and
// roc/interop/collectives.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <roc/copy.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/error.hpp>
#include <roc/layout/shape.hpp>

namespace roc::detail {

/// An array or view without its types. Borrows the memory.
struct array_operand {
  /// The largest rank.
  static constexpr std::size_t max_rank = 16;

  array_operand() = default;
  template <class T, std::size_t N>
  explicit array_operand(copy_operand<T, N> const& operand)
      : data(const_cast<std::remove_cv_t<T>*>(operand.data)),
        element_size(sizeof(T)),
        space(operand.space),
        device(operand.device),
        rank(N),
        count(layout::element_count(operand.shape)) {
    static_assert(N <= max_rank, "rocarray: this operation accepts arrays of rank 16 at most");
    for (std::size_t i = 0; i < N; ++i) {
      shape[i] = operand.shape[i];
      strides[i] = operand.strides[i];
    }
    std::ptrdiff_t step = 1;
    for (std::size_t i = N; i-- != 0;) {
      compact[i] = step;
      if (shape[i] != 1 && strides[i] != step) is_contiguous = false;
      step = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(step) * shape[i]);
    }
    if (count == 0) is_contiguous = true;
  }

  std::size_t bytes() const { return count * element_size; }
  bool is_on_device() const { return space == memory_space::device; }
  /// Returns the array's region. Points into this object.
  strided_region region() const {
    return {data, element_size, rank, shape.data(), strides.data(), space, device};
  }
  /// Returns the region of the same shape in C order at `memory`. Points into this object.
  strided_region compact_region(void* memory, memory_space where) const {
    return {memory,
            element_size,
            rank,
            shape.data(),
            compact.data(),
            where,
            where == memory_space::device ? device : -1};
  }
  /// Returns the first address of the elements and the one after the last. There must be elements.
  std::pair<std::uintptr_t, std::uintptr_t> address_range() const {
    std::ptrdiff_t low = 0;
    std::ptrdiff_t high = 1;
    for (std::size_t i = 0; i < rank; ++i) {
      (strides[i] < 0 ? low : high) += strides[i] * static_cast<std::ptrdiff_t>(shape[i] - 1);
    }
    auto const address = reinterpret_cast<std::uintptr_t>(data);
    auto const size = static_cast<std::ptrdiff_t>(element_size);
    return {address + static_cast<std::uintptr_t>(low * size),
            address + static_cast<std::uintptr_t>(high * size)};
  }
  bool has_shape_of(array_operand const& other) const {
    return rank == other.rank && shape == other.shape;
  }
  /// Returns the shape for messages, for example "(2, 3)".
  std::string shape_text() const { return text_of(shape, rank); }
  static std::string text_of(std::array<std::size_t, max_rank> const& extents, std::size_t axes) {
    std::string text = "(";
    for (std::size_t i = 0; i < axes; ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(extents[i]);
    }
    return text + ")";
  }

  void* data = nullptr;
  std::size_t element_size = 1;
  memory_space space = memory_space::host;
  int device = -1;
  std::size_t rank = 0;
  std::size_t count = 0;
  std::array<std::size_t, max_rank> shape{};
  std::array<std::ptrdiff_t, max_rank> strides{};
  std::array<std::ptrdiff_t, max_rank> compact{};  // strides in C order
  bool is_contiguous = true;
};

/// Throws shape_error if two arrays differ in shape.
inline void check_equal_shapes(array_operand const& from, array_operand const& to) {
  if (from.has_shape_of(to)) return;
  throw shape_error("incompatible shape: from " + from.shape_text() + ", to " + to.shape_text() +
                    "; pass arrays of equal shape");
}

/// Throws overlap_error if two arrays share memory: exact if their shapes are equal, otherwise also
/// if the ranges of their addresses overlap.
inline void check_disjoint(array_operand const& from, array_operand const& to) {
  if (from.space != to.space || from.count == 0 || to.count == 0) return;
  if (from.element_size == to.element_size && from.has_shape_of(to)) {
    static_cast<void>(planned_path(from.region(), to.region()));
    return;
  }
  auto const [from_low, from_high] = from.address_range();
  auto const [to_low, to_high] = to.address_range();
  if (from_low < to_high && to_low < from_high) {
    throw overlap_error(
        "the arrays to send and to receive overlap in memory; use a copy of one of them");
  }
}

/// Returns true if `whole` consists of one block for each rank: with one axis more than `block`, or
/// one after the other along its first axis.
inline bool has_block_of_each_rank(array_operand const& whole, array_operand const& block,
                                   std::size_t ranks) {
  bool const is_stacked = whole.rank == block.rank + 1;
  if (!is_stacked && (whole.rank != block.rank || block.rank == 0)) return false;
  bool result = whole.shape[0] == (is_stacked ? ranks : ranks * block.shape[0]);
  for (std::size_t i = 1; i < whole.rank; ++i) {
    result = result && whole.shape[i] == block.shape[is_stacked ? i - 1 : i];
  }
  return result;
}

}  // namespace roc::detail

// SPDX-License-Identifier: MIT
// Operands of collective operations: device arrays without their types. Included by
// roc/interop/collectives.hpp.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <roc/copy.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/half.hpp>
#include <roc/interop/collectives/library.hpp>
#include <roc/layout/shape.hpp>

namespace roc::detail {

/// The largest rank of an array that collective operations accept.
inline constexpr std::size_t collective_max_rank = 16;

/// True for element types that RCCL and NCCL can reduce.
template <class T>
inline constexpr bool is_collective_number = std::same_as<T, half> || std::same_as<T, float> ||
                                             std::same_as<T, double> ||
                                             (std::is_integral_v<T> && !std::same_as<T, bool> &&
                                              (sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8));

/// Returns the type for reductions. Elements of other types are transferred as bytes.
template <class T>
constexpr ncclDataType_t collective_data_type() {
  if constexpr (std::same_as<T, half>) {
    return ncclFloat16;
  } else if constexpr (std::same_as<T, float>) {
    return ncclFloat32;
  } else if constexpr (std::same_as<T, double>) {
    return ncclFloat64;
  } else if constexpr (!is_collective_number<T> || sizeof(T) == 1) {
    return std::is_signed_v<T> ? ncclInt8 : ncclUint8;
  } else if constexpr (sizeof(T) == 4) {
    return std::is_signed_v<T> ? ncclInt32 : ncclUint32;
  } else {
    return std::is_signed_v<T> ? ncclInt64 : ncclUint64;
  }
}

/// A device array or view without its types. Borrows the memory.
struct collective_operand {
  collective_operand() = default;
  template <class T, std::size_t N>
  explicit collective_operand(copy_operand<T, N> const& operand)
      : data(const_cast<std::remove_cv_t<T>*>(operand.data)),
        element_size(sizeof(T)),
        type(collective_data_type<std::remove_cv_t<T>>()),
        is_number(is_collective_number<std::remove_cv_t<T>>),
        device(operand.device),
        rank(N),
        count(layout::element_count(operand.shape)) {
    static_assert(N <= collective_max_rank,
                  "rocarray: collective operations accept arrays of rank 16 at most");
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
    if (device < 0 && count != 0) device = roc::device().ordinal();
  }

  std::size_t bytes() const { return count * element_size; }
  /// Returns the array's region. Points into this object.
  strided_region region() const {
    return {data, element_size, rank, shape.data(), strides.data(), memory_space::device, device};
  }
  /// Returns the region of the same shape in C order at `memory`. Points into this object.
  strided_region compact_region(void* memory) const {
    return {memory, element_size, rank, shape.data(), compact.data(), memory_space::device, device};
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
  /// Returns true if both are the same elements in the same order.
  bool is_same(collective_operand const& other) const {
    return data == other.data && element_size == other.element_size && rank == other.rank &&
           shape == other.shape && strides == other.strides;
  }
  /// Returns block `index` of `blocks` along the first axis; of an array with the extent `blocks`
  /// there, without that axis if `drops_axis`.
  collective_operand block(std::size_t index, std::size_t blocks, bool drops_axis) const {
    collective_operand result = *this;
    std::size_t const extent = shape[0] / blocks;
    auto const offset = strides[0] * static_cast<std::ptrdiff_t>(index * extent * element_size);
    result.data = static_cast<std::byte*>(data) + offset;
    result.count = count / blocks;
    result.shape[0] = extent;
    if (drops_axis) {
      --result.rank;
      for (std::size_t i = 0; i < result.rank; ++i) {
        result.shape[i] = shape[i + 1];
        result.strides[i] = strides[i + 1];
        result.compact[i] = compact[i + 1];
      }
      result.shape[result.rank] = 0;
      result.strides[result.rank] = 0;
      result.compact[result.rank] = 0;
    }
    return result;
  }
  /// Returns the shape for messages, for example "(2, 3)".
  std::string shape_text() const {
    std::string text = "(";
    for (std::size_t i = 0; i < rank; ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    }
    return text + ")";
  }

  void* data = nullptr;
  std::size_t element_size = 1;
  ncclDataType_t type = ncclUint8;
  bool is_number = false;
  int device = -1;
  std::size_t rank = 0;
  std::size_t count = 0;
  std::array<std::size_t, collective_max_rank> shape{};
  std::array<std::ptrdiff_t, collective_max_rank> strides{};
  std::array<std::ptrdiff_t, collective_max_rank> compact{};  // strides in C order
  bool is_contiguous = true;
};

/// Returns an argument as an operand. Throws as operand_of.
template <device_argument X>
collective_operand collective_operand_of(X& x) {
  return collective_operand(operand_of(x));
}

/// A device array or view whose elements can be written.
template <class X>
concept writable_device_argument = device_argument<X> && writable_argument<X>;
template <class X>
concept reducible_argument = device_argument<X> && is_collective_number<argument_value_type<X>>;
template <class X, class Y>
concept same_elements = std::same_as<argument_value_type<X>, argument_value_type<Y>>;

/// The problem with an argument that is written.
template <class X>
using collective_destination_misuse = first_misuse<device_misuse<X>, destination_misuse<X>>;

template <class X, class Y>
constexpr auto find_collective_pair_misuse() {
  using misuse_of_one_operand = first_misuse<device_misuse<X>, collective_destination_misuse<Y>>;
  if constexpr (!std::same_as<misuse_of_one_operand, misuse::none>) {
    return misuse_of_one_operand{};
  } else if constexpr (!same_elements<X, Y>) {
    return misuse::element_types_of_source_and_destination_differ{};
  } else {
    return misuse::none{};
  }
}
/// The problem with an array that is sent and one that is written.
template <class X, class Y>
using collective_pair_misuse = decltype(find_collective_pair_misuse<X, Y>());

template <class X>
constexpr auto find_reduction_misuse() {
  if constexpr (!device_argument<X> || reducible_argument<X>) {
    return misuse::none{};
  } else {
    return misuse::elements_are_not_numbers_that_collectives_can_reduce{};
  }
}
/// The problem with an array that is reduced in place.
template <class X>
using collective_reduced_misuse =
    first_misuse<collective_destination_misuse<X>, decltype(find_reduction_misuse<X>())>;
/// The problem with an array that is reduced to another one.
template <class X, class Y>
using collective_reduction_misuse =
    first_misuse<collective_pair_misuse<X, Y>, decltype(find_reduction_misuse<X>())>;

/// Throws shape_error if two arrays differ in shape.
inline void check_equal_shapes(collective_operand const& from, collective_operand const& to) {
  if (from.rank == to.rank && from.shape == to.shape) return;
  throw shape_error("incompatible shape: from " + from.shape_text() + ", to " + to.shape_text() +
                    "; pass arrays of equal shape");
}

/// Returns true if `whole` has an axis more than `block`, and false if the blocks of the ranks
/// follow each other along its first axis. Throws shape_error if it has not one block for each
/// rank.
inline bool check_collective_blocks(collective_operand const& whole,
                                    collective_operand const& block, std::size_t ranks) {
  bool const is_stacked = whole.rank == block.rank + 1;
  bool is_valid = is_stacked || (whole.rank == block.rank && block.rank != 0);
  if (is_valid) {
    is_valid = whole.shape[0] == (is_stacked ? ranks : ranks * block.shape[0]);
    for (std::size_t i = 1; i < whole.rank; ++i) {
      is_valid = is_valid && whole.shape[i] == block.shape[is_stacked ? i - 1 : i];
    }
  }
  if (!is_valid) {
    throw shape_error("incompatible shape: the array of all ranks is " + whole.shape_text() +
                      ", that of each of " + std::to_string(ranks) + " ranks is " +
                      block.shape_text() + "; its first axis must have a block for each rank");
  }
  return is_stacked;
}

/// Throws overlap_error if two arrays share memory: exact if their shapes are equal, otherwise also
/// if the ranges of their addresses overlap.
inline void check_collective_disjoint(collective_operand const& from,
                                      collective_operand const& to) {
  if (from.count == 0 || to.count == 0) return;
  if (from.element_size == to.element_size && from.rank == to.rank && from.shape == to.shape) {
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

/// Throws layout_error if an array that is written has two elements in the same place.
inline void check_collective_destination(collective_operand const& to) {
  if (to.count != 0 && !to.is_contiguous) {
    std::array<std::ptrdiff_t, collective_max_rank> steps{};
    for (std::size_t i = 0; i < to.rank; ++i) {
      steps[i] = to.strides[i] < 0 ? -to.strides[i] : to.strides[i];
    }
    if (has_aliased_elements(to.rank, to.shape.data(), steps.data())) {
      throw layout_error(
          "elements of the destination share memory; receive into an array without overlap");
    }
  }
}

}  // namespace roc::detail

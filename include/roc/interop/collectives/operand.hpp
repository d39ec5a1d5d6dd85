// SPDX-License-Identifier: MIT
// Operands of collective operations: device arrays without their types. Included by
// roc/interop/collectives.hpp.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <roc/copy.hpp>
#include <roc/detail/array_operand.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/half.hpp>
#include <roc/interop/collectives/library.hpp>
#include <roc/layout/shape.hpp>

namespace roc::detail {

/// True for element types that RCCL and NCCL can reduce.
template <class T>
inline constexpr bool is_collective_number =
    std::same_as<T, half> || std::same_as<T, float> || std::same_as<T, double> ||
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

/// An operand of a collective operation: a device array or view.
struct collective_operand : array_operand {
  collective_operand() = default;
  template <class T, std::size_t N>
  explicit collective_operand(copy_operand<T, N> const& operand)
      : array_operand(operand),
        element(&typeid(T)),
        type(collective_data_type<std::remove_cv_t<T>>()),
        is_number(is_collective_number<std::remove_cv_t<T>>) {
    if (device < 0 && count != 0) device = roc::device().ordinal();
  }

  /// Returns the region of the same shape in C order at `memory`. Points into this object.
  strided_region compact_region(void* memory) const {
    return array_operand::compact_region(memory, memory_space::device);
  }
  /// Returns true if both are the same elements in the same order.
  bool is_same(collective_operand const& other) const {
    return data == other.data && element_size == other.element_size && has_shape_of(other) &&
           strides == other.strides;
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

  std::type_info const* element = &typeid(void);  // the type of the elements
  ncclDataType_t type = ncclUint8;
  bool is_number = false;
  bool is_temporary = false;  // an array that is destroyed at the end of the call's expression
};

/// Returns an argument as an operand. Throws as operand_of.
template <class X>
  requires device_argument<X>
collective_operand collective_operand_of(X&& x) {
  collective_operand operand(operand_of(x));
  operand.is_temporary = owning_temporary<X>;
  return operand;
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

/// Returns true if `whole` has an axis more than `block`, and false if the blocks of the ranks
/// follow each other along its first axis. Throws shape_error if it has not one block for each
/// rank.
inline bool check_collective_blocks(collective_operand const& whole,
                                    collective_operand const& block, std::size_t ranks) {
  if (!has_block_of_each_rank(whole, block, ranks)) {
    throw shape_error("incompatible shape: the array of all ranks is " + whole.shape_text() +
                      ", that of each of " + std::to_string(ranks) + " ranks is " +
                      block.shape_text() + "; its first axis must have a block for each rank");
  }
  return whole.rank == block.rank + 1;
}

/// Throws layout_error if an array that is written has two elements in the same place.
inline void check_collective_destination(collective_operand const& to) {
  if (to.count != 0 && !to.is_contiguous) {
    std::array<std::ptrdiff_t, array_operand::max_rank> steps{};
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

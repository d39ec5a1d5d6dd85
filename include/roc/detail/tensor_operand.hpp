// SPDX-License-Identifier: MIT
// Operands whose element type and rank are known at run time only: DLPack tensors, those of the C
// interface, and what they are copied from and to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>
#include <roc/detail/element_type.hpp>
#include <roc/detail/strided_region.hpp>

namespace roc::detail {

/// Throws dlpack_error: the types of source and destination differ.
[[noreturn]] ROCARRAY_API void throw_element_types_differ(element_type from, element_type to);
/// Throws dlpack_error: the value of a fill does not have the type of the tensor's elements.
[[noreturn]] ROCARRAY_API void throw_value_type_differs(element_type value, element_type tensor);

/// The members of a DLTensor, in which every value is possible. Borrows the shape and the strides.
struct tensor_description {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t rank;
  element_type type;
  std::int64_t const* shape;
  std::int64_t const* strides;  // null: C order without gaps
  std::uint64_t byte_offset;
  bool is_read_only = false;
};

/// One operand of a copy or a fill, which has been checked: its description is complete and within
/// the address space. Holds a copy of the description, borrows the elements.
class tensor_operand {
 public:
  static constexpr std::size_t max_rank = 64;

  /// Checks and copies the description of a tensor, which is in memory of this platform where the
  /// tensor says. `name` begins the messages of errors. Throws shape_error, layout_error,
  /// lifetime_error (no data), dlpack_error (unknown type of elements or memory) and roc::error
  /// (std::errc::no_such_device). Calls HIP only for devices other than 0.
  ROCARRAY_API tensor_operand(tensor_description const& tensor, char const* name);
  /// Copies the region of a typed operand; its rank is at most max_rank.
  ROCARRAY_API tensor_operand(strided_region const& region, element_type type, char const* name);

  /// Looks up where the memory is and compares it with what the tensor says. Throws dlpack_error if
  /// they differ, and what locate throws. Does nothing for a region.
  ROCARRAY_API void look_up(operand_role role);

  /// Prepares two operands for a copy: an operand in contiguous host memory of rank 1 takes the
  /// shape of the other one if it has as many elements. Throws dlpack_error if the element types
  /// differ or if the destination is read-only. The ranks and shapes may still differ.
  ROCARRAY_API static void match(tensor_operand& from, tensor_operand& to);

  /// Throws dlpack_error if the tensor's producer does not allow writes.
  ROCARRAY_API void check_writable() const;

  /// Returns this without its type. The result points into this object.
  strided_region region() const noexcept {
    strided_region result = region_;
    result.shape = shape_.data();
    result.strides = strides_.data();
    return result;
  }
  std::size_t element_size() const noexcept { return region_.element_size; }

  /// Returns DLPack's type of this platform's device memory.
  static std::int32_t device_type() noexcept;

 private:
  void read_type(element_type type);
  void read_layout(tensor_description const& tensor);
  void read_location(tensor_description const& tensor);
  bool is_flat_host_memory() const noexcept;
  /// Takes the shape of `other`, in C order, if both have the same number of elements.
  void try_reshape_as(tensor_operand const& other) noexcept;

  char const* name_;
  element_type type_;
  bool is_read_only_ = false;
  bool is_tensor_ = false;
  // Its data is that of the first element, null if there are no elements.
  strided_region region_{};
  std::size_t count_ = 0;  // elements
  // The lowest address of an element, and the bytes up to the end of the last one.
  void* first_byte_ = nullptr;
  std::size_t span_bytes_ = 0;
  // The first region_.rank are set.
  std::array<std::size_t, max_rank> shape_;
  std::array<std::ptrdiff_t, max_rank> strides_;
};

}  // namespace roc::detail

// SPDX-License-Identifier: MIT
// Tensors of the C interface as operands of copies and fills.
#pragma once

#include <array>
#include <cstddef>

#include <roc/c.h>
#include <roc/detail/strided_region.hpp>

namespace roc::c_interface {

/// A tensor that has been checked: its description is complete and lies within the address space,
/// and its memory is of this platform. Copies the description, borrows the elements.
class operand {
 public:
  /// Checks and copies the description. `name` is that of the parameter, for messages. Throws
  /// shape_error, layout_error, lifetime_error (no data) and roc::error (std::errc: no_such_device,
  /// invalid_argument). Calls HIP only for devices other than 0.
  operand(roc_tensor const* tensor, char const* name);

  /// Returns this without its type. The result points into this object.
  detail::strided_region region() const noexcept {
    return {data_, element_size_, rank_, shape_.data(), strides_.data(), space_, device_};
  }
  std::size_t element_size() const noexcept { return element_size_; }

  /// Prepares two operands for a copy: an operand in contiguous host memory of rank 1 takes the
  /// shape of the other one if it has as many elements. Throws roc::error if the element types
  /// differ. The ranks and shapes may still differ.
  static void match(operand& from, operand& to);

 private:
  void read_type(roc_element_type type);
  void read_shape(roc_tensor const& tensor);
  void read_data(roc_tensor const& tensor);
  void read_device(roc_tensor_device location);
  void set_compact_strides() noexcept;
  bool is_flat_host_memory() const noexcept;
  /// Takes the shape of `other`, in C order, if it has as many elements.
  void try_reshape_as(operand const& other) noexcept;

  char const* name_;
  void* data_ = nullptr;  // of the first element; null if there are no elements
  roc_element_type type_{};
  std::size_t element_size_ = 0;
  std::size_t rank_ = 0;
  std::size_t count_ = 1;  // elements
  std::size_t span_bytes_ = 0;
  void* first_byte_ = nullptr;  // the lowest address of an element
  detail::memory_space space_ = detail::memory_space::host;
  int device_ = -1;
  // The first rank_ are set.
  std::array<std::size_t, ROCARRAY_MAX_RANK> shape_;
  std::array<std::ptrdiff_t, ROCARRAY_MAX_RANK> strides_;
};

}  // namespace roc::c_interface

// SPDX-License-Identifier: MIT
#include "c_interface/tensor.hpp"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <system_error>

#include <roc/device.hpp>
#include <roc/error.hpp>

#include "memory/host/host_table.hpp"

namespace roc::c_interface {
namespace {

#if ROCARRAY_PLATFORM_AMD
constexpr std::int32_t device_memory = ROCARRAY_DEVICE_ROCM;
constexpr std::int32_t pinned_memory = ROCARRAY_DEVICE_ROCM_HOST;
#elif ROCARRAY_PLATFORM_NVIDIA
constexpr std::int32_t device_memory = ROCARRAY_DEVICE_CUDA;
constexpr std::int32_t pinned_memory = ROCARRAY_DEVICE_CUDA_HOST;
#else
constexpr std::int32_t device_memory = ROCARRAY_DEVICE_HOST_PLATFORM;
constexpr std::int32_t pinned_memory = ROCARRAY_DEVICE_CPU;
#endif

bool is_managed_memory([[maybe_unused]] std::int32_t device_type) noexcept {
#if ROCARRAY_PLATFORM_NVIDIA
  return device_type == ROCARRAY_DEVICE_CUDA_MANAGED;
#else
  return false;
#endif
}

// The last code of DLPack 1.1: floating-point numbers of 4 bits.
constexpr unsigned last_element_code = 17;

[[noreturn]] void throw_invalid(std::string const& message) {
  throw error(std::make_error_code(std::errc::invalid_argument), message);
}

// Returns a name for messages, such as "float32", "int8 x 4" or "code 12 with 8 bits".
std::string to_string(roc_element_type type) {
  static char const* const codes[] = {"int",    "uint",    "float", "opaque",
                                      "bfloat", "complex", "bool"};
  std::string const bits = std::to_string(type.bits);
  std::string const text = type.code < std::size(codes)
                               ? codes[type.code] + bits
                               : "code " + std::to_string(type.code) + " with " + bits + " bits";
  return type.lanes == 1 ? text : text + " x " + std::to_string(type.lanes);
}

}  // namespace

operand::operand(roc_tensor const* tensor, char const* name) : name_(name) {
  if (tensor == nullptr) throw_invalid(std::string(name) + " is null; pass a tensor");
  // The caller's object may be a DLTensor, which another compiler or language wrote.
  roc_tensor description;
  std::memcpy(&description, tensor, sizeof(description));
  read_type(description.dtype);
  read_shape(description);
  read_data(description);
  read_device(description.device);
}

void operand::read_type(roc_element_type type) {
  if (type.code > last_element_code) {
    throw_invalid(std::string(name_) + " has elements of an unknown type: " + to_string(type) +
                  "; use a code of roc_element_code");
  }
  std::size_t const bits = std::size_t{type.bits} * type.lanes;
  if (bits == 0 || bits % 8 != 0) {
    throw_invalid(std::string(name_) + " has elements of " + std::to_string(type.bits) +
                  " bits x " + std::to_string(type.lanes) + " lanes; use a whole number of bytes");
  }
  type_ = type;
  element_size_ = bits / 8;
}

void operand::read_shape(roc_tensor const& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > ROCARRAY_MAX_RANK) {
    throw shape_error(std::string(name_) + " has rank " + std::to_string(tensor.ndim) +
                      "; use a rank from 0 to " + std::to_string(ROCARRAY_MAX_RANK));
  }
  rank_ = static_cast<std::size_t>(tensor.ndim);
  if (rank_ != 0 && tensor.shape == nullptr) {
    throw shape_error(std::string(name_) + " of rank " + std::to_string(rank_) +
                      " has no extents; set its shape");
  }
  for (std::size_t i = 0; i < rank_; ++i) {
    if (tensor.shape[i] < 0) {
      throw shape_error(std::string(name_) +
                        " has a negative extent: " + std::to_string(tensor.shape[i]) + " in axis " +
                        std::to_string(i) + "; use 0 or more");
    }
    shape_[i] = static_cast<std::size_t>(tensor.shape[i]);
    if (shape_[i] == 0) count_ = 0;
  }
  if (count_ != 0) {
    std::size_t bytes = element_size_;
    for (std::size_t i = 0; i < rank_; ++i) {
      if (__builtin_mul_overflow(bytes, shape_[i], &bytes) || bytes > PTRDIFF_MAX) {
        throw shape_error(std::string(name_) +
                          " is larger than the address space: its extents overflow in axis " +
                          std::to_string(i) + "; use smaller extents");
      }
    }
    count_ = bytes / element_size_;
  }
  if (tensor.strides == nullptr) return set_compact_strides();
  for (std::size_t i = 0; i < rank_; ++i) strides_[i] = tensor.strides[i];
}

void operand::set_compact_strides() noexcept {
  std::ptrdiff_t step = 1;
  for (std::size_t i = rank_; i-- != 0;) {
    strides_[i] = step;
    if (count_ != 0) step *= static_cast<std::ptrdiff_t>(shape_[i]);
  }
}

void operand::read_data(roc_tensor const& tensor) {
  if (count_ == 0) return;
  if (tensor.data == nullptr) {
    throw lifetime_error(std::string(name_) +
                         " has no data: it was released or never allocated; set its address");
  }
  // The range of the elements, in bytes from the first one.
  std::ptrdiff_t low = 0;
  auto high = static_cast<std::ptrdiff_t>(element_size_);
  std::ptrdiff_t span = 0;
  bool overflows = false;
  for (std::size_t i = 0; i < rank_; ++i) {
    if (shape_[i] == 1) continue;  // its stride has no meaning; some producers leave it unset
    std::ptrdiff_t step = 0;
    std::ptrdiff_t reach = 0;
    overflows |= __builtin_mul_overflow(strides_[i], element_size_, &step);
    overflows |= __builtin_mul_overflow(step, shape_[i] - 1, &reach);
    std::ptrdiff_t& end = reach < 0 ? low : high;
    overflows |= __builtin_add_overflow(end, reach, &end);
  }
  overflows |= __builtin_sub_overflow(high, low, &span);
  std::uintptr_t address = 0;
  overflows |= __builtin_add_overflow(reinterpret_cast<std::uintptr_t>(tensor.data),
                                      tensor.byte_offset, &address);
  std::uintptr_t first = 0;
  std::uintptr_t end = 0;
  overflows |= __builtin_add_overflow(address, low, &first);
  overflows |= __builtin_add_overflow(address, high, &end);
  if (overflows) {
    throw layout_error(std::string(name_) +
                       " has elements outside the address space: its strides or its byte offset, " +
                       std::to_string(tensor.byte_offset) + ", are too large; use smaller ones");
  }
  data_ = reinterpret_cast<void*>(address);
  first_byte_ = reinterpret_cast<void*>(first);
  span_bytes_ = static_cast<std::size_t>(span);
}

void operand::read_device(roc_tensor_device location) {
  if (location.device_type == ROCARRAY_DEVICE_CPU || location.device_type == pinned_memory) return;
  bool const is_managed = is_managed_memory(location.device_type);
  if (is_managed && count_ != 0) {
    // Only the table of host memory lets roc_free_host wait for the copies of its arrays.
    auto const range = base::byte_range::of(first_byte_, span_bytes_);
    if (memory::host_table::instance().managed_array_of(range)) return;
  }
  if (location.device_type != device_memory && !is_managed) {
    throw_invalid(std::string(name_) + " is in memory of device type " +
                  std::to_string(location.device_type) + "; use " +
                  std::to_string(ROCARRAY_DEVICE_CPU) + " for host memory, or " +
                  std::to_string(device_memory) + " for memory of this platform's devices");
  }
  // Device 0 is not checked, as in C++: without any device, the copy itself fails.
  if (location.device_id < 0 || (location.device_id > 0 && location.device_id >= device::count())) {
    throw error(std::make_error_code(std::errc::no_such_device),
                std::string(name_) + " is on device " + std::to_string(location.device_id) +
                    ", which does not exist; use an ordinal below the number of devices");
  }
  space_ = detail::memory_space::device;
  device_ = location.device_id;
}

bool operand::is_flat_host_memory() const noexcept {
  return rank_ == 1 && space_ == detail::memory_space::host && (shape_[0] <= 1 || strides_[0] == 1);
}

void operand::try_reshape_as(operand const& other) noexcept {
  if (count_ != other.count_) return;
  rank_ = other.rank_;
  for (std::size_t i = 0; i < rank_; ++i) shape_[i] = other.shape_[i];
  set_compact_strides();
}

void operand::match(operand& from, operand& to) {
  if (std::memcmp(&from.type_, &to.type_, sizeof(roc_element_type)) != 0) {
    throw_invalid("element types of source and destination differ: " + to_string(from.type_) +
                  ", " + to_string(to.type_) + "; use tensors of the same type");
  }
  if (from.rank_ == to.rank_) return;
  if (from.is_flat_host_memory()) return from.try_reshape_as(to);
  if (to.is_flat_host_memory()) to.try_reshape_as(from);
}

}  // namespace roc::c_interface

int32_t roc_device_type(void) { return roc::c_interface::device_memory; }

// SPDX-License-Identifier: MIT
#include <roc/detail/tensor_operand.hpp>

#include <algorithm>
#include <string>
#include <system_error>

#include <roc/c.h>
#include <roc/device.hpp>
#include <roc/error.hpp>

#include "layout/region_bounds.hpp"
#include "memory/host/host_table.hpp"
#include "memory/host/memory_lookup.hpp"

namespace roc::detail {
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

}  // namespace

void throw_element_types_differ(element_type from, element_type to) {
  throw dlpack_error("element types of source and destination differ: " + to_string(from) + ", " +
                     to_string(to) + "; use tensors of the same type");
}

void throw_value_type_differs(element_type value, element_type tensor) {
  throw dlpack_error("the value is " + to_string(value) + ", but the tensor has elements of type " +
                     to_string(tensor) + "; pass a value of the tensor's type");
}

static_assert(tensor_operand::max_rank == ROCARRAY_MAX_RANK);

std::int32_t tensor_operand::device_type() noexcept { return device_memory; }

tensor_operand::tensor_operand(tensor_description const& tensor, char const* name)
    : name_(name), type_(tensor.type), is_read_only_(tensor.is_read_only), is_tensor_(true) {
  read_type(tensor.type);
  read_layout(tensor);
  read_location(tensor);
}

tensor_operand::tensor_operand(strided_region const& region, element_type type, char const* name)
    : name_(name), type_(type), region_(region), count_(1) {
  std::copy_n(region.shape, region.rank, shape_.begin());
  std::copy_n(region.strides, region.rank, strides_.begin());
  for (std::size_t i = 0; i < region.rank; ++i) count_ *= shape_[i];
}

void tensor_operand::read_type(element_type type) {
  if (type.code > last_element_code) {
    throw dlpack_error(std::string(name_) + " has elements of an unknown type: " + to_string(type) +
                       "; use a type of DLPack 1.1");
  }
  std::size_t const bits = std::size_t{type.bits} * type.lanes;
  if (bits == 0 || bits % 8 != 0) {
    throw dlpack_error(std::string(name_) + " has elements of " + std::to_string(type.bits) +
                       " bits x " + std::to_string(type.lanes) +
                       " lanes; use a whole number of bytes");
  }
  region_.element_size = bits / 8;
}

void tensor_operand::read_layout(tensor_description const& tensor) {
  if (tensor.rank < 0 || static_cast<std::size_t>(tensor.rank) > max_rank) {
    throw shape_error(std::string(name_) + " has rank " + std::to_string(tensor.rank) +
                      "; use a rank from 0 to " + std::to_string(max_rank));
  }
  region_.rank = static_cast<std::size_t>(tensor.rank);
  if (region_.rank != 0 && tensor.shape == nullptr) {
    throw shape_error(std::string(name_) + " of rank " + std::to_string(region_.rank) +
                      " has no extents; set its shape");
  }
  bool is_empty = false;
  for (std::size_t i = 0; i < region_.rank; ++i) {
    if (tensor.shape[i] < 0) {
      throw shape_error(std::string(name_) +
                        " has a negative extent: " + std::to_string(tensor.shape[i]) + " in axis " +
                        std::to_string(i) + "; use 0 or more");
    }
    shape_[i] = static_cast<std::size_t>(tensor.shape[i]);
    is_empty = is_empty || shape_[i] == 0;
  }
  // Products wrap for shapes that checked_bounds rejects, and for those without elements.
  std::size_t step = 1;
  for (std::size_t i = region_.rank; i-- != 0;) {
    strides_[i] = tensor.strides != nullptr ? tensor.strides[i] : static_cast<std::ptrdiff_t>(step);
    step *= shape_[i];
  }
  if (is_empty) return;
  count_ = step;
  std::uintptr_t address = 0;
  if (__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(tensor.data), tensor.byte_offset,
                             &address)) {
    throw layout_error(std::string(name_) +
                       " has elements outside the address space: byte offset " +
                       std::to_string(tensor.byte_offset) + "; use a smaller one");
  }
  region_.data = tensor.data == nullptr ? nullptr : reinterpret_cast<void*>(address);
  base::byte_range const range = layout::checked_bounds(region(), name_);
  first_byte_ = range.data();
  span_bytes_ = range.bytes();
}

void tensor_operand::read_location(tensor_description const& tensor) {
  region_.space = memory_space::host;
  region_.device = -1;
  if (tensor.device_type == ROCARRAY_DEVICE_CPU || tensor.device_type == pinned_memory) return;
  bool const is_managed = is_managed_memory(tensor.device_type);
  if (is_managed && count_ != 0) {
    // Only the table of host memory lets the owner of managed memory wait for its copies.
    auto const range = base::byte_range::of(first_byte_, span_bytes_);
    if (memory::host_table::instance().managed_array_of(range)) return;
  }
  if (tensor.device_type != device_memory && !is_managed) {
    throw dlpack_error(std::string(name_) + " is in memory of device type " +
                       std::to_string(tensor.device_type) + "; use " +
                       std::to_string(ROCARRAY_DEVICE_CPU) + " for host memory, or " +
                       std::to_string(device_memory) + " for memory of this platform's devices");
  }
  // Device 0 is not checked, as for views: without any device, the copy itself fails.
  if (tensor.device_id < 0 || (tensor.device_id > 0 && tensor.device_id >= device::count())) {
    throw error(std::make_error_code(std::errc::no_such_device),
                std::string(name_) + " is on device " + std::to_string(tensor.device_id) +
                    ", which does not exist; use an ordinal below the number of devices");
  }
  region_.space = memory_space::device;
  region_.device = tensor.device_id;
}

void tensor_operand::look_up(operand_role role) {
  if (!is_tensor_ || count_ == 0) return;
  using memory::location_kind;
  auto const range = base::byte_range::of(first_byte_, span_bytes_);
  memory::located_memory const found = memory::look_up(range, name_, role);
  bool const is_stated_on_device = region_.space == memory_space::device;
  // Kernels can access pinned memory too: a tensor of mapped memory is on a device.
  if (is_stated_on_device && found.kind == location_kind::pinned && !found.is_in_host_table) {
    region_.is_untracked = true;  // the CPU can access it too
    return;
  }
  // As host memory, it is copied in a way that also works if a part is not pinned or not mapped.
  bool const is_mapped_memory =
      is_stated_on_device &&
      (found.kind == location_kind::pinned ||
       (found.kind == location_kind::partly_pinned && !found.is_in_host_table));
  if (is_mapped_memory) return found.apply_to(region_);
  bool const agrees = found.kind == location_kind::managed ||
                      (is_stated_on_device ? found.kind == location_kind::device
                                           : found.kind != location_kind::device);
  bool const is_other_device =
      is_stated_on_device && found.kind == location_kind::device && found.device != region_.device;
  if (!agrees || is_other_device) {
    // Without a device no memory is on one; the copy fails with the error for that.
    if (is_stated_on_device && device::count() == 0) return;
    std::string const stated =
        is_stated_on_device ? "memory of device " + std::to_string(region_.device) : "host memory";
    throw dlpack_error(std::string(name_) + ", " + to_string(range) + ", is described as " +
                       stated + ", but it is " + memory::describe(found) +
                       "; set the tensor's device to that of its memory");
  }
  found.apply_to(region_);
}

void tensor_operand::check_writable() const {
  if (!is_read_only_) return;
  throw dlpack_error(std::string(name_) +
                     " is read-only; use a tensor whose producer allows writes");
}

bool tensor_operand::is_flat_host_memory() const noexcept {
  return region_.rank == 1 && region_.space == memory_space::host &&
         (shape_[0] <= 1 || strides_[0] == 1);
}

void tensor_operand::try_reshape_as(tensor_operand const& other) noexcept {
  if (count_ != other.count_) return;
  region_.rank = other.region_.rank;
  std::ptrdiff_t step = 1;
  for (std::size_t i = region_.rank; i-- != 0;) {
    shape_[i] = other.shape_[i];
    strides_[i] = step;
    if (count_ != 0) step *= static_cast<std::ptrdiff_t>(shape_[i]);
  }
}

void tensor_operand::match(tensor_operand& from, tensor_operand& to) {
  if (from.type_ != to.type_) throw_element_types_differ(from.type_, to.type_);
  to.check_writable();
  if (from.region_.rank == to.region_.rank) return;
  if (from.is_flat_host_memory()) return from.try_reshape_as(to);
  if (to.is_flat_host_memory()) to.try_reshape_as(from);
}

}  // namespace roc::detail

// SPDX-License-Identifier: MIT
// Copies whose arguments are a structure with the type of the memory and a position on each side:
// CUDA_MEMCPY2D and CUDA_MEMCPY3D of the CUDA driver, hip_Memcpy2D and HIP_MEMCPY3D of HIP, which
// have the same members.
#pragma once

#include <cstddef>
#include <type_traits>

#include "preload/request.hpp"

namespace roc::preload {

/// The type of the memory on one side of a copy. `unified` means memory whose kind the vendor finds
/// by its address.
enum class operand_type : unsigned char { host, device, unified, array, unknown };

/// One side of a strided copy.
struct operand {
  operand_type type;
  void* memory;
  std::size_t x, y, z;
  std::size_t pitch, rows_per_slice;
};

/// Returns the memory of a side. `Address` is a pointer, or the driver's integer.
template <class Address>
void* operand_memory(operand_type type, void const* host, Address device) noexcept {
  if (type == operand_type::host) return const_cast<void*>(host);
  if constexpr (std::is_pointer_v<Address>) {
    return device;
  } else {
    return reinterpret_cast<void*>(device);
  }
}

template <class Parameters>
inline constexpr bool has_slices = requires(Parameters p) { p.Depth; };

/// Returns the type of memory that a value of the vendor's enumeration means. Specialized for it.
template <class VendorType>
operand_type type_of(VendorType type) noexcept;

/// Return the sides of a copy.
template <class Parameters>
operand source_of(Parameters const& p) noexcept {
  operand_type const type = type_of(p.srcMemoryType);
  void* const memory = operand_memory(type, p.srcHost, p.srcDevice);
  if constexpr (has_slices<Parameters>) {
    return {type, memory, p.srcXInBytes, p.srcY, p.srcZ, p.srcPitch, p.srcHeight};
  } else {
    return {type, memory, p.srcXInBytes, p.srcY, 0, p.srcPitch, 0};
  }
}
template <class Parameters>
operand destination_of(Parameters const& p) noexcept {
  operand_type const type = type_of(p.dstMemoryType);
  void* const memory = operand_memory(type, p.dstHost, p.dstDevice);
  if constexpr (has_slices<Parameters>) {
    return {type, memory, p.dstXInBytes, p.dstY, p.dstZ, p.dstPitch, p.dstHeight};
  } else {
    return {type, memory, p.dstXInBytes, p.dstY, 0, p.dstPitch, 0};
  }
}

template <class Parameters>
std::size_t depth_of(Parameters const& p) noexcept {
  if constexpr (has_slices<Parameters>) {
    return p.Depth;
  } else {
    return 1;
  }
}

/// Returns true if a member that must be zero is not.
template <class Parameters>
bool has_reserved_values(Parameters const& p) noexcept {
  bool result = false;
  if constexpr (has_slices<Parameters>) result = p.srcLOD != 0 || p.dstLOD != 0;
  if constexpr (requires { p.reserved0; }) {
    result = result || p.reserved0 != nullptr || p.reserved1 != nullptr;
  }
  return result;
}

/// Returns the direction of a copy between memory of two types, as a number of hipMemcpyKind;
/// direction::unspecified if both types are `unified`. If one is, and the other side is memory of
/// the device, it counts as host memory: if it is not, the copy is passed on.
inline int direction_of(operand_type from, operand_type to) noexcept {
  constexpr int on_host = 0;    // hipMemcpyHostToHost
  constexpr int on_device = 3;  // hipMemcpyDeviceToDevice
  if (from == operand_type::unified && to == operand_type::unified) {
    return static_cast<int>(direction::unspecified);
  }
  bool const from_host = from == operand_type::host;
  bool const from_device = from == operand_type::device;
  bool const to_host = to == operand_type::host;
  bool const to_device = to == operand_type::device;
  if (from_host && to_host) return on_host;
  if (from_device && to_device) return on_device;
  return static_cast<int>(from_host || to_device ? direction::to_device : direction::to_host);
}

/// Sets `begin` to the first byte of a side, and `slice_pitch` to the bytes from one slice to the
/// next. Returns false if the arguments are not those of a copy that can be served.
inline bool set_begin(operand const& side, std::size_t width, std::size_t height, std::size_t depth,
                      char*& begin, std::size_t& slice_pitch) noexcept {
  bool const has_several = depth > 1 || side.z != 0;
  if (side.memory == nullptr || side.x > side.pitch || width > side.pitch - side.x) return false;
  bool const has_rows = side.y <= side.rows_per_slice && height <= side.rows_per_slice - side.y;
  if (has_several && !has_rows) return false;
  std::size_t rows_before = 0;
  std::size_t slices_before = 0;
  std::size_t offset = 0;
  if (__builtin_mul_overflow(side.pitch, side.rows_per_slice, &slice_pitch) ||
      __builtin_mul_overflow(side.y, side.pitch, &rows_before) ||
      __builtin_mul_overflow(side.z, slice_pitch, &slices_before) ||
      __builtin_add_overflow(rows_before, slices_before, &offset) ||
      __builtin_add_overflow(offset, side.x, &offset)) {
    return false;
  }
  // With one slice, the vendors do not use rows_per_slice.
  if (!has_several) slice_pitch = side.pitch * height;
  begin = static_cast<char*>(side.memory) + offset;
  return true;
}

/// Returns the request of a two- or three-dimensional copy. If the copy must be passed on, as
/// always if `parameters` is null, sets `result` to the reason.
template <class Parameters>
copy_request strided(Parameters const* parameters, void* stream, bool is_synchronous,
                     outcome& result) noexcept {
  if (parameters == nullptr) {
    result = outcome::invalid;
    return {};
  }
  Parameters const& p = *parameters;
  operand const from = source_of(p);
  operand const to = destination_of(p);
  if (from.type == operand_type::array || to.type == operand_type::array) {
    result = outcome::array;
    return {};
  }
  bool const is_unknown = from.type == operand_type::unknown || to.type == operand_type::unknown;
  copy_request request{};
  char* source = nullptr;
  char* destination = nullptr;
  request.width = p.WidthInBytes;
  request.height = p.Height;
  request.depth = depth_of(p);
  if (is_unknown || has_reserved_values(p) ||
      !set_begin(from, request.width, request.height, request.depth, source,
                 request.source_slice) ||
      !set_begin(to, request.width, request.height, request.depth, destination,
                 request.destination_slice)) {
    result = outcome::invalid;
    return {};
  }
  request.source = source;
  request.destination = destination;
  request.source_pitch = from.pitch;
  request.destination_pitch = to.pitch;
  request.kind = direction_of(from.type, to.type);
  request.stream = stream;
  request.is_synchronous = is_synchronous;
  request.device = -1;
  return request;
}

}  // namespace roc::preload

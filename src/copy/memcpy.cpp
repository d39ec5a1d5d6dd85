// SPDX-License-Identifier: MIT
#include <roc/memcpy.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

#include <roc/detail/locate.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/error.hpp>

#include "copy/operation.hpp"

namespace roc {
namespace {

using detail::memcpy_3d_side;

constexpr char const* source_name = "the source";
constexpr char const* destination_name = "the destination";

// A block of bytes: planes, rows, bytes of a row.
using block_shape = std::array<std::size_t, 3>;

bool is_empty(block_shape const& shape) noexcept {
  return shape[0] == 0 || shape[1] == 0 || shape[2] == 0;
}

void check_pitch(memcpy_3d_side const& side, block_shape const& shape, char const* name) {
  if (side.x <= side.pitch && shape[2] <= side.pitch - side.x) return;
  throw layout_error(std::string(name) + " has rows that overlap: pitch " +
                     std::to_string(side.pitch) + ", copied bytes " + std::to_string(shape[2]) +
                     " at byte " + std::to_string(side.x) + " of a row; use a larger pitch");
}

void check_height(memcpy_3d_side const& side, block_shape const& shape, char const* name) {
  if (shape[0] == 1 && side.z == 0) return;  // the height has no meaning
  if (side.y <= side.height && shape[1] <= side.height - side.y) return;
  throw layout_error(std::string(name) + " has planes that overlap: height " +
                     std::to_string(side.height) + ", copied rows " + std::to_string(shape[1]) +
                     " at row " + std::to_string(side.y) + "; use a larger height");
}

// The strides of one side, and its data at the position of the block.
struct block_layout {
  std::array<std::ptrdiff_t, 3> strides{};
  void* data = nullptr;
};

// Throws layout_error if the pitches or the position exceed the address space.
block_layout layout_of(memcpy_3d_side const& side, block_shape const& shape, char const* name) {
  block_layout result;
  std::ptrdiff_t plane = 0;
  std::ptrdiff_t row = 0;
  std::uintptr_t offset = 0;
  std::uintptr_t rows = 0;
  std::uintptr_t planes = 0;
  bool overflows = false;
  // Pitches that are not applied may have any value.
  if (shape[0] > 1 || side.z != 0) {
    overflows |= __builtin_mul_overflow(side.pitch, side.height, &plane);
  }
  if (shape[1] > 1) overflows |= __builtin_add_overflow(side.pitch, 0, &row);
  overflows |= __builtin_mul_overflow(side.y, side.pitch, &rows);
  overflows |= __builtin_mul_overflow(side.z, plane, &planes);
  overflows |= __builtin_add_overflow(side.x, rows, &offset);
  overflows |= __builtin_add_overflow(offset, planes, &offset);
  std::uintptr_t address = 0;
  overflows |=
      __builtin_add_overflow(reinterpret_cast<std::uintptr_t>(side.data), offset, &address);
  if (overflows) {
    throw layout_error(std::string(name) + " is outside the address space: pitch " +
                       std::to_string(side.pitch) + ", height " + std::to_string(side.height) +
                       "; use smaller pitches");
  }
  result.strides = {plane, row, 1};
  if (side.data != nullptr) result.data = reinterpret_cast<void*>(address);
  return result;
}

void copy_block(memcpy_3d_side const& to, memcpy_3d_side const& from, block_shape const& shape,
                stream_ref const* stream) {
  if (is_empty(shape)) return transfer::check_stream(stream);
  check_pitch(from, shape, source_name);
  check_pitch(to, shape, destination_name);
  check_height(from, shape, source_name);
  check_height(to, shape, destination_name);
  block_layout const source_layout = layout_of(from, shape, source_name);
  block_layout const destination_layout = layout_of(to, shape, destination_name);
  auto const region_of = [&](block_layout const& layout, detail::operand_role role) {
    detail::strided_region region{layout.data,
                                  1,
                                  shape.size(),
                                  shape.data(),
                                  layout.strides.data(),
                                  detail::memory_space::host,
                                  -1};
    detail::locate(region, nullptr, role);
    return region;
  };
  detail::copy(region_of(source_layout, detail::operand_role::source),
               region_of(destination_layout, detail::operand_role::destination), stream);
}

void copy_rows(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
               std::size_t width, std::size_t height, stream_ref const* stream) {
  copy_block({to, to_pitch, 0, 0, 0, 0}, {const_cast<void*>(from), from_pitch, 0, 0, 0, 0},
             {1, height, width}, stream);
}

}  // namespace

void memcpy(void* to, void const* from, std::size_t bytes, detail::caller at) {
  detail::call_scope const call(__func__, at);
  copy_rows(to, bytes, from, bytes, bytes, 1, nullptr);
}

void memcpy(void* to, void const* from, std::size_t bytes, stream_ref stream, detail::caller at) {
  detail::call_scope const call(__func__, at);
  copy_rows(to, bytes, from, bytes, bytes, 1, &stream);
}

void memcpy_2d(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
               std::size_t width, std::size_t height, detail::caller at) {
  detail::call_scope const call(__func__, at);
  copy_rows(to, to_pitch, from, from_pitch, width, height, nullptr);
}

void memcpy_2d(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
               std::size_t width, std::size_t height, stream_ref stream, detail::caller at) {
  detail::call_scope const call(__func__, at);
  copy_rows(to, to_pitch, from, from_pitch, width, height, &stream);
}

void detail::memcpy_3d(memcpy_3d_side const& to, memcpy_3d_side const& from, std::size_t width,
                       std::size_t height, std::size_t depth, stream_ref const* stream) {
  copy_block(to, from, {depth, height, width}, stream);
}

void detail::throw_runtime_array() {
  throw error(std::make_error_code(std::errc::not_supported),
              "a side of the copy is an array of the runtime (hipArray_t); use hipMemcpy3D");
}

}  // namespace roc

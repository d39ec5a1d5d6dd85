// SPDX-License-Identifier: MIT
#include "layout/region_bounds.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include <roc/error.hpp>

namespace roc::layout {
namespace {

template <class Number>
std::string list_text(Number const* numbers, std::size_t count) {
  std::string text = "(";
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(numbers[i]);
  }
  return text + ")";
}

bool is_empty(roc::detail::strided_region const& region) noexcept {
  for (std::size_t i = 0; i < region.rank; ++i) {
    if (region.shape[i] == 0) return true;
  }
  return false;
}

void check_size(roc::detail::strided_region const& region, char const* name) {
  std::size_t bytes = region.element_size;
  bool overflows = bytes > PTRDIFF_MAX;
  for (std::size_t i = 0; i < region.rank; ++i) {
    overflows |= __builtin_mul_overflow(bytes, region.shape[i], &bytes) || bytes > PTRDIFF_MAX;
  }
  if (!overflows) return;
  throw shape_error(std::string(name) + " is larger than the address space: shape " +
                    list_text(region.shape, region.rank) + " of elements of " +
                    std::to_string(region.element_size) + " bytes; use smaller extents");
}

[[noreturn]] void throw_outside_address_space(roc::detail::strided_region const& region,
                                              char const* name) {
  throw layout_error(std::string(name) + " has elements outside the address space: shape " +
                     list_text(region.shape, region.rank) + ", strides " +
                     list_text(region.strides, region.rank) + " of elements of " +
                     std::to_string(region.element_size) + " bytes; use smaller strides");
}

}  // namespace

base::byte_range checked_range(roc::detail::strided_region const& region, char const* name) {
  // The offsets of the first and of the last byte.
  std::ptrdiff_t low = 0;
  auto high = static_cast<std::ptrdiff_t>(region.element_size);
  bool overflows = false;
  for (std::size_t i = 0; i < region.rank; ++i) {
    if (region.shape[i] == 1) continue;  // its stride has no meaning; some producers do not set it
    std::ptrdiff_t step = 0;
    std::ptrdiff_t reach = 0;
    overflows |= __builtin_mul_overflow(region.strides[i], region.element_size, &step);
    overflows |= __builtin_mul_overflow(step, region.shape[i] - 1, &reach);
    std::ptrdiff_t& end = reach < 0 ? low : high;
    overflows |= __builtin_add_overflow(end, reach, &end);
  }
  std::ptrdiff_t length = 0;
  overflows |= __builtin_sub_overflow(high, low, &length);
  auto const address = reinterpret_cast<std::uintptr_t>(region.data);
  base::byte_range range;
  overflows |= __builtin_add_overflow(address, low, &range.begin);
  overflows |= __builtin_add_overflow(address, high, &range.end);
  if (overflows) throw_outside_address_space(region, name);
  return range;
}

base::byte_range checked_bounds(roc::detail::strided_region const& region, char const* name) {
  if (is_empty(region)) return {};
  check_size(region, name);
  if (region.data == nullptr) {
    throw lifetime_error(std::string(name) + " is null, but has elements: shape " +
                         list_text(region.shape, region.rank) +
                         "; use the address of allocated memory");
  }
  return checked_range(region, name);
}

}  // namespace roc::layout

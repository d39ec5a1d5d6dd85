// SPDX-License-Identifier: MIT
#include "platform/host/accessed_memory.hpp"

#include <cstdint>

namespace roc::host_hip {
namespace {

// Returns true if the byte at `offset` from the first run is in a run of the axes from `axis` on.
bool is_in_runs(accessed_memory const& memory, std::size_t axis, std::ptrdiff_t offset) noexcept {
  if (axis == memory.rank) return offset >= 0 && offset < static_cast<std::ptrdiff_t>(memory.run);
  auto const [extent, step] = memory.axes[axis];
  auto const last = static_cast<std::ptrdiff_t>(extent) - 1;
  if (step == 0) return is_in_runs(memory, axis + 1, offset);
  // The inner axes cover the offsets [low, high) from the beginning of an index of this one.
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = static_cast<std::ptrdiff_t>(memory.run);
  for (std::size_t i = axis + 1; i < memory.rank; ++i) {
    auto const inner =
        memory.axes[i].step * (static_cast<std::ptrdiff_t>(memory.axes[i].extent) - 1);
    (inner < 0 ? low : high) += inner;
  }
  // Negative steps: the indices are counted from the other end.
  std::ptrdiff_t const size = step < 0 ? -step : step;
  std::ptrdiff_t const begin = step < 0 ? step * last : 0;
  std::ptrdiff_t const distance = offset - begin;
  std::ptrdiff_t const first_index = distance < high ? 0 : (distance - high) / size + 1;
  for (std::ptrdiff_t i = first_index; i <= last && distance - i * size >= low; ++i) {
    if (is_in_runs(memory, axis + 1, distance - i * size)) return true;
  }
  return false;
}

}  // namespace

address_range bytes_of(accessed_memory const& memory) noexcept {
  auto const first = reinterpret_cast<std::uintptr_t>(memory.data);
  address_range result{first, first + memory.run};
  for (std::size_t i = 0; i < memory.rank; ++i) {
    auto const [extent, step] = memory.axes[i];
    auto const distance = static_cast<std::uintptr_t>(step) * (extent - 1);  // may wrap
    (step < 0 ? result.begin : result.end) += distance;
  }
  return result;
}

bool is_in_runs(accessed_memory const& memory, std::ptrdiff_t offset) noexcept {
  return is_in_runs(memory, 0, offset);
}

bool is_contiguous(accessed_memory const& memory) noexcept {
  std::size_t bytes = memory.run;
  for (std::size_t i = memory.rank; i != 0; --i) {
    auto const [extent, step] = memory.axes[i - 1];
    if (step < 0 || static_cast<std::size_t>(step) != bytes) return false;
    bytes *= extent;
  }
  return true;
}

}  // namespace roc::host_hip

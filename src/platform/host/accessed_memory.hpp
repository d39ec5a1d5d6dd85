// SPDX-License-Identifier: MIT
// The memory that work accesses: runs of bytes, repeated over axes.
#pragma once

#include <array>
#include <cstddef>

#include "platform/host/protected_pages.hpp"

namespace roc::host_hip {

/// Memory that work accesses: runs of contiguous bytes, repeated over axes.
struct accessed_memory {
  struct axis {
    std::size_t extent;
    std::ptrdiff_t step;  // bytes
  };

  std::byte const* data;  // of the first run
  std::size_t run;        // bytes
  std::size_t rank = 0;
  std::array<axis, 16> axes{};  // the first `rank` are set; the outermost comes first
  bool is_written = false;
  bool is_device = false;  // device memory, at its device addresses
  bool ends_allocation = false;  // of hipHostMalloc or hipMallocManaged: see located_memory
};

/// Returns the range from the first to the last byte of the memory.
address_range bytes_of(accessed_memory const& memory) noexcept;
/// Returns true if the byte at `offset` from the first run is in a run.
bool is_in_runs(accessed_memory const& memory, std::ptrdiff_t offset) noexcept;
/// Returns true if the runs follow each other without gaps.
bool is_contiguous(accessed_memory const& memory) noexcept;

}  // namespace roc::host_hip

// SPDX-License-Identifier: MIT
// The CUDA contexts of a copy. The runtime that the library contains uses the primary context of a
// device, which all runtimes in a process share. A program may use others.
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_range.hpp"
#include "preload/request.hpp"

namespace roc::preload {

/// Tells whether the calling thread uses the primary context of a device, and restores that context
/// at the end of the scope. Does nothing on AMD, where there are no contexts.
class primary_context_scope {
 public:
  /// Does not create a primary context. Retains an active one until the process ends.
  explicit primary_context_scope(int device) noexcept;
  ~primary_context_scope();
  primary_context_scope(primary_context_scope const&) = delete;
  primary_context_scope& operator=(primary_context_scope const&) = delete;

  /// Returns true if the calling thread, the stream and the memory of the device use the primary
  /// context. `stream` may be any handle; `memory` is null, or an address in device memory.
  bool is_used_by(void* stream, void const* memory) const noexcept;

  /// Returns true if the device was reset since the first scope of this device, by any function of
  /// the runtime or of the driver. Always false on AMD and with drivers before CUDA 12.
  bool was_reset() const noexcept { return was_reset_; }

 private:
  [[maybe_unused]] void* previous_ = nullptr;
  [[maybe_unused]] void* primary_ = nullptr;
  [[maybe_unused]] bool is_usable_ = false;
  bool was_reset_ = false;
};

/// Returns the allocation of the current context that contains an address; nullopt if there is none
/// or if the driver cannot tell. For nvidia only.
std::optional<base::byte_range> find_driver_allocation(std::uintptr_t address) noexcept;

}  // namespace roc::preload

// SPDX-License-Identifier: MIT
// The owner of one allocation of host memory.
#pragma once

#include <cstddef>
#include <utility>

#include <roc/config.hpp>
#include <roc/memory/host_memory.hpp>

namespace roc::detail {

/// Uninitialised bytes that the library knows; null for zero bytes, and after a move. Its
/// destructor waits for the copies that still use them; errors there go to the log hook. Move-only.
class ROCARRAY_API host_storage {
 public:
  host_storage() = default;
  /// `flags` are those of pinned and mapped memory; the other kinds have none. Throws
  /// out_of_memory, and roc::error (not_supported) for managed memory where the device has none.
  host_storage(std::size_t bytes, host_memory kind, host_flags flags = host_flags::portable);
  ~host_storage();
  host_storage(host_storage&& other) noexcept { swap(other); }
  host_storage& operator=(host_storage&& other) noexcept {
    host_storage(std::move(other)).swap(*this);
    return *this;
  }
  void swap(host_storage& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(block_bytes_, other.block_bytes_);
    std::swap(native_flags_, other.native_flags_);
    std::swap(device_, other.device_);
    std::swap(kind_, other.kind_);
  }

  void* data() const noexcept { return data_; }
  host_memory kind() const noexcept { return kind_; }
  /// The flags of pinned memory, asked back from HIP; plain for the other kinds. Throws roc::error.
  host_flags flags() const;

  /// Gives the memory back without waiting for the copies that still use it, where it is kept for
  /// such as come later: those wait.
  void give_back() noexcept { release(false); }

 private:
  void release(bool wait) noexcept;

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t block_bytes_ = 0;  // what HIP allocated, if pinned
  unsigned native_flags_ = 0;
  int device_ = -1;  // on which it was pinned, if for that one alone
  host_memory kind_ = host_memory::pageable;
};

}  // namespace roc::detail

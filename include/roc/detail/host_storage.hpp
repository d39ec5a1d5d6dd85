// SPDX-License-Identifier: MIT
// The owner of one allocation of host memory.
#pragma once

#include <cstddef>
#include <utility>

#include <roc/config.hpp>
#include <roc/memory/host_memory.hpp>

namespace roc::memory {

struct pinned_block;

}  // namespace roc::memory

namespace roc::detail {

/// Owns uninitialized host memory, registered in the library's table of host memory. Null for zero
/// bytes, and after a move. Its destructor blocks until the copies that use the memory have
/// finished; errors there go to the log hook, and memory whose copies could not be waited for is
/// leaked. Move-only.
class ROCARRAY_API host_storage {
 public:
  host_storage() = default;
  /// Allocates. `flags` apply to pinned and mapped memory only. Throws out_of_memory, and
  /// roc::error (not_supported) for managed memory if the device has none.
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
    std::swap(block_, other.block_);
    std::swap(kind_, other.kind_);
  }

  void* data() const noexcept { return data_; }
  host_memory kind() const noexcept { return kind_; }
  /// Returns the flags of pinned memory as HIP reports them; default_flags for other kinds. Throws
  /// roc::error.
  host_flags flags() const;
  /// Throws registration_error, which names both kinds, if the memory is not of the needed kind.
  /// Mapped memory is pinned memory too, and every kind satisfies `pageable`.
  void require(host_memory needed) const;

  /// Frees the memory as the destructor does. Does not block if the memory is kept in the cache of
  /// pinned memory: its next user then waits for the pending copies.
  void give_back() noexcept { release(false); }

 private:
  /// Frees the memory. Blocks until pending copies have finished, unless `wait` is false and the
  /// memory is kept in the cache of pinned memory.
  void release(bool wait) noexcept;

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  memory::pinned_block* block_ = nullptr;  // if pinned or mapped; owned
  host_memory kind_ = host_memory::pageable;
};

}  // namespace roc::detail

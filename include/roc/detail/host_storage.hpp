// SPDX-License-Identifier: MIT
// The owner of one allocation of host memory.
#pragma once

#include <cstddef>
#include <utility>

#include <roc/config.hpp>
#include <roc/memory/host_memory.hpp>
#include <roc/memory/memory_resource.hpp>

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
  /// Allocates from `resource`. Blocks until work that may still use the memory has finished.
  /// Throws out_of_memory; roc::error if the resource allocates device memory; registration_error
  /// if its memory is not of the needed kind.
  host_storage(std::size_t bytes, memory_resource& resource,
               host_memory needed = host_memory::pageable);
  ~host_storage();
  host_storage(host_storage&& other) noexcept { swap(other); }
  host_storage& operator=(host_storage&& other) noexcept {
    host_storage(std::move(other)).swap(*this);
    return *this;
  }
  void swap(host_storage& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(record_, other.record_);
    std::swap(resource_, other.resource_);
    std::swap(has_resource_, other.has_resource_);
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

  /// Frees the memory as the destructor does. Does not block if the memory is from a resource that
  /// tracks its uses, as that of pinned arrays does: the memory is then reused only after the
  /// pending copies.
  void give_back() noexcept { release(false); }

 private:
  /// Adds the memory to the table of host memory. Frees it and throws if that fails.
  void add_to_table(bool is_mapped);
  /// Sets the members from a new block, which the host may use at once.
  void take(resource_block const& block, memory_resource& resource);
  /// Frees the memory. Blocks until pending copies have finished, unless `wait` is false and the
  /// resource of the memory tracks its uses.
  void release(bool wait) noexcept;
  /// Frees memory that is not in the table. `has_uses` means that its record has pending uses.
  void free_memory(bool has_uses = false) noexcept;

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  memory::allocation_record* record_ = nullptr;  // of the resource; null: none
  weak_resource_ref resource_;                   // if has_resource_
  host_memory kind_ = host_memory::pageable;
  bool has_resource_ = false;  // false: pageable memory of operator new, or hipMallocManaged
};

}  // namespace roc::detail

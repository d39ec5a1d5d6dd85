// SPDX-License-Identifier: MIT
// Owners of device memory: one allocation, an allocation shared by several arrays, and the part of
// either that a device array owns.
#pragma once

#include <cstddef>
#include <utility>

#include <roc/config.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/stream.hpp>

namespace roc::memory {
struct allocation_record;
}

namespace roc::detail {

/// Owns one allocation from the resource of a device. Its destructor does not block: it returns
/// the memory in the order of the stream that it was allocated on and of every stream that used it
/// since. Null for zero bytes, and after a move. Move-only.
class ROCARRAY_API device_memory {
 public:
  device_memory() = default;
  /// Allocates on the device of the stream, or on the current one. Throws out_of_memory,
  /// roc::error.
  device_memory(std::size_t bytes, stream_ref stream);
  /// Allocates from `resource`, on its device if it belongs to one. Throws out_of_memory, and
  /// roc::error if the stream belongs to another device.
  device_memory(std::size_t bytes, stream_ref stream, memory_resource& resource);
  ~device_memory() {
    if (data_ != nullptr) free();
  }
  device_memory(device_memory&& other) noexcept { swap(other); }
  device_memory& operator=(device_memory&& other) noexcept {
    device_memory(std::move(other)).swap(*this);
    return *this;
  }
  void swap(device_memory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
    std::swap(resource_, other.resource_);
    std::swap(weak_resource_, other.weak_resource_);
    std::swap(record_, other.record_);
    std::swap(owns_record_, other.owns_record_);
  }

  void* data() const noexcept { return data_; }
  int device() const noexcept { return device_; }
  /// Gives up ownership; the caller frees the memory with hipFree. Throws lifetime_error, and keeps
  /// the memory, if hipFree cannot free it.
  void* release();

 private:
  /// Sets all members from a new allocation; leaves this empty if it throws.
  void take(std::size_t bytes, stream_ref stream, memory_resource& resource);
  /// Deallocates in stream order. Does not block; errors go to the log hook.
  void free() noexcept;

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = -1;
  memory_resource* resource_ = nullptr;
  weak_resource_ref weak_resource_;
  memory::allocation_record* record_ = nullptr;  // owned by the pool, or by this object
  bool owns_record_ = false;
};

/// Records that work on `stream`, enqueued by the user, uses the allocation that contains `data`.
/// Throws roc::error.
ROCARRAY_API void record_stream(void const* data, int device, stream_ref stream);

/// A reference-counted allocation: one of the library, or foreign memory that was adopted. It has
/// its own counter, because <memory> and <functional> take longer to compile than all headers of
/// this library. Thread-safe as std::shared_ptr is. Owned by block_owner objects alone.
class ROCARRAY_API device_block {
 public:
  explicit device_block(device_memory memory);
  device_block(device_block const&) = delete;
  device_block& operator=(device_block const&) = delete;

  void* data() const noexcept { return foreign_ != nullptr ? foreign_ : memory_.data(); }
  int device() const noexcept { return device_; }
  bool is_foreign() const noexcept { return foreign_ != nullptr; }
  /// Gives up ownership of foreign memory; its finalizer is not called.
  void release() noexcept { foreign_ = nullptr; }

  void add_owner() noexcept;
  /// Deletes this object if the caller was its last owner. Foreign memory is finalized
  /// first, which blocks until all work of all devices has finished. Errors go to the log hook.
  void drop_owner() noexcept;
  bool has_one_owner() const noexcept;

 protected:
  /// Throws roc::error if `foreign` is neither device nor managed memory.
  explicit device_block(void* foreign);
  virtual ~device_block();

 private:
  /// Passes foreign memory to its finalizer. May throw; the caller logs the error.
  virtual void give_back(void* foreign);

  device_memory memory_;
  void* foreign_ = nullptr;
  int device_;
  std::size_t owners_ = 0;
};

/// Adopted memory with the finalizer that frees it.
template <class F>
class adopted_block final : public device_block {
 public:
  adopted_block(void* foreign, F finalizer)
      : device_block(foreign), finalizer_(std::move(finalizer)) {}

 private:
  void give_back(void* foreign) override { finalizer_(foreign); }

  F finalizer_;
};

/// Shared ownership of a block, or null.
class block_owner {
 public:
  block_owner() = default;
  explicit block_owner(device_block* block) noexcept : block_(block) {
    if (block_ != nullptr) block_->add_owner();
  }
  block_owner(block_owner const& other) noexcept : block_owner(other.block_) {}
  block_owner(block_owner&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  block_owner& operator=(block_owner other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~block_owner() {
    if (block_ != nullptr) block_->drop_owner();
  }

  device_block* operator->() const noexcept { return block_; }
  explicit operator bool() const noexcept { return block_ != nullptr; }

 private:
  device_block* block_ = nullptr;
};

/// The memory of a device array: an allocation that it alone owns, or shared ownership of a block.
/// Move-only.
class device_storage {
 public:
  device_storage() = default;
  explicit device_storage(device_memory memory)
      : memory_(std::move(memory)), device_(memory_.device()) {}
  explicit device_storage(block_owner block)
      : block_(std::move(block)), device_(block_->device()) {}

  int device() const noexcept { return device_; }
  /// Returns the beginning of the allocation; null for zero bytes.
  void* data() const noexcept { return block_ ? block_->data() : memory_.data(); }
  /// Returns true if no other array can own the memory: false for every block of the library, also
  /// with one owner.
  bool is_sole() const noexcept {
    return !block_ || (block_->is_foreign() && block_->has_one_owner());
  }
  /// Gives up ownership; the memory is the caller's. Requires is_sole(). Throws lifetime_error, and
  /// keeps the memory, if hipFree cannot free it.
  void release() {
    memory_.release();
    if (block_) block_->release();
    block_ = {};
  }
  void swap(device_storage& other) noexcept {
    memory_.swap(other.memory_);
    std::swap(block_, other.block_);
    std::swap(device_, other.device_);
  }

 private:
  device_memory memory_;
  block_owner block_;
  int device_ = -1;
};

}  // namespace roc::detail

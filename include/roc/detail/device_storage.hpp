// SPDX-License-Identifier: MIT
// What a device array owns: an allocation of its own, or a part of one that others own too.
#pragma once

#include <cstddef>
#include <utility>

#include <roc/config.hpp>
#include <roc/detail/device_memory.hpp>

namespace roc::detail {

/// Memory with several owners: an allocation of the library's, or foreign memory. It counts its
/// owners itself: <memory> and <functional> would take longer to compile than all of this library's
/// headers.
class ROCARRAY_API device_block {
 public:
  explicit device_block(device_memory own);
  device_block(device_block const&) = delete;
  device_block& operator=(device_block const&) = delete;

  void* data() const noexcept { return foreign_ != nullptr ? foreign_ : own_.data(); }
  int device() const noexcept { return device_; }
  bool is_foreign() const noexcept { return foreign_ != nullptr; }
  /// Foreign memory is the caller's from now on.
  void release() noexcept { foreign_ = nullptr; }

  void add_owner() noexcept;
  /// The last one ends it; foreign memory is given back first, after all work on its device.
  void drop_owner() noexcept;
  bool has_one_owner() const noexcept;

 protected:
  /// Throws roc::error where `foreign` is neither device nor managed memory.
  explicit device_block(void* foreign);
  virtual ~device_block();

 private:
  virtual void give_back(void* foreign);

  device_memory own_;
  void* foreign_ = nullptr;
  int device_;
  std::size_t owners_ = 0;
};

/// Foreign memory that `F` gives back.
template <class F>
class adopted_block final : public device_block {
 public:
  adopted_block(void* foreign, F finaliser)
      : device_block(foreign), finaliser_(std::move(finaliser)) {}

 private:
  void give_back(void* foreign) override { finaliser_(foreign); }

  F finaliser_;
};

/// An owner of a block, or null.
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

/// One owner's part. Move-only.
class device_storage {
 public:
  device_storage() = default;
  explicit device_storage(device_memory own) : own_(std::move(own)), device_(own_.device()) {}
  explicit device_storage(block_owner block)
      : block_(std::move(block)), device_(block_->device()) {}

  int device() const noexcept { return device_; }
  /// The beginning of the allocation.
  void* data() const noexcept { return block_ ? block_->data() : own_.data(); }
  /// Whether nobody else owns it.
  bool is_sole() const noexcept {
    return !block_ || (block_->is_foreign() && block_->has_one_owner());
  }
  /// The memory is the caller's from now on; only of a sole owner. Throws lifetime_error where
  /// hipFree cannot free it.
  void release() {
    own_.release();
    if (block_) block_->release();
    block_ = {};
  }
  void swap(device_storage& other) noexcept {
    own_.swap(other.own_);
    std::swap(block_, other.block_);
    std::swap(device_, other.device_);
  }

 private:
  device_memory own_;
  block_owner block_;
  int device_ = -1;
};

}  // namespace roc::detail

// SPDX-License-Identifier: MIT
// What a device array owns: an allocation of its own, or a part of one that others own too.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <roc/config.hpp>
#include <roc/detail/device_memory.hpp>

namespace roc::detail {

/// Memory with several owners: an allocation of the library's, or foreign memory, which `finaliser`
/// gives back, once, after all work on its device.
class ROC_API device_block {
 public:
  using finaliser = std::function<void(void*)>;

  explicit device_block(device_memory own);
  /// Throws roc::error where `foreign` is neither device nor managed memory.
  device_block(void* foreign, finaliser finalise);
  ~device_block();
  device_block(device_block const&) = delete;
  device_block& operator=(device_block const&) = delete;

  void* data() const noexcept { return foreign_ != nullptr ? foreign_ : own_.data(); }
  int device() const noexcept { return device_; }
  bool is_foreign() const noexcept { return foreign_ != nullptr; }
  /// Foreign memory is the caller's from now on.
  void release() noexcept { foreign_ = nullptr; }

 private:
  device_memory own_;
  void* foreign_ = nullptr;
  finaliser finalise_;
  int device_;
};

/// One owner's part. Move-only.
class device_storage {
 public:
  device_storage() = default;
  explicit device_storage(device_memory own) : own_(std::move(own)), device_(own_.device()) {}
  explicit device_storage(std::shared_ptr<device_block> block)
      : block_(std::move(block)), device_(block_->device()) {}

  int device() const noexcept { return device_; }
  /// The beginning of the allocation.
  void* data() const noexcept { return block_ ? block_->data() : own_.data(); }
  /// Whether nobody else owns it.
  bool is_sole() const noexcept {
    return !block_ || (block_->is_foreign() && block_.use_count() == 1);
  }
  /// The memory is the caller's from now on; only of a sole owner. Throws lifetime_error where
  /// hipFree cannot free it.
  void release() {
    own_.release();
    if (block_) block_->release();
    block_.reset();
  }
  void swap(device_storage& other) noexcept {
    own_.swap(other.own_);
    block_.swap(other.block_);
    std::swap(device_, other.device_);
  }

 private:
  device_memory own_;
  std::shared_ptr<device_block> block_;
  int device_ = -1;
};

}  // namespace roc::detail

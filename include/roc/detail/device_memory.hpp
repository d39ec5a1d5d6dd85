// SPDX-License-Identifier: MIT
// The owner of one allocation on a device.
#pragma once

#include <cstddef>
#include <utility>

#include <roc/config.hpp>

namespace roc::detail {

/// The memory is someone else's from now on: the leak report leaves it out.
ROC_API void note_released(void const* data) noexcept;

/// Bytes on one device. Null for zero bytes, and after a move. Its destructor returns once the work
/// that was enqueued before it, on any stream, cannot touch the memory any more.
class ROC_API device_memory {
 public:
  device_memory() = default;
  /// On the device with this ordinal, -1 for the current one. Throws out_of_memory, roc::error.
  device_memory(std::size_t bytes, int device);
  ~device_memory();
  device_memory(device_memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), device_(other.device_) {}
  device_memory& operator=(device_memory&& other) noexcept {
    device_memory(std::move(other)).swap(*this);
    return *this;
  }
  void swap(device_memory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(device_, other.device_);
  }

  void* data() const noexcept { return data_; }
  int device() const noexcept { return device_; }
  /// Gives up ownership.
  void* release() noexcept {
    note_released(data_);
    return std::exchange(data_, nullptr);
  }

 private:
  void* data_ = nullptr;
  int device_ = -1;
};

}  // namespace roc::detail

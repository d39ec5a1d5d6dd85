// SPDX-License-Identifier: MIT
// The owner of one allocation on a device.
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

/// Bytes from the resource of a device, given back in the order of the stream they were taken on
/// and of every stream that used them since. Null for zero bytes, and after a move.
class ROCARRAY_API device_memory {
 public:
  device_memory() = default;
  /// On the device of the stream, or the current one. Throws out_of_memory, roc::error.
  device_memory(std::size_t bytes, stream_ref stream);
  /// From this resource; on its device, if it names one. Throws lifetime_error where the stream is
  /// of another device.
  device_memory(std::size_t bytes, stream_ref stream, memory_resource& from);
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
    std::swap(ticket_, other.ticket_);
    std::swap(record_, other.record_);
    std::swap(owns_record_, other.owns_record_);
  }

  void* data() const noexcept { return data_; }
  int device() const noexcept { return device_; }
  /// Gives up ownership, for hipFree. Throws lifetime_error where that cannot free the memory.
  void* release();

 private:
  void take(std::size_t bytes, stream_ref stream, memory_resource& from);
  void free() noexcept;

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = -1;
  memory_resource* resource_ = nullptr;
  resource_ticket ticket_;
  memory::allocation_record* record_ = nullptr;  // the pool's, or one of our own
  bool owns_record_ = false;
};

/// Notes that work on `stream`, enqueued by someone else, uses the memory of an address.
ROCARRAY_API void record_stream(void const* data, int device, stream_ref stream);

}  // namespace roc::detail

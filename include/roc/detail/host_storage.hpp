// SPDX-License-Identifier: MIT
// The owner of one allocation of host memory.
#pragma once

#include <cstddef>
#include <utility>

#include <roc/config.hpp>

namespace roc {

/// What kind of host memory an array lives in.
enum class host_memory : unsigned char {
  pageable,  ///< ordinary memory: copies are staged
  pinned,    ///< locked by the runtime (hipHostMalloc): the device reaches it by DMA
};

namespace detail {

/// Uninitialised bytes that the library knows; null for zero bytes, and after a move. Its destructor
/// waits for the copies that still use them; errors there go to the log hook. Move-only.
class ROC_API host_storage {
 public:
  host_storage() = default;
  /// Throws out_of_memory.
  host_storage(std::size_t bytes, host_memory kind);
  ~host_storage();
  host_storage(host_storage&& other) noexcept { swap(other); }
  host_storage& operator=(host_storage&& other) noexcept {
    host_storage(std::move(other)).swap(*this);
    return *this;
  }
  void swap(host_storage& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(kind_, other.kind_);
  }

  void* data() const noexcept { return data_; }
  host_memory kind() const noexcept { return kind_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  host_memory kind_ = host_memory::pageable;
};

}  // namespace detail
}  // namespace roc

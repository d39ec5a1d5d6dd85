// SPDX-License-Identifier: MIT
// A resource of host memory as a std::pmr::memory_resource: containers in pinned memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include <roc/detail/host_storage.hpp>
#include <roc/detail/resource_adapter.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/memory/pinned_cache.hpp>

namespace roc {

/// A memory resource of pinned, managed or pageable host memory as a std::pmr::memory_resource:
/// `std::pmr::vector<float> v(1000, &resource)` is then in pinned memory, and its copies run at
/// link speed. foreign_resource is the inverse.
///
/// The library tracks the asynchronous copies that use the memory, as for pinned_array. Any
/// alignment is honoured. Allocation throws std::bad_alloc if memory is exhausted, and roc::error.
///
/// *Synchronization:* deallocation blocks until the copies that use the memory have finished; for
/// mapped and managed memory, until all devices are idle. All members may be called from any
/// thread.
///
/// *Lifetime:* the memory resource is borrowed, and must outlive this object. The destructor
/// deallocates memory that was not deallocated.
class pmr_resource final : public std::pmr::memory_resource {
 public:
  /// Refers to `resource`.
  /// @throws roc::error if the resource allocates device memory
  explicit pmr_resource(roc::memory_resource& resource = pinned_resource()) : resource_(resource) {
    detail::check_accessible(resource, true, false);
  }

  /// Returns the memory resource.
  roc::memory_resource& upstream() const noexcept { return resource_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return detail::with_bad_alloc([&] {
      std::size_t const padding =
          alignment > roc::memory_resource::alignment ? alignment : std::size_t{0};
      if (bytes == 0) bytes = 1;  // so that the address is that of a block
      if (bytes > SIZE_MAX - padding) throw std::bad_alloc();
      detail::host_storage storage(bytes + padding, resource_);
      auto address = reinterpret_cast<std::uintptr_t>(storage.data());
      if (padding != 0) address = (address + padding - 1) / padding * padding;
      void* const data = reinterpret_cast<void*>(address);
      std::lock_guard const lock(mutex_);
      blocks_.emplace(data, std::move(storage));
      return data;
    });
  }

  void do_deallocate(void* data, std::size_t, std::size_t) override {
    detail::host_storage freed;  // destroyed without the lock, because that blocks
    std::lock_guard const lock(mutex_);
    auto const found = blocks_.find(data);
    if (found == blocks_.end()) {
      detail::log_failed_deallocation(data,
                                      "the address was not allocated by this pmr_resource, "
                                      "or was deallocated before");
      return;
    }
    freed = std::move(found->second);
    blocks_.erase(found);
  }

  bool do_is_equal(std::pmr::memory_resource const& other) const noexcept override {
    // Only this object knows its blocks.
    return this == &other;
  }

  roc::memory_resource& resource_;
  std::mutex mutex_;  // guards blocks_
  std::unordered_map<void*, detail::host_storage> blocks_;
};

}  // namespace roc

// SPDX-License-Identifier: MIT
#include "allocator.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <roc/device_array.hpp>
#include <roc/error.hpp>
#include <roc/host_array.hpp>
#include <roc/memory/hip_resources.hpp>
#include <roc/native.hpp>
#include <roc/registration.hpp>

#include "experiment.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

// Allocates by constructing an array and deallocates by destroying it.
template <class Array>
class array_allocator final : public allocator {
 public:
  explicit array_allocator(roc::host_memory kind) : kind_(kind) {}

  char const* path() const override { return kind_ == roc::host_memory::pinned ? "cache" : "pool"; }
  void* allocate(std::size_t bytes) override {
    roc::shape<1> const shape{bytes};
    if constexpr (std::is_same_v<Array, roc::device_array<std::byte>>) {
      array_ = Array(shape, roc::order::c, stream_);
    } else {
      array_ = Array(shape, roc::order::c, kind_);
    }
    return array_.data();
  }
  void deallocate(void*, std::size_t) override { array_ = Array(); }

 private:
  roc::host_memory kind_;
  roc::stream stream_;
  Array array_;
};

class resource_allocator final : public allocator {
 public:
  char const* path() const override { return "driver's pool"; }
  void* allocate(std::size_t bytes) override { return resource_.allocate(bytes, stream_); }
  void deallocate(void* memory, std::size_t bytes) override {
    resource_.deallocate(memory, bytes, stream_);
  }

 private:
  roc::stream stream_;
  roc::hip_async_memory_resource resource_;
};

class raw_allocator final : public allocator {
 public:
  explicit raw_allocator(allocator_kind kind) : kind_(kind) {}

  char const* path() const override {
    switch (kind_) {
      case allocator_kind::device_raw: return "hipMalloc";
      case allocator_kind::driver_pool_raw: return "hipMallocAsync";
      default: return "hipHostMalloc";
    }
  }
  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    switch (kind_) {
      case allocator_kind::device_raw: ROCARRAY_HIP(hipMalloc, &memory, bytes); break;
      case allocator_kind::driver_pool_raw:
        ROCARRAY_HIP(hipMallocAsync, &memory, bytes, roc::native(stream_));
        break;
      default: ROCARRAY_HIP(hipHostMalloc, &memory, bytes, 0u); break;
    }
    return memory;
  }
  void deallocate(void* memory, std::size_t) override {
    switch (kind_) {
      case allocator_kind::device_raw: ROCARRAY_HIP(hipFree, memory); break;
      case allocator_kind::driver_pool_raw:
        ROCARRAY_HIP(hipFreeAsync, memory, roc::native(stream_));
        break;
      default: ROCARRAY_HIP(hipHostFree, memory); break;
    }
  }

 private:
  allocator_kind kind_;
  roc::stream stream_;
};

class registration_allocator final : public allocator {
 public:
  registration_allocator(bool is_raw, std::size_t bytes)
      : is_raw_(is_raw), memory_(bytes, std::byte{1}) {}

  char const* path() const override { return is_raw_ ? "hipHostRegister" : "register_host"; }
  void* allocate(std::size_t) override {
    if (is_raw_) {
      ROCARRAY_HIP(hipHostRegister, memory_.data(), memory_.size(), 0u);
    } else {
      registration_ = roc::register_host(memory_);
    }
    return memory_.data();
  }
  void deallocate(void*, std::size_t) override {
    if (is_raw_) {
      ROCARRAY_HIP(hipHostUnregister, memory_.data());
    } else {
      registration_.reset();
    }
  }

 private:
  bool is_raw_;
  std::vector<std::byte> memory_;
  std::optional<roc::registration> registration_;
};

}  // namespace

std::unique_ptr<allocator> make_allocator(allocator_kind kind, std::size_t bytes) {
  switch (kind) {
    case allocator_kind::device_array:
      return std::make_unique<array_allocator<roc::device_array<std::byte>>>(
          roc::host_memory::pageable);
    case allocator_kind::pinned_array:
      return std::make_unique<array_allocator<roc::host_array<std::byte>>>(
          roc::host_memory::pinned);
    case allocator_kind::driver_pool:
    case allocator_kind::driver_pool_raw:
      try {
        if (kind == allocator_kind::driver_pool) return std::make_unique<resource_allocator>();
        static_cast<void>(roc::hip_async_memory_resource());
      } catch (roc::error const& e) {
        if (e.code() == std::errc::not_supported) throw case_not_supported(e.what());
        throw;
      }
      return std::make_unique<raw_allocator>(kind);
    case allocator_kind::registered: return std::make_unique<registration_allocator>(false, bytes);
    case allocator_kind::registered_raw:
      return std::make_unique<registration_allocator>(true, bytes);
    case allocator_kind::device_raw:
    case allocator_kind::pinned_raw: break;
  }
  return std::make_unique<raw_allocator>(kind);
}

}  // namespace rocbench

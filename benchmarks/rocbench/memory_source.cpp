// SPDX-License-Identifier: MIT
#include "memory_source.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <roc/device_array.hpp>
#include <roc/memory/hip_resources.hpp>
#include <roc/error.hpp>
#include <roc/host_array.hpp>
#include <roc/native.hpp>
#include <roc/registration.hpp>

#include "experiment.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

// An array made and dropped.
template <class Array>
class array_source final : public memory_source {
 public:
  explicit array_source(roc::host_memory kind) : kind_(kind) {}

  char const* path() const override { return kind_ == roc::host_memory::pinned ? "cache" : "pool"; }
  void* take(std::size_t bytes) override {
    roc::shape<1> const shape{bytes};
    if constexpr (std::is_same_v<Array, roc::device_array<std::byte>>) {
      array_ = Array(shape, roc::order::c, stream_);
    } else {
      array_ = Array(shape, roc::order::c, kind_);
    }
    return array_.data();
  }
  void give(void*, std::size_t) override { array_ = Array(); }

 private:
  roc::host_memory kind_;
  roc::stream stream_;
  Array array_;
};

class resource_source final : public memory_source {
 public:
  char const* path() const override { return "driver's pool"; }
  void* take(std::size_t bytes) override { return resource_.allocate(bytes, stream_); }
  void give(void* memory, std::size_t bytes) override {
    resource_.deallocate(memory, bytes, stream_);
  }

 private:
  roc::stream stream_;
  roc::hip_async_memory_resource resource_;
};

class raw_source final : public memory_source {
 public:
  explicit raw_source(memory_way way) : way_(way) {}

  char const* path() const override {
    switch (way_) {
      case memory_way::device_raw: return "hipMalloc";
      case memory_way::driver_pool_raw: return "hipMallocAsync";
      default: return "hipHostMalloc";
    }
  }
  void* take(std::size_t bytes) override {
    void* memory = nullptr;
    switch (way_) {
      case memory_way::device_raw: ROCARRAY_HIP(hipMalloc, &memory, bytes); break;
      case memory_way::driver_pool_raw:
        ROCARRAY_HIP(hipMallocAsync, &memory, bytes, roc::native(stream_));
        break;
      default: ROCARRAY_HIP(hipHostMalloc, &memory, bytes, 0u); break;
    }
    return memory;
  }
  void give(void* memory, std::size_t) override {
    switch (way_) {
      case memory_way::device_raw: ROCARRAY_HIP(hipFree, memory); break;
      case memory_way::driver_pool_raw: ROCARRAY_HIP(hipFreeAsync, memory, roc::native(stream_)); break;
      default: ROCARRAY_HIP(hipHostFree, memory); break;
    }
  }

 private:
  memory_way way_;
  roc::stream stream_;
};

class registered_source final : public memory_source {
 public:
  registered_source(bool raw, std::size_t bytes) : raw_(raw), memory_(bytes, std::byte{1}) {}

  char const* path() const override { return raw_ ? "hipHostRegister" : "register_host"; }
  void* take(std::size_t) override {
    if (raw_) {
      ROCARRAY_HIP(hipHostRegister, memory_.data(), memory_.size(), 0u);
    } else {
      registration_ = roc::register_host(memory_);
    }
    return memory_.data();
  }
  void give(void*, std::size_t) override {
    if (raw_) {
      ROCARRAY_HIP(hipHostUnregister, memory_.data());
    } else {
      registration_.reset();
    }
  }

 private:
  bool raw_;
  std::vector<std::byte> memory_;
  std::optional<roc::registration> registration_;
};

}  // namespace

std::unique_ptr<memory_source> make_memory_source(memory_way way, std::size_t bytes) {
  switch (way) {
    case memory_way::device_array:
      return std::make_unique<array_source<roc::device_array<std::byte>>>(
          roc::host_memory::pageable);
    case memory_way::pinned_array:
      return std::make_unique<array_source<roc::host_array<std::byte>>>(roc::host_memory::pinned);
    case memory_way::driver_pool:
    case memory_way::driver_pool_raw:
      try {
        if (way == memory_way::driver_pool) return std::make_unique<resource_source>();
        static_cast<void>(roc::hip_async_memory_resource());
      } catch (roc::error const& e) {
        if (e.code() == std::errc::not_supported) throw not_possible(e.what());
        throw;
      }
      return std::make_unique<raw_source>(way);
    case memory_way::registered: return std::make_unique<registered_source>(false, bytes);
    case memory_way::registered_raw: return std::make_unique<registered_source>(true, bytes);
    case memory_way::device_raw:
    case memory_way::pinned_raw: break;
  }
  return std::make_unique<raw_source>(way);
}

}  // namespace rocbench

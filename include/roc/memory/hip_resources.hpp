// SPDX-License-Identifier: MIT
// The resources that take memory from HIP itself.
#pragma once

#include <cstddef>

#include <roc/config.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc {

/// hipMalloc and hipFree: every free waits for all work on the device. Arrays that take from it can
/// be released (device_array::release).
class ROCARRAY_API hip_memory_resource final : public memory_resource {
 public:
  /// On the device with this ordinal; -1 for the current one. Throws roc::error where there is
  /// none.
  explicit hip_memory_resource(int device = -1);

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  bool do_is_equal(memory_resource const& other) const noexcept override;
  int do_device_ordinal() const noexcept override;

  int device_;
};

/// The driver's own pool: hipMallocAsync and hipFreeAsync, on the default pool of the device, which
/// is told to keep what it holds. An option, never the default: on AMD it has open defects.
class ROCARRAY_API hip_async_memory_resource final : public memory_resource {
 public:
  /// On the device with this ordinal; -1 for the current one. Throws roc::error where there is
  /// none, and (std::errc::not_supported) where it has no pool.
  explicit hip_async_memory_resource(int device = -1);

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  bool do_is_equal(memory_resource const& other) const noexcept override;
  int do_device_ordinal() const noexcept override;
  void do_trim() override;

  int device_;
};

}  // namespace roc

// SPDX-License-Identifier: MIT
// Devices: which there are, what they are called, which one is current.
#pragma once

#include <cstddef>
#include <string>

#include <roc/config.hpp>

namespace roc {

/// Bytes of a device's memory (hipMemGetInfo; numba.cuda: `get_memory_info`).
struct memory_information {
  std::size_t free;
  std::size_t total;
};

struct memory_statistics;  // roc/memory_resource.hpp

/// One device, by its ordinal in [0, device::count()). A value: it owns nothing.
///
/// The current device is a property of the calling thread, as in HIP; arrays and streams are made
/// on it. Everything that needs a device throws roc::error where there is none.
class ROC_API device {
 public:
  /// The current device of the calling thread.
  device();
  /// The device with this ordinal; throws roc::error (std::errc::no_such_device) if there is none.
  explicit device(int ordinal);

  /// How many devices there are: 0 where there is no device or no driver. Throws nothing for that.
  static int count();

  int ordinal() const noexcept { return ordinal_; }
  /// Makes this the calling thread's current device (hipSetDevice).
  void make_current() const;
  /// Waits until all work on the device is done (hipDeviceSynchronize).
  void synchronize() const;

  std::string name() const;
  /// "domain:bus:device.function" in hexadecimal, as sysfs names the device.
  std::string pci_bus_id() const;
  memory_information memory() const;
  /// Of the resource that arrays on the device take their memory from (roc/memory_resource.hpp).
  roc::memory_statistics memory_statistics() const;
  int multiprocessor_count() const;
  /// Threads that run in lockstep: 32 or 64.
  int warp_size() const;

  friend bool operator==(device const&, device const&) noexcept = default;

 private:
  int ordinal_;
};

/// Makes a device current for a scope and restores the one before at its end.
class [[nodiscard]] ROC_API device_guard {
 public:
  explicit device_guard(device on);
  ~device_guard();
  device_guard(device_guard const&) = delete;
  device_guard& operator=(device_guard const&) = delete;

 private:
  int before_;
};

}  // namespace roc

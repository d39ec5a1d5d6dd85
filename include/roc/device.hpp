// SPDX-License-Identifier: MIT
// Devices: which there are, what they are called, which one is current.
#pragma once

#include <compare>
#include <cstddef>
#include <string>

#include <roc/config.hpp>

namespace roc {

/// Bytes of a device's memory (hipMemGetInfo; numba.cuda: `get_memory_info`).
struct memory_information {
  std::size_t free;   ///< not in use by any process
  std::size_t total;  ///< of the device
};

struct memory_statistics;  // roc/memory/memory_resource.hpp

/// The priorities that streams of a device can have: lower numbers run first.
struct stream_priority_range {
  int least;     ///< runs last
  int greatest;  ///< runs first
};

/// What a device's code is compiled for: 9.0 on an H100; on AMD the first digits of the gfx name.
struct compute_capability {
  int major_version;  ///< 9 of 9.0
  int minor_version;  ///< 0 of 9.0
  /// By the major version first.
  friend auto operator<=>(compute_capability const&, compute_capability const&) = default;
};

/// One device, by its ordinal in [0, device::count()). A value: it owns nothing.
///
/// The current device is a property of the calling thread, as in HIP; arrays and streams are made
/// on it. Everything that needs a device throws roc::error where there is none.
class ROCARRAY_API device {
 public:
  /// The current device of the calling thread.
  device();
  /// The device with this ordinal; throws roc::error (std::errc::no_such_device) if there is none.
  explicit device(int ordinal);

  /// How many devices there are: 0 where there is no device or no driver. Throws nothing for that.
  static int count();

  /// Its number, from 0.
  int ordinal() const noexcept { return ordinal_; }
  /// Makes this the calling thread's current device (hipSetDevice).
  void make_current() const;
  /// Waits until all work on the device is done (hipDeviceSynchronize). Throws what a host function
  /// of one of its streams threw, once; those of other streams are kept.
  void synchronize() const;

  std::string name() const;  ///< as the vendor calls it
  /// "domain:bus:device.function" in hexadecimal, as sysfs names the device.
  std::string pci_bus_id() const;
  memory_information memory() const;  ///< free and in all, now
  /// Of the resource that arrays on the device take their memory from (roc/memory/memory_resource.hpp).
  roc::memory_statistics memory_statistics() const;

  // Attributes, each asked from the runtime alone (hipDeviceGetAttribute). A number that the device
  // does not tell is 0.

  /// Compute units of AMD, streaming multiprocessors of NVIDIA; threads on the host platform.
  int multiprocessor_count() const;
  /// Threads that run in lockstep: 32 or 64 (a wavefront of AMD).
  int warp_size() const;
  int max_threads_per_block() const;  ///< for a kernel that needs few registers
  /// Bytes of shared memory (AMD: LDS) that a block can have without asking for more.
  std::size_t shared_memory_per_block() const;
  std::size_t l2_cache_size() const;  ///< bytes
  roc::compute_capability compute_capability() const;  ///< what code runs on it
  int clock_rate() const;  ///< peak, in kHz
  /// Peak, in kHz. On MI300 it is another clock's: with the bus's width it gives half the
  /// bandwidth.
  int memory_clock_rate() const;
  int memory_bus_width() const;  ///< bits
  int async_engine_count() const;  ///< copies that can run beside kernels
  /// Whether the device uses the host's memory as its own.
  bool is_integrated() const;
  /// Whether kernels can reach pinned host memory (mapped_array).
  bool can_map_host_memory() const;
  /// Whether addresses of the host and the device never collide.
  bool has_unified_addressing() const;
  /// Whether hipMallocManaged is there.
  bool has_managed_memory() const;
  /// Whether host and device may use managed memory at the same time.
  bool has_concurrent_managed_access() const;
  /// Whether kernels may use pageable memory of the host (HMM, XNACK, ATS).
  bool has_pageable_memory_access() const;
  bool has_cooperative_launch() const;  ///< whether a kernel's blocks can wait for each other
  /// Whether this device could be let use the memory of `other`; not of itself
  /// (hipDeviceCanAccessPeer).
  bool can_access_peer(device const& other) const;
  stream_priority_range stream_priorities() const;  ///< that class stream can be given

  /// Whether both are one device.
  friend bool operator==(device const&, device const&) noexcept = default;

 private:
  int ordinal_;
};

/// Makes a device current for the calling thread for a scope, and restores the one before at its
/// end, also while an exception unwinds (numba.cuda: `with cuda.gpus[i]`). An error at the end goes
/// to the log hook.
class [[nodiscard]] ROCARRAY_API device_guard {
 public:
  /// Makes `on` current; throws roc::error.
  explicit device_guard(device on);
  ~device_guard();
  device_guard(device_guard const&) = delete;
  device_guard& operator=(device_guard const&) = delete;

 private:
  int before_;
};

}  // namespace roc

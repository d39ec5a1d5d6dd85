// SPDX-License-Identifier: MIT
// Devices: enumeration, attributes, and the current device.
#pragma once

#include <compare>
#include <cstddef>
#include <source_location>
#include <string>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>

namespace roc {

/// Bytes of a device's memory (hipMemGetInfo; numba.cuda: `get_memory_info`).
struct memory_information {
  std::size_t free;   ///< bytes that no process uses
  std::size_t total;  ///< bytes of the device
};

struct memory_statistics;  // roc/memory/memory_resource.hpp

/// The priorities that streams of a device can have. Lower numbers run first.
struct stream_priority_range {
  int least;     ///< the priority of streams that run last
  int greatest;  ///< the priority of streams that run first
};

/// The kind of connection between two devices.
enum class peer_link_type {
  same_device,  ///< a device and itself
  unknown,      ///< the runtime does not tell
  pcie,         ///< PCI Express
  gpu_fabric,   ///< a link between GPUs: NVLink, xGMI
};

/// The connection of a device with another one.
struct peer_link {
  /// NVIDIA's runtime does not tell the type: it is gpu_fabric if atomics work over the link, which
  /// PCI Express does not offer between GPUs, else pcie.
  peer_link_type type = peer_link_type::same_device;
  int hops = 0;  ///< links on the way; 0: unknown, as on NVIDIA
  /// The lower, the faster. Compares links of one machine. On AMD 0 for gpu_fabric, otherwise 1.
  int performance_rank = 0;
  bool has_access = false;  ///< what device::can_access returns
  /// Atomics on the memory of the other device are executed there.
  bool has_native_atomics = false;

  /// Compares all members.
  friend bool operator==(peer_link const&, peer_link const&) noexcept = default;
};

/// The version of a device's instruction set: 9.0 on an H100; on AMD the first digits of the gfx
/// name.
struct compute_capability {
  int major_version;  ///< 9 of 9.0
  int minor_version;  ///< 0 of 9.0
  /// Compares the major version first.
  friend auto operator<=>(compute_capability const&, compute_capability const&) = default;
};

/// One device, identified by its ordinal in [0, device::count()). A value that owns nothing.
///
/// The current device is a property of the calling thread, as in HIP. Arrays and streams are
/// created on it. Functions that need a device throw roc::error if there is none.
class ROCARRAY_API device {
 public:
  /// The current device of the calling thread. Throws roc::error.
  device(detail::caller at = std::source_location::current());
  /// The device with this ordinal. Throws roc::error (std::errc::no_such_device) if there is none.
  explicit device(int ordinal, detail::caller at = std::source_location::current());

  /// Returns the number of devices; 0 if there is no device or no driver, which is no error.
  static int count(detail::caller at = std::source_location::current());

  /// Returns the device's number, from 0.
  int ordinal() const noexcept { return ordinal_; }
  /// Makes this the current device of the calling thread (hipSetDevice).
  void make_current(detail::caller at = std::source_location::current()) const;
  /// Blocks until all work on the device has finished (hipDeviceSynchronize). Throws the exception
  /// of a host function of one of its streams, once; those of other streams are kept.
  void synchronize(detail::caller at = std::source_location::current()) const;

  /// Returns the vendor's name of the device.
  std::string name(detail::caller at = std::source_location::current()) const;
  /// Returns "domain:bus:device.function" in hexadecimal, the device's name in sysfs.
  std::string pci_bus_id(detail::caller at = std::source_location::current()) const;
  /// Returns the free and total memory at this moment.
  memory_information memory(detail::caller at = std::source_location::current()) const;
  /// Returns the statistics of the memory resource that arrays on this device use
  /// (roc/memory/memory_resource.hpp).
  roc::memory_statistics memory_statistics(
      detail::caller at = std::source_location::current()) const;

  // Attributes (hipDeviceGetAttribute). Each call queries one. A number that the device does not
  // report is 0.

  /// Returns the number of compute units (AMD), streaming multiprocessors (NVIDIA) or threads (host
  /// platform).
  int multiprocessor_count(detail::caller at = std::source_location::current()) const;
  /// Returns the number of threads that run in lockstep: 32 or 64 (AMD: a wavefront).
  int warp_size(detail::caller at = std::source_location::current()) const;
  /// Returns the limit for a kernel that needs few registers.
  int max_threads_per_block(detail::caller at = std::source_location::current()) const;
  /// Returns the bytes of shared memory (AMD: LDS) that a block can use without opting in to more.
  std::size_t shared_memory_per_block(detail::caller at = std::source_location::current()) const;
  /// Returns the size in bytes.
  std::size_t l2_cache_size(detail::caller at = std::source_location::current()) const;
  /// Returns the instruction set's version.
  roc::compute_capability compute_capability(
      detail::caller at = std::source_location::current()) const;
  /// Returns the peak clock rate in kHz.
  int clock_rate(detail::caller at = std::source_location::current()) const;
  /// Returns the memory's peak clock rate in kHz. MI300 reports another clock: with the bus width
  /// it yields half the bandwidth.
  int memory_clock_rate(detail::caller at = std::source_location::current()) const;
  /// Returns the width in bits.
  int memory_bus_width(detail::caller at = std::source_location::current()) const;
  /// Returns how many copies can run concurrently with kernels.
  int async_engine_count(detail::caller at = std::source_location::current()) const;
  /// Returns true if the device has units that sample textures, which roc::image then uses. AMD's
  /// compute GPUs have none since MI300, nor has the CPU, unless ROCARRAY_HOST_TEXTURES is on.
  /// (hipDeviceAttributeImageSupport)
  bool has_texture_units(detail::caller at = std::source_location::current()) const;
  /// Returns true if the device has no memory of its own and uses the host's.
  bool is_integrated(detail::caller at = std::source_location::current()) const;
  /// Returns true if kernels can access pinned host memory (mapped_array).
  bool can_map_host_memory(detail::caller at = std::source_location::current()) const;
  /// Returns true if addresses of host and device memory never collide.
  bool has_unified_addressing(detail::caller at = std::source_location::current()) const;
  /// Returns true if hipMallocManaged is supported.
  bool has_managed_memory(detail::caller at = std::source_location::current()) const;
  /// Returns true if host and device may access managed memory at the same time.
  bool has_concurrent_managed_access(detail::caller at = std::source_location::current()) const;
  /// Returns true if kernels may access pageable host memory (HMM, XNACK, ATS).
  bool has_pageable_memory_access(detail::caller at = std::source_location::current()) const;
  /// Returns true if the blocks of a kernel can wait for each other.
  bool has_cooperative_launch(detail::caller at = std::source_location::current()) const;
  /// Returns true if kernels on this device can access the memory of `other`: it is this device, or
  /// access can be enabled (hipDeviceCanAccessPeer).
  bool can_access(device const& other, detail::caller at = std::source_location::current()) const;
  /// Enables the access of kernels on this device to memory of `other`, for the life of the process
  /// (hipDeviceEnablePeerAccess): memory from hipMalloc, and from the library's resources. Does
  /// nothing if it is enabled already. Copies of the library do this themselves; a program calls it
  /// before its own kernels access the memory, or before copies are captured.
  ///
  /// @throws roc::error with hipErrorPeerAccessUnsupported if the devices are not connected, and
  ///   with std::errc::operation_not_permitted while a graph is captured
  void enable_access(device const& other,
                     detail::caller at = std::source_location::current()) const;
  /// Returns what connects this device with `other` (hipDeviceGetP2PAttribute,
  /// hipExtGetLinkTypeAndHopCount).
  peer_link link_to(device const& other, detail::caller at = std::source_location::current()) const;
  /// Returns true if access to the memory of `other` can be enabled (hipDeviceCanAccessPeer); false
  /// for the device itself.
  bool can_access_peer(device const& other,
                       detail::caller at = std::source_location::current()) const;
  /// Returns the priorities that class stream accepts.
  stream_priority_range stream_priorities(
      detail::caller at = std::source_location::current()) const;

  /// Returns true if both are the same device.
  friend bool operator==(device const&, device const&) noexcept = default;

 private:
  int ordinal_;
};

/// Makes a device current for the calling thread during a scope, and restores the previous one at
/// its end, also while an exception unwinds (numba.cuda: `with cuda.gpus[i]`). Errors of the
/// destructor go to the log hook.
class [[nodiscard]] ROCARRAY_API device_guard {
 public:
  /// Makes `target` the current device. Throws roc::error.
  explicit device_guard(device target, detail::caller at = std::source_location::current());
  ~device_guard();
  device_guard(device_guard const&) = delete;
  device_guard& operator=(device_guard const&) = delete;

 private:
  int previous_device_;
};

}  // namespace roc

// SPDX-License-Identifier: MIT
// The settings of HIP on the CPU: the environment variables ROCARRAY_HOST_*.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace roc::host_hip {

/// When enqueued work runs (ROCARRAY_HOST_MODE).
enum class run_mode {
  threaded,  // a thread per stream runs it
  inline_,   // the call that enqueues it runs it
  deferred,  // it runs only when a call must wait for it
};

/// The runtime whose rules apply (ROCARRAY_HOST_EMULATE). Those of ROCm differ from those of CUDA
/// in registration, frees, the last error, the calls that block, and several error codes. With
/// `cuda13`, small copies to the device also read their source too early, as CUDA 13.0 does: see
/// roc::runtime::order_small_upload. The versions of ROCm come last: see emulates_rocm.
enum class runtime_rules { cuda, cuda13, rocm5, rocm6, rocm7 };

/// The level of support for managed memory (ROCARRAY_HOST_MANAGED).
enum class managed_support {
  full,
  basic,  // no access while the device works, no advice, no prefetch
  off,
};

/// The largest number of devices (ROCARRAY_HOST_DEVICES).
constexpr int max_device_count = 16;

/// What the access checker does with an error (ROCARRAY_HOST_CHECK).
enum class check_mode {
  off,     // it is not in use
  report,  // writes a line to stderr; the exit code is 66
  abort,   // writes the line and aborts the process
};

struct settings {
  run_mode mode = run_mode::threaded;
  runtime_rules emulated = runtime_rules::cuda;
  managed_support managed = managed_support::full;
  int device_count = 1;
  // Bit p of peers[d]: device d is connected to device p, whose memory it may then be given access
  // to. By default all are connected.
  std::array<std::uint16_t, max_device_count> peers{};
  std::size_t device_bytes = 0;  // memory of each device
  int thread_count = 1;
  int warp_size = 32;                    // lanes of a warp: 32 or 64
  std::size_t stack_bytes = 256 * 1024;  // of each thread of a kernel
  check_mode check = check_mode::off;
  bool poison = false;
  bool protect = false;
  bool strict = false;
  bool textures = false;  // can be created, as if the devices had texture units
  bool valid = true;  // false if a variable has an invalid value: every call fails
};

/// Returns the settings. The first call reads them from the environment and reports invalid values
/// on stderr.
settings const& host_settings();

/// Returns true if the rules of a version of ROCm apply.
inline bool emulates_rocm() { return host_settings().emulated >= runtime_rules::rocm5; }

/// Returns a table of the variables, their defaults and their meanings.
char const* settings_table();

}  // namespace roc::host_hip

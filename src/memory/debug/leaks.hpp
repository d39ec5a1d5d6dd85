// SPDX-License-Identifier: MIT
// The leak report: the library's allocations that still exist when the process ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "base/log.hpp"
#include "base/options.hpp"

#if ROCARRAY_PLATFORM_HOST
#include "platform/host/settings.hpp"
#endif

namespace roc::memory {

namespace leaks_detail {

/// True after the first record. While it is false, frees take no lock.
inline std::atomic<bool> has_recorded = false;

/// Returns true if ROCARRAY_HOST_CHECK is set, whose reports tell where memory was allocated.
inline bool is_host_check_enabled() noexcept {
#if ROCARRAY_PLATFORM_HOST
  return host_hip::host_settings().check != host_hip::check_mode::off;
#else
  return false;
#endif
}

}  // namespace leaks_detail

/// Implement record_allocation and record_free.
void record_allocation_slow_path(void const* data, std::size_t bytes, char const* kind,
                                 int device) noexcept;
void record_free_slow_path(void const* data) noexcept;

/// Records an allocation of the library for the leak report, and writes it to the log at level
/// debug. Costs one or two loads if neither is enabled. The report is enabled by
/// options::leak_check, the default in debug builds. If the record cannot be allocated, logs a
/// warning, and the allocation is missing from the report. Takes a global mutex if the report is
/// enabled. Always inlined, so that the call site of the record begins with the caller.
///
/// @param kind a string literal, for example "device memory"
/// @param device ordinal of the device; -1 for host memory
[[gnu::always_inline]] inline void record_allocation(void const* data, std::size_t bytes,
                                                     char const* kind, int device) noexcept {
  base::active_options const& options = base::options();
  if (options.leak_check || options.log >= roc::log_level::debug ||
      leaks_detail::is_host_check_enabled()) [[unlikely]] {
    record_allocation_slow_path(data, bytes, kind, device);
  }
}
/// Removes the record of an allocation that is about to be freed or released to the user, and
/// writes to the log at level debug. Does nothing for null. Takes a global mutex if anything was
/// ever recorded.
inline void record_free(void const* data) noexcept {
  if (data == nullptr) return;
  if (leaks_detail::has_recorded.load(std::memory_order_relaxed) ||
      base::logs(roc::log_level::debug) || leaks_detail::is_host_check_enabled()) [[unlikely]] {
    record_free_slow_path(data);
  }
}

/// Passes an error to the log hook: the library leaks host memory, because work may still use it.
/// Does nothing after the HIP runtime has shut down.
void log_leaked_host_memory(void const* data, std::size_t bytes) noexcept;

/// Returns the report of all recorded allocations: a heading, and the size, address and call site
/// of each allocation; empty if there are none. Takes a global mutex. When the process ends, after
/// the destructors of static objects, the library writes the report to stderr if the log level
/// (options::log) includes warnings.
std::string leak_report();

}  // namespace roc::memory

// SPDX-License-Identifier: MIT
// The leak report: the library's allocations that still exist when the process ends.
#pragma once

#include <cstddef>
#include <string>

namespace roc::memory {

/// Records an allocation of the library for the leak report, and writes it to the log at level
/// debug. Costs one or two loads if neither is enabled. The report is enabled by
/// options::leak_check, the default in debug builds. If the record cannot be allocated, logs a
/// warning, and the allocation is missing from the report. Takes a global mutex if the report is
/// enabled.
///
/// @param kind a string literal, for example "device memory"
/// @param device ordinal of the device; -1 for host memory
void record_allocation(void const* data, std::size_t bytes, char const* kind, int device) noexcept;
/// Removes the record of an allocation that is about to be freed or released to the user, and
/// writes to the log at level debug. Does nothing for null. Takes a global mutex if anything was
/// ever recorded.
void record_free(void const* data) noexcept;

/// Passes an error to the log hook: the library leaks host memory, because work may still use it.
/// Does nothing after the HIP runtime has shut down.
void log_leaked_host_memory(void const* data, std::size_t bytes) noexcept;

/// Returns the report of all recorded allocations: a heading, and the size, address and call site
/// of each allocation; empty if there are none. Takes a global mutex. When the process ends, after
/// the destructors of static objects, the library writes the report to stderr if the log level
/// (options::log) includes warnings.
std::string leak_report();

}  // namespace roc::memory

// SPDX-License-Identifier: MIT
// The leak report: which of the library's allocations are still there when the process ends.
#pragma once

#include <cstddef>
#include <string>

namespace roc::memory {

/// Notes an allocation of the library's for the leak report and for the log (level debug). `kind`
/// is a literal, "device memory"; `device` is -1 for host memory. Costs a load or two while neither
/// is wanted. The report is wanted where ROCARRAY_LEAK_CHECK=1, which is the default in debug builds; what
/// cannot be noted for want of memory is left out of it.
void note_allocation(void const* data, std::size_t bytes, char const* kind, int device) noexcept;
/// The memory is about to be freed, or someone else's from now on. Null does nothing.
void note_free(void const* data) noexcept;

/// What would be reported now: a heading, and the size, place and call site of every allocation;
/// empty where there is none. At the end of the process it goes to stderr (ROCARRAY_LOG=warning or
/// more), after the destructors of static objects.
std::string leak_report();

}  // namespace roc::memory

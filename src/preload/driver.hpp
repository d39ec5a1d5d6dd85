// SPDX-License-Identifier: MIT
// The driver on nvidia. librocarray-preload.so has the SONAME of the driver, libcuda.so.1, so that
// the loader gives it to all that ask for the driver: programs that are linked with it, and the
// CUDA runtimes, which load it by that name. It exports all functions of the driver. Those that it
// does not replace are trampolines, see driver_trampolines.cpp.
#pragma once

#include "preload/vendor_runtime.hpp"

namespace roc::preload {

/// Returns the driver and its functions, or null if there is none. The first call loads it, takes
/// the loader's lock, and lets the trampolines jump to it.
vendor_runtime const* find_driver() noexcept;

/// Returns true if an address is in the driver's library. Calls from there are never served.
bool is_in_driver(void const* address) noexcept;

/// Returns true if an address is in librocarray-preload-copy.so, which must get the driver's
/// functions. Does not take the lock that the loader holds while it runs constructors.
bool is_in_copier(void const* address) noexcept;

/// Returns the first address on the calling thread's stack that is neither in this object nor in a
/// CUDA runtime, be it shared or static: the place in the program that called a function of the
/// driver or of the runtime. A static runtime is found by its object's symbol table. If that was
/// stripped, the place is in the runtime.
/// Returns `caller`, the place that called the driver, if the stack cannot be unwound to it.
void const* find_program_frame(void const* caller) noexcept;

}  // namespace roc::preload

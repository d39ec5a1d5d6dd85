// SPDX-License-Identifier: MIT
// The functions of the driver that are not replaced.
#pragma once

namespace roc::preload {

/// Makes each trampoline jump to the function of its name in `library`: dlopen's handle of the
/// driver, or null if there is no driver. A function that the library lacks returns
/// CUDA_ERROR_NOT_SUPPORTED, or CUDA_ERROR_STUB_LIBRARY without a driver. Thread-safe: all threads
/// set the same.
void set_trampolines(void* library) noexcept;

}  // namespace roc::preload

/// Called by a trampoline that is used before set_trampolines: calls it.
extern "C" [[gnu::visibility("hidden")]] void rocarray_preload_load_driver() noexcept;

// SPDX-License-Identifier: MIT
// The functions of the driver that are not replaced.
#pragma once

#include "preload/driver_library.hpp"

namespace roc::preload {

/// Makes each trampoline jump to the function of its name in `library`. A function that the library
/// lacks returns CUDA_ERROR_NOT_SUPPORTED, or CUDA_ERROR_STUB_LIBRARY if there is no driver.
/// Several threads may call this with the same library at once.
void set_trampolines(driver_library const& library) noexcept;

}  // namespace roc::preload

/// Loads the driver and calls set_trampolines. Called by trampolines that are not yet set.
extern "C" [[gnu::visibility("hidden")]] void rocarray_preload_load_driver() noexcept;

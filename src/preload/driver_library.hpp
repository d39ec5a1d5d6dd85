// SPDX-License-Identifier: MIT
// The vendor's library of the CUDA driver. This object has its name for the loader, so the library
// is opened by its path.
#pragma once

#include "base/byte_range.hpp"

namespace roc::preload {

inline constexpr char driver_name[] = "libcuda.so.1";

struct driver_library {
  void* handle = nullptr;                                      // dlopen's; null: there is no driver
  void* (*look_up)(void* handle, char const* name) = nullptr;  // the C library's dlsym
  base::byte_range range{};                                    // the addresses that it spans

  /// Returns a function of the library, or null if it lacks the function. Takes the loader's lock.
  void* find(char const* name) const noexcept;
};

/// Opens the driver, and keeps it loaded: the first of these that can be loaded and has the
/// driver's functions. The file that ROCARRAY_PRELOAD_DRIVER names; those in the directories of the
/// program's RPATH, LD_LIBRARY_PATH and RUNPATH; the one in the loader's cache, whose path
/// rocarray-run passes on; those in the loader's default directories. Takes the loader's lock.
driver_library open_driver() noexcept;

}  // namespace roc::preload

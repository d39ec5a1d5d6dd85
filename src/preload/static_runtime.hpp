// SPDX-License-Identifier: MIT
// The CUDA runtime that a program or a shared object is linked with statically, as nvcc links it.
#pragma once

#include "base/byte_range.hpp"

namespace roc::preload {

/// Returns the addresses of the functions of the static CUDA runtime in the loaded object that
/// spans the addresses `object`. The range is empty if the object has none, or if its file has no
/// symbol table. The first call for an object takes the lock of dl_iterate_phdr and reads the
/// object's file, which must not be truncated meanwhile; later calls take no lock. 64 objects are
/// remembered, by their addresses; for further ones the range is empty. Does not allocate.
base::byte_range find_static_runtime(base::byte_range object) noexcept;

}  // namespace roc::preload

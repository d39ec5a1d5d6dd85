// SPDX-License-Identifier: MIT
// The host stubs that the fake HIP runtime can run, by the mangled names of their kernels.
#pragma once

#include <string>

#include "platform/host/host_stub_abi.hpp"

namespace roc::fake_runtime {

/// Returns the host stub of a kernel, or null if there is none. The first call loads the libraries
/// that ROCARRAY_HOST_STUBS lists (separated by colons) and reports on stderr those that cannot be
/// loaded. If several libraries have a stub of the same name, the first one listed is used. Stubs
/// are valid until the process ends.
host_stub const* find_host_stub(std::string const& mangled);

}  // namespace roc::fake_runtime

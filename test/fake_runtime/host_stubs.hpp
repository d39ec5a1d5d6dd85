// SPDX-License-Identifier: MIT
// The kernel twins that the double knows, by the kernels' mangled names.
#pragma once

#include <string>

#include "platform/host/host_stub.hpp"

namespace roc::hip_double {

/// The twin of a kernel, or null. The first call loads the libraries that ROCARRAY_HOST_STUBS lists
/// (separated by colons) and says on stderr which of them cannot be loaded. Where several have a
/// twin of one name, the first listed counts. Twins live to the end of the process.
host_stub const* find_host_stub(std::string const& mangled);

}  // namespace roc::hip_double

// SPDX-License-Identifier: MIT
// RCCL for tests on the fake HIP runtime: the host platform's collective library under RCCL's
// names, with HIP's calls of the fake runtime.
#pragma once

#include <roc/interop/collectives/host_library.hpp>

using namespace roc::host_ccl;

#define NCCL_VERSION_CODE 21805
#define NCCL_CONFIG_INITIALIZER \
  {}

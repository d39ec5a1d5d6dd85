// SPDX-License-Identifier: MIT
#include "runtime/destroyed_streams.hpp"

namespace roc::runtime {

// Constant-initialised and trivially destroyed: streams come and go until the very end.
constinit destroyed_handles destroyed;

}  // namespace roc::runtime

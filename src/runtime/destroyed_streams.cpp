// SPDX-License-Identifier: MIT
#include "runtime/destroyed_streams.hpp"

namespace roc::runtime {

// Constant-initialized and trivially destructible: static objects may create and destroy streams
// before and after every other static object.
constinit destroyed_handle_set destroyed_handles;

}  // namespace roc::runtime

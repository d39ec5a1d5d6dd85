// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "device_kernels.hpp"
#include "experiment.hpp"
#include "platform/call.hpp"

namespace rocbench {

void check_kernel(hipError_t launched) {
  constexpr int no_binary = 209;  // hipErrorNoBinaryForGpu, which the host platform does not know
  bool const missing = launched == hipErrorNotSupported ||  // the CPU double, without a twin
                       launched == hipErrorInvalidDeviceFunction ||
                       static_cast<int>(launched) == no_binary;
  if (missing) {
    throw not_possible(fmt::format(
        "rocbench's kernels were not compiled for this device (error {}); on the CPU double their "
        "twins have to be named in ROCARRAY_HOST_STUBS",
        static_cast<int>(launched)));
  }
  roc::platform::check_launch("rocbench kernel", launched);
}

}  // namespace rocbench

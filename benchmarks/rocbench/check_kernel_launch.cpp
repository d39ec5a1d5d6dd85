// SPDX-License-Identifier: MIT
#include "check_kernel_launch.hpp"

#include <fmt/format.h>

#include "experiment.hpp"
#include "platform/call.hpp"

namespace rocbench {

void check_kernel_launch(hipError_t launch_result) {
  constexpr int no_binary = 209;  // hipErrorNoBinaryForGpu, which the host platform does not define
  bool const missing =
      launch_result == hipErrorNotSupported ||  // the fake HIP runtime without a host stub
      launch_result == hipErrorInvalidDeviceFunction ||
      static_cast<int>(launch_result) == no_binary;
  if (missing) {
    throw case_not_supported(fmt::format(
        "rocbench's kernels were not compiled for this device (error {}); with the fake HIP "
        "runtime, name the library of their host stubs in ROCARRAY_HOST_STUBS",
        static_cast<int>(launch_result)));
  }
  roc::platform::check_launch("rocbench kernel", launch_result);
}

}  // namespace rocbench

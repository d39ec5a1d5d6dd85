// SPDX-License-Identifier: MIT
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "platform/host/twin.hpp"

#if !ROC_KERNEL_TWIN

namespace roc::kernels {

hipError_t launch_strided_copy(strided_job const& job, std::size_t unit, hipStream_t stream) {
  using native_detail::launch_elementwise;
  switch (unit) {
    case 1: return launch_elementwise(copy_unit<std::uint8_t>{job}, job.count, stream);
    case 2: return launch_elementwise(copy_unit<std::uint16_t>{job}, job.count, stream);
    case 4: return launch_elementwise(copy_unit<std::uint32_t>{job}, job.count, stream);
    case 8: return launch_elementwise(copy_unit<std::uint64_t>{job}, job.count, stream);
    case 16: return launch_elementwise(copy_unit<unit16>{job}, job.count, stream);
    default: return hipErrorInvalidValue;
  }
}

}  // namespace roc::kernels

#endif

namespace roc::native_detail {

ROC_ELEMENTWISE_TWIN(kernels::copy_unit<std::uint8_t>);
ROC_ELEMENTWISE_TWIN(kernels::copy_unit<std::uint16_t>);
ROC_ELEMENTWISE_TWIN(kernels::copy_unit<std::uint32_t>);
ROC_ELEMENTWISE_TWIN(kernels::copy_unit<std::uint64_t>);
ROC_ELEMENTWISE_TWIN(kernels::copy_unit<kernels::unit16>);

}  // namespace roc::native_detail

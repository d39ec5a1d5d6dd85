// SPDX-License-Identifier: MIT
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "platform/host/twin.hpp"

#if !ROC_KERNEL_TWIN

namespace roc::kernels {

template <class Unit>
hipError_t launch_fill(fill_unit<Unit> const& job, hipStream_t stream) {
  return native_detail::launch_elementwise(job, job.count, stream);
}
template hipError_t launch_fill(fill_unit<std::uint8_t> const&, hipStream_t);
template hipError_t launch_fill(fill_unit<std::uint16_t> const&, hipStream_t);
template hipError_t launch_fill(fill_unit<std::uint32_t> const&, hipStream_t);
template hipError_t launch_fill(fill_unit<std::uint64_t> const&, hipStream_t);
template hipError_t launch_fill(fill_unit<unit16> const&, hipStream_t);

}  // namespace roc::kernels

#endif

namespace roc::native_detail {

ROC_ELEMENTWISE_TWIN(kernels::fill_unit<std::uint8_t>);
ROC_ELEMENTWISE_TWIN(kernels::fill_unit<std::uint16_t>);
ROC_ELEMENTWISE_TWIN(kernels::fill_unit<std::uint32_t>);
ROC_ELEMENTWISE_TWIN(kernels::fill_unit<std::uint64_t>);
ROC_ELEMENTWISE_TWIN(kernels::fill_unit<kernels::unit16>);

}  // namespace roc::native_detail

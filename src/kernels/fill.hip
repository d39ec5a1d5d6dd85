// SPDX-License-Identifier: MIT
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "platform/host/twin.hpp"

#if !ROC_KERNEL_TWIN

namespace roc::kernels {

template <class Unit, class Index>
hipError_t launch_fill(fill_unit<Unit, Index> const& job, hipStream_t stream) {
  return native_detail::launch_elementwise(job, job.count, stream);
}

#define ROC_INSTANTIATE(unit, index) \
  template hipError_t launch_fill<unit, index>(fill_unit<unit, index> const&, hipStream_t)
ROC_FOR_EACH_UNIT(ROC_INSTANTIATE);

}  // namespace roc::kernels

#else

namespace roc::native_detail {

#define ROC_UNIT_TWIN(unit, index) ROC_ELEMENTWISE_TWIN(kernels::fill_unit<unit, index>)
ROC_FOR_EACH_UNIT(ROC_UNIT_TWIN);

}  // namespace roc::native_detail

#endif

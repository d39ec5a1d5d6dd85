// SPDX-License-Identifier: MIT
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "platform/host/host_stub.hpp"

#if !ROCARRAY_KERNEL_HOST_STUB

namespace roc::kernels {

template <class Unit, class Index>
hipError_t launch_fill(fill_unit<Unit, Index> const& job, hipStream_t stream) {
  return native_detail::launch_elementwise(job, job.count, stream);
}

#define ROCARRAY_INSTANTIATE(unit, index) \
  template hipError_t launch_fill<unit, index>(fill_unit<unit, index> const&, hipStream_t)
ROCARRAY_FOR_EACH_UNIT(ROCARRAY_INSTANTIATE);

}  // namespace roc::kernels

#else

namespace roc::native_detail {

#define ROCARRAY_UNIT_HOST_STUB(unit, index) ROCARRAY_ELEMENTWISE_HOST_STUB(kernels::fill_unit<unit, index>)
ROCARRAY_FOR_EACH_UNIT(ROCARRAY_UNIT_HOST_STUB);

}  // namespace roc::native_detail

#endif

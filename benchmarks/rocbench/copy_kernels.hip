// SPDX-License-Identifier: MIT
// Copies by a kernel, for memory of the host that kernels reach.
#include "device_kernels.hpp"
#include "each_element.hpp"

namespace rocbench {

using roc::kernels::unit16;

#if !ROCARRAY_KERNEL_HOST_STUB

hipError_t launch_copy_by_views(roc::device_view<unit16 const> from, roc::device_view<unit16> to,
                                hipStream_t stream) {
  using copy = copy_elements<roc::device_view<unit16 const>, roc::device_view<unit16>>;
  return launch_each(copy{from, to}, to.size(), stream);
}

hipError_t launch_copy_by_pointers(unit16 const* from, unit16* to, std::size_t count,
                                   hipStream_t stream) {
  return launch_each(copy_elements<pointer<unit16 const>, pointer<unit16>>{{from}, {to}}, count,
                     stream);
}

#endif

ROCARRAY_HOST_STUB(each_element<copy_elements<roc::device_view<unit16 const>, roc::device_view<unit16>>>);
ROCARRAY_HOST_STUB(each_element<copy_elements<pointer<unit16 const>, pointer<unit16>>>);

}  // namespace rocbench

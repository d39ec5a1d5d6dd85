// SPDX-License-Identifier: MIT
#include "raw_copy.hpp"

#include "platform/call.hpp"

namespace rocbench {
namespace {

std::size_t row_pitch(side_layout const& side) {
  return static_cast<std::size_t>(side.strides[1]) * side.element;
}

hipPitchedPtr pitched(void* data, side_layout const& side) {
  return make_hipPitchedPtr(data, row_pitch(side), side.extents[2] * side.element,
                            static_cast<std::size_t>(side.strides[0] / side.strides[1]));
}

}  // namespace

char const* raw_call(copy_layout const& layout) {
  if (layout.from.strides[2] != 1 || layout.to.strides[2] != 1) return nullptr;
  if (layout.from.is_contiguous() && layout.to.is_contiguous()) return "hipMemcpyAsync";
  return layout.from.extents[0] == 1 ? "hipMemcpy2DAsync" : "hipMemcpy3DAsync";
}

void raw_copy(copy_layout const& layout, void* to, void const* from, hipMemcpyKind kind,
              hipStream_t stream) {
  roc::shape<3> const& extents = layout.from.extents;
  std::size_t const width = extents[2] * layout.from.element;
  if (layout.from.is_contiguous() && layout.to.is_contiguous()) {
    ROCARRAY_HIP(hipMemcpyAsync, to, from, layout.from.payload(), kind, stream);
  } else if (extents[0] == 1) {
    ROCARRAY_HIP(hipMemcpy2DAsync, to, row_pitch(layout.to), from, row_pitch(layout.from), width,
            extents[1], kind, stream);
  } else {
    hipMemcpy3DParms parameters{};
    parameters.srcPtr = pitched(const_cast<void*>(from), layout.from);
    parameters.dstPtr = pitched(to, layout.to);
    parameters.extent = make_hipExtent(width, extents[1], extents[0]);
    parameters.kind = kind;
    ROCARRAY_HIP(hipMemcpy3DAsync, &parameters, stream);
  }
}

}  // namespace rocbench

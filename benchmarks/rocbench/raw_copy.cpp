// SPDX-License-Identifier: MIT
#include "raw_copy.hpp"

#include "platform/call.hpp"

namespace rocbench {
namespace {

std::size_t row_pitch(operand_layout const& operand) {
  return static_cast<std::size_t>(operand.strides[1]) * operand.element;
}

hipPitchedPtr pitched(void* data, operand_layout const& operand) {
  return make_hipPitchedPtr(data, row_pitch(operand), operand.extents[2] * operand.element,
                            static_cast<std::size_t>(operand.strides[0] / operand.strides[1]));
}

}  // namespace

char const* raw_copy_function(copy_layout const& layout) {
  if (layout.source.strides[2] != 1 || layout.destination.strides[2] != 1) return nullptr;
  if (layout.source.is_contiguous() && layout.destination.is_contiguous()) return "hipMemcpyAsync";
  return layout.source.extents[0] == 1 ? "hipMemcpy2DAsync" : "hipMemcpy3DAsync";
}

void raw_copy(copy_layout const& layout, void* destination, void const* source, hipMemcpyKind kind,
              hipStream_t stream) {
  roc::shape<3> const& extents = layout.source.extents;
  std::size_t const width = extents[2] * layout.source.element;
  if (layout.source.is_contiguous() && layout.destination.is_contiguous()) {
    ROCARRAY_HIP(hipMemcpyAsync, destination, source, layout.source.payload_bytes(), kind, stream);
  } else if (extents[0] == 1) {
    ROCARRAY_HIP(hipMemcpy2DAsync, destination, row_pitch(layout.destination), source,
                 row_pitch(layout.source), width, extents[1], kind, stream);
  } else {
    hipMemcpy3DParms parameters{};
    parameters.srcPtr = pitched(const_cast<void*>(source), layout.source);
    parameters.dstPtr = pitched(destination, layout.destination);
    parameters.extent = make_hipExtent(width, extents[1], extents[0]);
    parameters.kind = kind;
    ROCARRAY_HIP(hipMemcpy3DAsync, &parameters, stream);
  }
}

}  // namespace rocbench

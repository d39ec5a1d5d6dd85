// SPDX-License-Identifier: MIT
#include "transfer/direct.hpp"

#include "platform/call.hpp"

namespace roc::transfer {
namespace {

hipMemcpyKind kind_of(direction way) {
  switch (way) {
    case direction::host_to_device: return hipMemcpyHostToDevice;
    case direction::device_to_host: return hipMemcpyDeviceToHost;
    case direction::device_to_device: return hipMemcpyDeviceToDevice;
    case direction::host_to_host: break;
  }
  return hipMemcpyHostToHost;
}

std::size_t pitch(std::ptrdiff_t step) { return static_cast<std::size_t>(step); }

void copy_rows(normal_form const& form, hipMemcpyKind kind, hipStream_t stream) {
  axis const& rows = form.axes[0];
  ROC_HIP(hipMemcpy2DAsync, form.destination, pitch(rows.destination), form.source,
          pitch(rows.source), form.run, rows.extent, kind, stream);
}

void copy_planes(normal_form const& form, hipMemcpyKind kind, hipStream_t stream) {
  axis const& planes = form.axes[0];
  axis const& rows = form.axes[1];
  hipMemcpy3DParms parameters{};
  parameters.srcPtr =
      make_hipPitchedPtr(const_cast<std::byte*>(form.source), pitch(rows.source), form.run,
                         pitch(planes.source / rows.source));
  parameters.dstPtr = make_hipPitchedPtr(form.destination, pitch(rows.destination), form.run,
                                         pitch(planes.destination / rows.destination));
  parameters.extent = make_hipExtent(form.run, rows.extent, planes.extent);
  parameters.kind = kind;
  ROC_HIP(hipMemcpy3DAsync, &parameters, stream);
}

}  // namespace

void copy_directly(plan const& p, hipStream_t stream) {
  hipMemcpyKind const kind = kind_of(p.way);
  if (p.path == copy_path::dma_2d) return copy_rows(p.form, kind, stream);
  if (p.path == copy_path::dma_3d) return copy_planes(p.form, kind, stream);
  ROC_HIP(hipMemcpyAsync, p.form.destination, p.form.source, p.form.run, kind, stream);
}

}  // namespace roc::transfer

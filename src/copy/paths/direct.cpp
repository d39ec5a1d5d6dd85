// SPDX-License-Identifier: MIT
#include "copy/paths/direct.hpp"

#include <algorithm>

#include "memory/host/host_table.hpp"
#include "platform/call.hpp"

namespace roc::transfer {
namespace {

std::size_t pitch(std::ptrdiff_t step) { return static_cast<std::size_t>(step); }

void copy_rows(layout::canonical_layout const& form, hipMemcpyKind kind, hipStream_t stream) {
  layout::axis const& rows = form.axes[0];
  ROCARRAY_HIP(hipMemcpy2DAsync, form.destination, pitch(rows.destination), form.source,
          pitch(rows.source), form.run, rows.extent, kind, stream);
}

void copy_planes(layout::canonical_layout const& form, hipMemcpyKind kind, hipStream_t stream) {
  layout::axis const& planes = form.axes[0];
  layout::axis const& rows = form.axes[1];
  hipMemcpy3DParms parameters{};
  parameters.srcPtr =
      make_hipPitchedPtr(const_cast<std::byte*>(form.source), pitch(rows.source), form.run,
                         pitch(planes.source / rows.source));
  parameters.dstPtr = make_hipPitchedPtr(form.destination, pitch(rows.destination), form.run,
                                         pitch(planes.destination / rows.destination));
  parameters.extent = make_hipExtent(form.run, rows.extent, planes.extent);
  parameters.kind = kind;
  ROCARRAY_HIP(hipMemcpy3DAsync, &parameters, stream);
}

void copy_one(layout::canonical_layout const& form, hipMemcpyKind kind, hipStream_t stream) {
  if (form.rank == 1) return copy_rows(form, kind, stream);
  if (form.rank == 2) return copy_planes(form, kind, stream);
  ROCARRAY_HIP(hipMemcpyAsync, form.destination, form.source, form.run, kind, stream);
}

// The same bytes without the first `skipped` steps of the outermost axis, or bytes of the run.
layout::canonical_layout behind(layout::canonical_layout form, std::size_t skipped) {
  auto const steps = static_cast<std::ptrdiff_t>(skipped);
  bool const run = form.rank == 0;
  form.source += run ? steps : steps * form.axes[0].source;
  form.destination += run ? steps : steps * form.axes[0].destination;
  (run ? form.run : form.axes[0].extent) -= skipped;
  return form;
}

layout::canonical_layout first(layout::canonical_layout form, std::size_t kept) {
  (form.rank == 0 ? form.run : form.axes[0].extent) = kept;
  return form;
}

// Memory registered in pieces is no one memory to the runtimes: no copy of theirs may straddle two.
void copy_pieces(layout::canonical_layout const& form, layout::side host, hipMemcpyKind kind, hipStream_t stream) {
  base::byte_range const where = layout::bytes_of(form, host);
  std::uintptr_t const end = memory::host_table::instance().end_of_piece(where);
  if (end >= where.end) return copy_one(form, kind, stream);
  std::size_t split = end - where.begin;
  if (form.rank != 0) {
    if (form.axes[0].extent == 1) {
      layout::canonical_layout inner = form;
      std::copy_n(form.axes.begin() + 1, form.rank - 1, inner.axes.begin());
      --inner.rank;
      return copy_pieces(inner, host, kind, stream);
    }
    split = form.axes[0].extent / 2;
  }
  copy_pieces(first(form, split), host, kind, stream);
  copy_pieces(behind(form, split), host, kind, stream);
}

}  // namespace

hipMemcpyKind kind_of(plan const& p) {
  if (p.mapped) return hipMemcpyDefault;
  switch (p.way) {
    case direction::host_to_device: return hipMemcpyHostToDevice;
    case direction::device_to_host: return hipMemcpyDeviceToHost;
    case direction::device_to_device: return hipMemcpyDeviceToDevice;
    case direction::host_to_host: break;
  }
  return hipMemcpyHostToHost;
}

void copy_directly(plan const& p, hipStream_t stream) {
  if (p.way == direction::device_to_device) return copy_one(p.form, kind_of(p), stream);
  if (!memory::host_table::instance().has_pieces()) return copy_one(p.form, kind_of(p), stream);
  bool const from_host = p.way == direction::host_to_device;
  copy_pieces(p.form, from_host ? layout::side::source : layout::side::destination, kind_of(p), stream);
}

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
#include "copy/paths/dma.hpp"

#include "memory/host/host_registrations.hpp"
#include "platform/call.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {
namespace {

// Precondition: `step` is positive, which is_valid_pitch has checked.
std::size_t pitch(std::ptrdiff_t step) { return static_cast<std::size_t>(step); }

void copy_2d(layout::canonical_layout const& canonical, hipMemcpyKind kind, hipStream_t stream) {
  layout::axis const& rows = canonical.axes[0];
  ROCARRAY_HIP(hipMemcpy2DAsync, canonical.destination, pitch(rows.destination), canonical.source,
               pitch(rows.source), canonical.run, rows.extent, kind, stream);
}

void copy_3d(layout::canonical_layout const& canonical, hipMemcpyKind kind, hipStream_t stream) {
  layout::axis const& planes = canonical.axes[0];
  layout::axis const& rows = canonical.axes[1];
  hipMemcpy3DParms parameters{};
  parameters.srcPtr =
      make_hipPitchedPtr(const_cast<std::byte*>(canonical.source), pitch(rows.source),
                         canonical.run, pitch(planes.source / rows.source));
  parameters.dstPtr =
      make_hipPitchedPtr(canonical.destination, pitch(rows.destination), canonical.run,
                         pitch(planes.destination / rows.destination));
  parameters.extent = make_hipExtent(canonical.run, rows.extent, planes.extent);
  parameters.kind = kind;
  ROCARRAY_HIP(hipMemcpy3DAsync, &parameters, stream);
}

// Enqueues a copy for each row. ROCm would do the same, unless one of its kernels copied the rows.
void copy_each_row(layout::canonical_layout const& canonical, hipMemcpyKind kind,
                   hipStream_t stream) {
  layout::axis const& rows = canonical.axes[canonical.rank - 1];
  layout::axis const planes = canonical.rank == 2 ? canonical.axes[0] : layout::axis{1, 0, 0};
  auto const plane_count = static_cast<std::ptrdiff_t>(planes.extent);
  auto const row_count = static_cast<std::ptrdiff_t>(rows.extent);
  for (std::ptrdiff_t plane = 0; plane != plane_count; ++plane) {
    for (std::ptrdiff_t row = 0; row != row_count; ++row) {
      ROCARRAY_HIP(hipMemcpyAsync,
                   canonical.destination + plane * planes.destination + row * rows.destination,
                   canonical.source + plane * planes.source + row * rows.source, canonical.run,
                   kind, stream);
    }
  }
}

// Enqueues the copy of rows with one call of HIP, if that is one command for the copy engines.
void copy_rows(layout::canonical_layout const& canonical, hipMemcpyKind kind, hipStream_t stream) {
  if (!are_rows_one_command(canonical)) return copy_each_row(canonical, kind, stream);
  if (canonical.rank == 1) return copy_2d(canonical, kind, stream);
  copy_3d(canonical, kind, stream);
}

// Enqueues the copy. Precondition: rank is at most 2.
inline void copy_within_segment(layout::canonical_layout const& canonical, hipMemcpyKind kind,
                                hipStream_t stream) {
  if (canonical.rank != 0) return copy_rows(canonical, kind, stream);
  ROCARRAY_HIP(hipMemcpyAsync, canonical.destination, canonical.source, canonical.run, kind,
               stream);
}

// A call of HIP must not access host memory across the boundary of two registered segments: the
// runtimes treat each segment as an allocation of its own. Splits a contiguous copy at the boundary
// and a strided one in half along its outermost axis, recursively, until the host side of every
// call is within one segment.
void copy_by_segment(layout::canonical_layout const& canonical, layout::side host_side,
                     hipMemcpyKind kind, hipStream_t stream) {
  base::byte_range const host_range = layout::byte_range_of(canonical, host_side);
  std::uintptr_t const end = memory::host_registrations::instance().end_of_segment(host_range);
  if (end >= host_range.end) return copy_within_segment(canonical, kind, stream);
  if (canonical.rank != 0) {
    for (layout::canonical_layout const& half : layout::halves_of(canonical)) {
      copy_by_segment(half, host_side, kind, stream);
    }
    return;
  }
  std::size_t const split = end - host_range.begin;
  layout::canonical_layout first = canonical;
  first.run = split;
  layout::canonical_layout rest = canonical;
  rest.source += split;
  rest.destination += split;
  rest.run -= split;
  copy_by_segment(first, host_side, kind, stream);
  copy_by_segment(rest, host_side, kind, stream);
}

}  // namespace

void enqueue_dma(plan const& p, stream_ref target) {
  hipMemcpyKind const kind = memcpy_kind_of(p);
  hipStream_t const stream = runtime::handle(target);
  bool const has_segments = memory::host_registrations::instance().has_segmented_ranges();
  bool const reads_pinned_memory =
      p.host_ranges[0].bytes() != 0 && (p.host_pinned || p.mapped);  // of the source
  if (reads_pinned_memory && (p.canonical.bytes() <= runtime::max_small_upload || has_segments)) {
    runtime::order_small_upload(target);
  }
  if (p.kind == copy_kind::device_to_device || !has_segments) {
    return copy_within_segment(p.canonical, kind, stream);
  }
  bool const from_host = p.kind == copy_kind::host_to_device;
  copy_by_segment(p.canonical, from_host ? layout::side::source : layout::side::destination, kind,
                  stream);
}

}  // namespace roc::transfer

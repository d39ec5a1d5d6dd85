// SPDX-License-Identifier: MIT
#include "copy/path_choice.hpp"

#include <limits>

#include "base/options.hpp"

namespace roc {

char const* to_string(copy_path path) noexcept {
  switch (path) {
    case copy_path::none: return "none";
    case copy_path::dma: return "dma";
    case copy_path::dma_2d: return "dma_2d";
    case copy_path::dma_3d: return "dma_3d";
    case copy_path::staged: return "staged";
    case copy_path::packed: return "packed";
    case copy_path::kernel: return "kernel";
    case copy_path::host: return "host";
  }
  return "unknown";
}

}  // namespace roc

namespace roc::transfer {
namespace {

// The copy engines take pitches below 2 GiB.
constexpr std::ptrdiff_t longest_pitch = std::numeric_limits<int>::max();

bool fits_pitch(std::ptrdiff_t pitch, std::size_t row) {
  return pitch >= static_cast<std::ptrdiff_t>(row) && pitch <= longest_pitch;
}

// Rows of `least` bytes or more.
bool is_2d(layout::canonical_layout const& form, std::size_t least) {
  return form.rank == 1 && form.run >= least && fits_pitch(form.axes[0].source, form.run) &&
         fits_pitch(form.axes[0].destination, form.run);
}

// Planes begin at whole rows on both sides, and hold at least the rows that are copied.
bool is_3d(layout::canonical_layout const& form, std::size_t least) {
  if (form.rank != 2 || form.run < least) return false;
  layout::axis const& plane = form.axes[0];
  layout::axis const& row = form.axes[1];
  auto const whole = [&](std::ptrdiff_t plane_step, std::ptrdiff_t row_step) {
    return fits_pitch(row_step, form.run) && plane_step % row_step == 0 &&
           plane_step / row_step >= static_cast<std::ptrdiff_t>(row.extent);
  };
  return whole(plane.source, row.source) && whole(plane.destination, row.destination);
}

// Small copies of pageable memory are left to the runtime, whose call is then the whole cost. On
// the way back it waits, which only a call without a stream may.
bool leave_to_runtime(plan const& p, timing when) {
  if (when == timing::now) return p.form.run <= base::options().direct;
  return p.way == direction::host_to_device && p.form.run <= base::options().direct_enqueued;
}

// The CPU may not touch managed memory while some devices work: a kernel does.
bool is_on_device(plan const& p) {
  return p.way == direction::device_to_device || p.host_managed;
}

copy_path fastest(plan const& p, timing when) {
  if (p.way == direction::host_to_host) return copy_path::host;
  bool const on_device = is_on_device(p);
  bool const direct = on_device || p.host_pinned;
  if (p.form.rank == 0) {
    return direct || leave_to_runtime(p, when) ? copy_path::dma : copy_path::staged;
  }
  if (on_device) return copy_path::kernel;
  // Shorter rows cost the copy engines more than packing costs the CPU. On the device a kernel is
  // faster at any.
  std::size_t const least = base::options().shortest_row;
  if (direct && is_2d(p.form, least)) return copy_path::dma_2d;
  if (direct && is_3d(p.form, least)) return copy_path::dma_3d;
  return copy_path::packed;
}

// Whether the copy engines can do it, in the order that was asked for: of pageable memory a runtime
// keeps none but its own.
bool takes_dma(plan const& p, timing when) {
  return is_on_device(p) || p.host_pinned || when == timing::now;
}

bool is_possible(plan const& p, timing when, copy_path path) {
  if (p.way == direction::host_to_host) return path == copy_path::host;
  switch (path) {
    case copy_path::dma:
      return p.form.rank == 0 && (takes_dma(p, when) || leave_to_runtime(p, when));
    case copy_path::dma_2d: return takes_dma(p, when) && is_2d(p.form, 1);
    case copy_path::dma_3d: return takes_dma(p, when) && is_3d(p.form, 1);
    case copy_path::staged: return p.form.rank == 0 && !is_on_device(p);
    case copy_path::packed: return p.form.rank != 0 && !is_on_device(p);
    case copy_path::kernel: return p.form.rank != 0 && is_on_device(p);
    case copy_path::none:
    case copy_path::host: break;
  }
  return false;
}

}  // namespace

copy_path choose_path(plan const& p, timing when) {
  copy_path const wanted = base::options().path;
  if (wanted != copy_path::none && is_possible(p, when, wanted)) return wanted;
  return fastest(p, when);
}

}  // namespace roc::transfer

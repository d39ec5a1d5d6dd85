// SPDX-License-Identifier: MIT
// The one place that decides how a copy is done. A plan is a value: nothing is enqueued yet.
#pragma once

#include <roc/copy_path.hpp>
#include <roc/detail/region.hpp>

#include "copy/validate.hpp"
#include "layout/canonical_layout.hpp"

namespace roc::transfer {

struct plan {
  /// Of nothing to copy.
  explicit plan(direction which) : way(which) {}
  /// Of two sides that are not empty; all but their form is still to be found out. The form is made
  /// where it stays: it is large, and a plan is on the way of every copy.
  plan(detail::region const& source, detail::region const& destination, direction which)
      : way(which), form(validate_and_canonicalize(source, destination, which)) {}

  copy_path path = copy_path::none;
  direction way = direction::host_to_host;
  bool host_pinned = false;  // DMA may use the host side (the source, if both are)
  bool host_managed = false;  // kernels may use it too
  bool mapped = false;       // a device side is host memory that the device reaches
  layout::canonical_layout form;
};

/// Whether a copy is done when its call returns, or is enqueued on a stream.
enum class timing : unsigned char { now, enqueued };

/// Checks the two sides against each other and decides. Throws shape_error (extents differ),
/// layout_error (the destination repeats a place), overlap_error (shared memory), lifetime_error
/// (a null pointer with elements), registration_error (a destination registered for reading only).
plan make_plan(detail::region const& source, detail::region const& destination, timing when);

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
// The plan of a copy: how it is executed. All copies are planned here; planning enqueues nothing.
#pragma once

#include <roc/copy_path.hpp>
#include <roc/detail/strided_region.hpp>

#include "copy/copy_kind.hpp"
#include "copy/validate.hpp"
#include "layout/canonical_layout.hpp"
#include "platform/hip.hpp"

namespace roc::transfer {

/// The result of planning a copy: its path, its kind, its canonical layout and the properties of
/// its memory. A value that owns no resources.
struct plan {
  /// Creates the plan of a copy of no elements, with path none.
  explicit plan(copy_kind space_kind) : kind(space_kind) {}
  /// Creates a plan with a validated canonical layout; make_plan fills in the other members. The
  /// layout is constructed in place because it is large and every copy makes a plan. Throws what
  /// validate_and_canonicalize throws.
  plan(detail::strided_region const& source, detail::strided_region const& destination,
       copy_kind space_kind)
      : kind(space_kind), canonical(validate_and_canonicalize(source, destination, space_kind)) {}

  copy_path path = copy_path::none;
  copy_kind kind = copy_kind::host_to_host;
  bool host_pinned = false;   // DMA can access the host side; the source for host_to_host
  bool host_managed = false;  // the host side is managed memory, which kernels can access too
  bool mapped = false;        // a device side is the device address of mapped host memory
  layout::canonical_layout canonical;
};

/// When a copy happens: before its call returns, or in the order of a stream.
enum class timing : unsigned char { now, enqueued };

/// Validates the two sides and chooses the copy path: the one named by ROCARRAY_COPY_PATH if the
/// copy can take it, else the fastest. Looks up the host memory in the host table, whose lock it
/// takes; calls no HIP function. Throws shape_error, layout_error, overlap_error, lifetime_error,
/// and registration_error if the destination is registered as read-only.
plan make_plan(detail::strided_region const& source, detail::strided_region const& destination,
               timing when);

/// Returns the kind that HIP must be given for this copy and for copies between its device side and
/// staging memory: hipMemcpyDefault if a device side is mapped host memory.
hipMemcpyKind memcpy_kind_of(plan const& p);

}  // namespace roc::transfer

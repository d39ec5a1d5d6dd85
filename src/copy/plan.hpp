// SPDX-License-Identifier: MIT
// The plan of a copy: how it is executed. Single copies, the copies that a batch executes
// individually, and planned_path use it; planning enqueues nothing.
#pragma once

#include <array>
#include <cstddef>

#include <roc/copy_path.hpp>
#include <roc/detail/strided_region.hpp>

#include "base/byte_range.hpp"
#include "copy/copy_kind.hpp"
#include "copy/validate.hpp"
#include "layout/canonical_layout.hpp"
#include "platform/hip.hpp"

namespace roc::transfer {

/// When a copy happens: before its call returns, or in the order of a stream.
enum class timing : unsigned char { now, enqueued };

/// The memory of one side of a copy, for make_plan. The members are those of strided_region.
struct side_memory {
  int device = -1;  // -1: host memory, or memory of the current device
  bool is_untracked = false;
  bool is_partly_pinned = false;
};

/// All decisions about the execution of a copy. A value that owns no resources.
struct plan {
  /// Creates the plan of a copy of no elements, with path none.
  explicit plan(copy_kind space_kind) : kind(space_kind) {}
  /// Creates a plan with a validated canonical layout, and with what the regions say about their
  /// memory; make_plan sets the other members. The layout is constructed in place because it is
  /// large and every copy makes a plan. Throws what validate_and_canonicalize throws.
  plan(detail::strided_region const& source, detail::strided_region const& destination,
       copy_kind space_kind)
      : kind(space_kind), canonical(validate_and_canonicalize(source, destination, space_kind)) {
    set_memory({source.device, source.is_untracked, source.is_partly_pinned},
               {destination.device, destination.is_untracked, destination.is_partly_pinned});
  }
  /// As above, with a layout that has been validated before.
  plan(layout::canonical_layout const& validated, copy_kind space_kind, side_memory const& source,
       side_memory const& destination)
      : kind(space_kind), canonical(validated) {
    set_memory(source, destination);
  }

  copy_path path = copy_path::none;
  copy_kind kind = copy_kind::host_to_host;
  bool host_pinned = false;         // DMA can access the host side; the source for host_to_host
  bool host_managed = false;        // the host side is managed memory, which kernels can access too
  bool host_partly_pinned = false;  // a host side is pinned in part: only the CPU may access it
  bool mapped = false;              // a device side is the device address of mapped host memory
  /// A host source is read before the call returns: without a stream, or if it is pageable and not
  /// borrowed. Otherwise it is read in the stream's order, in which earlier work may still write
  /// it.
  bool reads_source_now = false;
  // -1: host memory, memory of all devices, or memory of the current device if no side names one
  int source_device = -1;
  int destination_device = -1;
  /// The host memory of each side, by layout::side; empty for device memory that the CPU cannot
  /// access.
  std::array<base::byte_range, 2> host_ranges{};
  /// By layout::side: other code pinned or manages the memory, or may do so, and the host table
  /// does not know it. The uses of its range must be recorded, because the CPU can access it too.
  std::array<bool, 2> is_untracked{};
  layout::canonical_layout canonical;

 private:
  void set_memory(side_memory const& source, side_memory const& destination) {
    source_device = source.device;
    destination_device = destination.device;
    is_untracked = {source.is_untracked, destination.is_untracked};
    host_partly_pinned = source.is_partly_pinned || destination.is_partly_pinned;
    host_pinned =
        is_from_host(kind) ? source.is_untracked : is_to_host(kind) && destination.is_untracked;
  }
};

/// Returns true for a copy from the memory of one device to that of another, if the sides name them.
inline bool is_between_devices(plan const& p) noexcept {
  return p.kind == copy_kind::device_to_device && p.source_device >= 0 &&
         p.destination_device >= 0 && p.source_device != p.destination_device;
}

/// Returns true if the copy engines or a kernel execute the copy, without the CPU.
constexpr bool runs_on_device(copy_path path) noexcept {
  return path == copy_path::dma || path == copy_path::dma_2d || path == copy_path::dma_3d ||
         path == copy_path::kernel;
}

/// Validates the two sides and chooses the copy path: options::path if the copy can take it,
/// else the fastest. Looks up the host memory in the host table, whose lock it
/// takes; calls no HIP function, except for a device address of memory that was deregistered, and
/// for device memory whose device only the other side names. `use`
/// matters only to an enqueued copy. Throws shape_error, layout_error, overlap_error,
/// lifetime_error, registration_error if the destination is registered as read-only, and roc::error
/// if the copy cannot take the path of its copy_options.
plan make_plan(detail::strided_region const& source, detail::strided_region const& destination,
               timing when, detail::source_use use = detail::source_use::copied);

/// Does the same for a copy of at least one element whose layout has been validated.
plan make_plan(layout::canonical_layout const& validated, copy_kind kind, side_memory const& source,
               side_memory const& destination, timing when, detail::source_use use);

/// Returns true if HIP copies the rows of a strided copy by one command of the copy engines.
/// Otherwise enqueue_dma copies them one by one. Precondition: the layout has an axis.
///
/// AMD's engines take rows in one command only if the address of the first row and the pitch are
/// multiples of 4 bytes. If the pitch is not, ROCm enqueues a copy per row, up to 60 times slower
/// for short rows (ROCm/rocm-systems issue 5646, pull request 6910). If the address is not, one of
/// its kernels copies byte by byte.
bool are_rows_one_command(layout::canonical_layout const& canonical) noexcept;

/// Returns the fastest path for the layout and the kinds of memory of a plan that is complete
/// except for its path. Calls no HIP function.
copy_path fastest_path(plan const& p, timing when);

/// Returns the kind that HIP must be given for this copy and for copies between its device side and
/// staging memory: hipMemcpyDefault if a device side is mapped host memory.
inline hipMemcpyKind memcpy_kind_of(plan const& p) {
  if (p.mapped) return hipMemcpyDefault;
  switch (p.kind) {
    case copy_kind::host_to_device: return hipMemcpyHostToDevice;
    case copy_kind::device_to_host: return hipMemcpyDeviceToHost;
    case copy_kind::device_to_device: return hipMemcpyDeviceToDevice;
    case copy_kind::host_to_host: break;
  }
  return hipMemcpyHostToHost;
}

}  // namespace roc::transfer

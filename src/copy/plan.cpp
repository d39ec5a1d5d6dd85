// SPDX-License-Identifier: MIT
#include "copy/plan.hpp"

#include <cstdint>
#include <limits>

#include "base/options.hpp"
#include "memory/host/device_aliases.hpp"
#include "memory/host/host_table.hpp"
#include "platform/pointer.hpp"
#include "runtime/current_device.hpp"

namespace roc::transfer {
namespace {

// The copy engines take pitches below 2 GiB.
constexpr std::ptrdiff_t max_pitch = std::numeric_limits<int>::max();

// Returns true if the copy engines accept `pitch` for rows of `row_bytes` bytes.
bool is_valid_pitch(std::ptrdiff_t pitch, std::size_t row_bytes) {
  return pitch >= static_cast<std::ptrdiff_t>(row_bytes) && pitch <= max_pitch;
}

// Returns true if one 2D copy of HIP can execute the copy, with rows of at least `min_row` bytes.
bool is_2d(layout::canonical_layout const& canonical, std::size_t min_row) {
  return canonical.rank == 1 && canonical.run >= min_row &&
         is_valid_pitch(canonical.axes[0].source, canonical.run) &&
         is_valid_pitch(canonical.axes[0].destination, canonical.run);
}

// Returns true if one 3D copy of HIP can execute the copy, with rows of at least `min_row` bytes.
// The pitch of the planes must be a whole number of row pitches, and cover all copied rows.
bool is_3d(layout::canonical_layout const& canonical, std::size_t min_row) {
  if (canonical.rank != 2 || canonical.run < min_row) return false;
  layout::axis const& plane = canonical.axes[0];
  layout::axis const& row = canonical.axes[1];
  auto const is_valid_side = [&](std::ptrdiff_t plane_step, std::ptrdiff_t row_step) {
    return is_valid_pitch(row_step, canonical.run) && plane_step % row_step == 0 &&
           plane_step / row_step >= static_cast<std::ptrdiff_t>(row.extent);
  };
  return is_valid_side(plane.source, row.source) &&
         is_valid_side(plane.destination, row.destination);
}

// Returns true for small contiguous copies of pageable memory. HIP's runtime copies them itself,
// and one call is then the whole cost. It reads the source during the call, so that a copy on a
// stream must be allowed to. Downloads block in that call, which only a copy without a stream may
// do. HIP rejects memory that is pinned in part.
inline bool is_left_to_runtime(plan const& p, timing when) {
  if (p.host_partly_pinned) return false;
  if (when == timing::now) return p.canonical.run <= base::options().staging_threshold;
  return p.kind == copy_kind::host_to_device && p.reads_source_now &&
         p.canonical.run <= base::options().staging_threshold_on_stream;
}

// Managed memory counts as device memory: the CPU may not access it while some devices work, so a
// kernel copies it.
bool is_within_device(plan const& p) {
  return p.kind == copy_kind::device_to_device || p.host_managed;
}

// Rows that the copy engines do not take in one command are packed by the CPU up to this length,
// and copied one by one above it. An estimate: a call of hipMemcpyAsync costs 2 to 5 us, and in 5
// us a link of 50 GB/s transfers 256 KiB. The link waits for the calls of shorter rows; longer ones
// keep it busy, without the threads that pack. Not measured on AMD, the only platform that has such
// rows.
constexpr std::size_t longest_packed_row = std::size_t{256} << 10;

// Returns true if the copy engines copy the rows of a strided copy fast.
bool suits_engines(layout::canonical_layout const& canonical) {
  return canonical.run > longest_packed_row || are_rows_one_command(canonical);
}

// Between two devices, the copy engines reach the full rate of the link with rows from this length
// on, a kernel 0.93 of it (two H100, NVLink; not measured on AMD). Shorter rows cost an engine more
// than their bytes.
constexpr std::size_t min_row_between_devices = std::size_t{1} << 10;

// Returns the fastest path of a strided copy in device memory.
copy_path fastest_device_path(plan const& p) {
  if (!is_between_devices(p) || !suits_engines(p.canonical)) return copy_path::kernel;
  if (is_2d(p.canonical, min_row_between_devices)) return copy_path::dma_2d;
  return is_3d(p.canonical, min_row_between_devices) ? copy_path::dma_3d : copy_path::kernel;
}

}  // namespace

bool are_rows_one_command(layout::canonical_layout const& canonical) noexcept {
#if ROCARRAY_PLATFORM_AMD
  constexpr unsigned engine_unit = 4;
#else
  constexpr unsigned engine_unit = 1;
#endif
  layout::axis const& rows = canonical.axes[canonical.rank - 1];
  return reinterpret_cast<std::uintptr_t>(canonical.source) % engine_unit == 0 &&
         reinterpret_cast<std::uintptr_t>(canonical.destination) % engine_unit == 0 &&
         static_cast<std::size_t>(rows.source) % engine_unit == 0 &&
         static_cast<std::size_t>(rows.destination) % engine_unit == 0;
}

namespace {

// Returns the fastest path of a strided copy, not between two host memories.
copy_path fastest_strided_path(plan const& p) {
  if (is_within_device(p)) return fastest_device_path(p);
  // For rows shorter than this, the copy engines take longer than the CPU takes to pack. Within a
  // device a kernel is faster for any row length.
  std::size_t const min_row = base::options().memcpy2d_min_row;
  if (p.host_pinned && suits_engines(p.canonical)) {
    if (is_2d(p.canonical, min_row)) return copy_path::dma_2d;
    if (is_3d(p.canonical, min_row)) return copy_path::dma_3d;
  }
  return copy_path::packed;
}

}  // namespace

copy_path fastest_path(plan const& p, timing when) {
  if (p.kind == copy_kind::host_to_host) return copy_path::host;
  if (p.canonical.rank != 0) return fastest_strided_path(p);
  bool const can_use_dma = is_within_device(p) || p.host_pinned;
  return can_use_dma || is_left_to_runtime(p, when) ? copy_path::dma : copy_path::staged;
}

namespace {

// Returns true if the copy engines can execute the copy in the required order. For pageable memory,
// HIP's runtime does not keep the order of the stream.
bool can_use_engines(plan const& p, timing when) {
  return is_within_device(p) || p.host_pinned || (when == timing::now && !p.host_partly_pinned);
}

// Returns true if the copy can take `path`.
[[gnu::noinline]] bool is_possible(plan const& p, timing when, copy_path path) {
  if (p.kind == copy_kind::host_to_host) return path == copy_path::host;
  switch (path) {
    case copy_path::dma:
      return p.canonical.rank == 0 && (can_use_engines(p, when) || is_left_to_runtime(p, when));
    case copy_path::dma_2d: return can_use_engines(p, when) && is_2d(p.canonical, 1);
    case copy_path::dma_3d: return can_use_engines(p, when) && is_3d(p.canonical, 1);
    case copy_path::staged: return p.canonical.rank == 0 && !is_within_device(p);
    case copy_path::packed: return p.canonical.rank != 0 && !is_within_device(p);
    case copy_path::kernel: return p.canonical.rank != 0 && is_within_device(p);
    case copy_path::none:
    case copy_path::host: break;
  }
  return false;
}

// Returns the path of the options if it is possible, else the fastest. Throws if the path is not
// possible and comes from copy_options. The plan must be complete except for its path.
copy_path choose_path(plan const& p, timing when) {
  base::active_options const& options = base::options();
  bool const is_requested = options.path != copy_path::none;
  if (is_requested && is_possible(p, when, options.path)) return options.path;
  if (options.is_path_required) base::throw_impossible_path(options.path);
  return fastest_path(p, when);
}

// Sets the device of a side that names none, if the other side names one: the device that HIP
// reports, else the current one. Memory that all devices can access gets none. To be called for a
// copy between device memories. Throws roc::error.
[[gnu::noinline]] void name_devices(plan& p) {
  bool const names_one = (p.source_device < 0) != (p.destination_device < 0);
  if (!names_one || p.mapped || runtime::has_one_device()) return;
  bool const is_source_named = p.source_device >= 0;
  auto const found =
      platform::query_pointer(is_source_named ? p.canonical.destination : p.canonical.source);
  using native_detail::memory_kind;
  if (found.kind == memory_kind::managed || found.kind == memory_kind::host) return;
  bool const is_known = found.kind == memory_kind::device;
  int& unnamed = is_source_named ? p.destination_device : p.source_device;
  unnamed = is_known ? found.device : runtime::current_device();
}

// Sets the host ranges of device sides that are device addresses of mapped host memory.
[[gnu::noinline]] void find_mapped_memory(plan& p) {
  using layout::side;
  for (side const s : {side::source, side::destination}) {
    if (s == side::source ? is_from_host(p.kind) : is_to_host(p.kind)) continue;
    auto const range =
        memory::device_aliases::instance().host_range_of(layout::byte_range_of(p.canonical, s));
    if (!range) continue;
    if (s == side::destination) memory::host_table::instance().check_writable(*range);
    p.host_ranges[static_cast<std::size_t>(s)] = *range;
    p.mapped = true;
  }
}

// Sets the members that depend on the kinds of memory, and the path. The other members are set. The
// host table does not know memory that other code has pinned: the regions state it. Inlined into
// both forms of make_plan, which every copy calls.
[[gnu::always_inline]] inline void complete(plan& p, timing when, detail::source_use use) {
  using layout::side;
  auto const& table = memory::host_table::instance();
  bool const from_host = is_from_host(p.kind);
  bool const to_host = is_to_host(p.kind);
  auto const host_range_of = [&](side host_side) -> base::byte_range& {
    return p.host_ranges[static_cast<std::size_t>(host_side)];
  };
  if (from_host || to_host) {
    side const host_side = from_host ? side::source : side::destination;
    auto const range = layout::byte_range_of(p.canonical, host_side);
    auto const memory = table.query_access(range, !from_host);
    host_range_of(host_side) = range;
    p.host_partly_pinned = p.host_partly_pinned || memory.partly_pinned;
    p.host_pinned = memory.pinned || (p.host_pinned && !memory.partly_pinned);
    p.host_managed = memory.managed;
    // The memory may have been adopted, or registered in part, since its kind was looked up.
    p.is_untracked[static_cast<std::size_t>(host_side)] = p.host_pinned && !memory.pinned;
  }
  if (from_host && to_host) {
    auto const range = layout::byte_range_of(p.canonical, side::destination);
    host_range_of(side::destination) = range;
    // The CPU may write memory that the device must not.
    if (table.query_access(range, false).partly_pinned) p.host_partly_pinned = true;
  }
  if (!memory::device_aliases::instance().empty()) [[unlikely]]
    find_mapped_memory(p);
  // Untracked memory may count as device memory, but the CPU can access it at the same addresses.
  // The range of a device address that the library has given out is that of the host addresses.
  auto const add_untracked_range = [&](side s) {
    bool const is_untracked = p.is_untracked[static_cast<std::size_t>(s)];
    if (is_untracked && host_range_of(s).bytes() == 0) [[unlikely]]
      host_range_of(s) = layout::byte_range_of(p.canonical, s);
  };
  add_untracked_range(side::source);
  add_untracked_range(side::destination);
  if (p.kind == copy_kind::device_to_device) name_devices(p);
  bool const is_copied_at_once = !p.host_pinned && use == detail::source_use::copied;
  p.reads_source_now = from_host && (when == timing::now || is_copied_at_once);
  p.path = choose_path(p, when);
}

// Plans a copy of at least one element; the shapes have been checked. A function of its own, so
// that the result is constructed in place.
plan plan_nonempty(detail::strided_region const& source, detail::strided_region const& destination,
                   copy_kind kind, timing when, detail::source_use use) {
  plan result(source, destination, kind);
  complete(result, when, use);
  return result;
}

}  // namespace

plan make_plan(detail::strided_region const& source, detail::strided_region const& destination,
               timing when, detail::source_use use) {
  check_shapes(source, destination);
  copy_kind const kind = copy_kind_of(source, destination);
  if (is_empty(source)) return plan(kind);
  return plan_nonempty(source, destination, kind, when, use);
}

plan make_plan(layout::canonical_layout const& validated, copy_kind kind, side_memory const& source,
               side_memory const& destination, timing when, detail::source_use use) {
  plan result(validated, kind, source, destination);
  complete(result, when, use);
  return result;
}

}  // namespace roc::transfer

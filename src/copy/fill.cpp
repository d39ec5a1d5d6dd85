// SPDX-License-Identifier: MIT
// The entry point of every fill: hipMemsetAsync or a kernel on the device, the CPU on the host.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <roc/detail/strided_region.hpp>
#include <roc/error.hpp>

#include "copy/host_function.hpp"
#include "copy/operation.hpp"
#include "copy/staging/pack.hpp"
#include "copy/validate.hpp"
#include "kernels/fill.hpp"
#include "layout/canonical_layout.hpp"
#include "layout/region_bounds.hpp"
#include "memory/host/device_aliases.hpp"
#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "runtime/stream_handle.hpp"

namespace roc {
namespace {

using layout::canonical_layout;

// A pattern of up to 16 bytes. Holds a copy, because the caller's value may change after the call.
struct fill_pattern {
  std::array<std::byte, 16> bytes{};
  std::size_t size = 1;

  bool has_equal_bytes() const {
    return std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                       [this](std::byte value) { return value == bytes[0]; });
  }
};

// Returns the pattern, shortened to one byte if all its bytes are equal.
fill_pattern make_pattern(void const* data, std::size_t size) {
  fill_pattern result;
  std::memcpy(result.bytes.data(), data, size);
  result.size = size;
  if (result.has_equal_bytes()) result.size = 1;
  return result;
}

void enqueue_on_device(canonical_layout const& canonical, fill_pattern const& pattern,
                       hipStream_t stream) {
  if (canonical.rank == 0 && pattern.size == 1) {
    ROCARRAY_HIP(hipMemsetAsync, canonical.destination, std::to_integer<int>(pattern.bytes[0]),
                 canonical.run, stream);
  } else {
    kernels::fill(canonical, pattern.bytes.data(), pattern.size, stream);
  }
}

// Fills in the order of `*stream`. If `stream` is null, fills after all earlier work and blocks
// until complete.
void fill_region(detail::strided_region const& destination, fill_pattern const& pattern,
                 stream_ref const* stream) {
  platform::refuse_in_host_function();
  if (transfer::is_empty(destination)) return transfer::check_stream(stream);
  if (destination.data == nullptr) {
    throw lifetime_error(
        "the destination was moved from or never allocated; use an array that owns memory");
  }
  layout::checked_range(destination, "the destination");
  auto const canonical = layout::canonicalize(destination, destination, layout::side::destination);
  bool const on_device = destination.space == detail::memory_space::device;
  auto const range = layout::byte_range_of(canonical, layout::side::destination);
  auto host_range =
      on_device ? memory::device_aliases::instance().host_range_of(range) : std::optional(range);
  if (on_device && host_range) memory::host_table::instance().check_writable(*host_range);
  // The CPU can access memory that other code pinned or manages at the same addresses.
  if (!host_range && destination.is_untracked) host_range = range;

  transfer::operation op;
  op.device = destination.device;
  op.on_host_only = !on_device;
  op.uses_default_stream = on_device;
  if (on_device) op.device_memory[0] = destination.data;
  if (host_range) op.host_writes = {&*host_range, 1};
  op.records_write_ranges = !on_device || destination.is_untracked;
  op.are_writes_untracked = destination.is_untracked;
  if (!on_device) {
    op.access = transfer::host_access::by_cpu;
    op.uses_host_functions = true;
    auto const memory = memory::host_table::instance().query_access(range, false);
    op.has_partly_pinned = memory.partly_pinned || destination.is_partly_pinned;
  }
  transfer::run_operation(transfer::trace_scope(canonical, on_device), op, stream,
                          [&](stream_ref target) {
                            if (on_device)
                              return enqueue_on_device(canonical, pattern, runtime::handle(target));
                            auto const fill = [canonical, pattern]() noexcept {
                              transfer::fill_on_host(canonical, pattern.bytes.data(), pattern.size);
                            };
                            if (stream == nullptr) return fill();
                            transfer::enqueue_host_function(target, fill);
                          });
}

}  // namespace

void detail::fill(strided_region const& destination, void const* pattern,
                  stream_ref const* stream) {
  fill_region(destination, make_pattern(pattern, destination.element_size), stream);
}

void detail::zero(strided_region const& destination, stream_ref const* stream) {
  fill_region(destination, fill_pattern(), stream);
}

}  // namespace roc

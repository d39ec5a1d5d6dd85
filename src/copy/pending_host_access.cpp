// SPDX-License-Identifier: MIT
#include "copy/pending_host_access.hpp"

#include "platform/hip.hpp"
#include "runtime/stream_handle.hpp"

#if ROCARRAY_PLATFORM_HOST
#include "platform/host/launch.hpp"
#endif

namespace roc::transfer {

bool tracks_pending_access() noexcept {
#if ROCARRAY_PLATFORM_HOST
  return host_hip::tracks_work();
#else
  return false;
#endif
}

void track_pending_access([[maybe_unused]] layout::canonical_layout const& copy,
                          [[maybe_unused]] layout::side host_side,
                          [[maybe_unused]] stream_ref stream) noexcept {
#if ROCARRAY_PLATFORM_HOST
  if (!tracks_pending_access()) return;
  host_hip::accessed_memory memory;
  memory.is_written = host_side == layout::side::destination;
  memory.data = memory.is_written ? copy.destination : copy.source;
  memory.run = copy.run;
  memory.rank = copy.rank;
  for (std::size_t i = 0; i != copy.rank; ++i) {
    layout::axis const& axis = copy.axes[i];
    memory.axes[i] = {axis.extent, memory.is_written ? axis.destination : axis.source};
  }
  host_hip::track_host_functions(runtime::handle(stream), memory);
#endif
}

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
// Named ranges in a profiler's timeline.
#pragma once

#include <roc/config.hpp>

namespace roc {

/// A named range of the calling thread, for the profiler that the process runs under: roctx on AMD
/// (rocprofv3 --marker-trace, rocprof --roctx-trace), NVTX on NVIDIA (nsys, ncu). Ranges nest; one
/// ends at the end of its scope, in the thread that began it. The library gives its own copies and
/// fills such ranges, "roc::copy host_to_device dma 4096 bytes"; with a stream they cover the
/// enqueueing, not the work.
///
/// The profiler is looked for once, when the first range begins: nothing is linked, and where there
/// is none a range costs a load and a branch. `ROCARRAY_PROFILER=off` in the environment switches it
/// off, `ROCARRAY_PROFILER=/path/library.so` names the library (of roctxRangePushA and roctxRangePop, or
/// NVTX's names); one that cannot be loaded is reported on stderr. Never throws.
class [[nodiscard]] ROCARRAY_API profiler_range {
 public:
  /// `name` is read now.
  explicit profiler_range(char const* name) noexcept;
  ~profiler_range();
  profiler_range(profiler_range const&) = delete;
  profiler_range& operator=(profiler_range const&) = delete;

  /// Whether a profiler takes ranges: names that are costly to make are not needed otherwise.
  static bool active() noexcept;
};

}  // namespace roc

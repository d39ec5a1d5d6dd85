// SPDX-License-Identifier: MIT
// Named ranges in a profiler's timeline.
#pragma once

#include <roc/config.hpp>

namespace roc {

/// A named range of the calling thread in the timeline of the profiler that the process runs under:
/// roctx on AMD (rocprofv3 --marker-trace, rocprof --roctx-trace), NVTX on NVIDIA (nsys, ncu).
///
/// A range ends at the end of its scope, in the thread that began it. Ranges nest. The library
/// creates ranges for its own copies and fills, such as "roc::copy host_to_device dma 4096 bytes".
/// For a call with a stream the range covers the enqueueing, not the work.
///
/// The profiler is searched for once, when the first range begins. Nothing is linked, and without a
/// profiler a range costs two loads and a branch. options::profiler_ranges enables ranges.
/// ROCARRAY_PROFILER=/path/library.so in the environment selects the library (with roctxRangePushA
/// and roctxRangePop, or NVTX's functions). If it cannot be loaded, a message goes to stderr. Never
/// throws.
class [[nodiscard]] ROCARRAY_API profiler_range {
 public:
  /// Begins a range. `name` is not used after the call.
  explicit profiler_range(char const* name) noexcept;
  ~profiler_range();
  profiler_range(profiler_range const&) = delete;
  profiler_range& operator=(profiler_range const&) = delete;

  /// Returns true if a profiler records ranges. Use it to skip building names that are costly.
  static bool active() noexcept;

 private:
  int (*end_)();  // null if no profiler was active at the beginning
};

}  // namespace roc

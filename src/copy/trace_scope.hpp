// SPDX-License-Identifier: MIT
// Profiler ranges and trace lines of copies, fills and batches.
#pragma once

#include <cstddef>
#include <optional>

#include <roc/profiler_range.hpp>

#include "base/log.hpp"
#include "copy/plan.hpp"

namespace roc::transfer {

/// Writes one log line of level trace and opens a profiler range, which ends with the scope. Does
/// nothing if neither a profiler nor the trace level is active.
class trace_scope {
 public:
  /// Traces a copy.
  explicit trace_scope(plan const& p) {
    if (is_enabled()) [[unlikely]]
      begin_copy(p);
  }
  /// Traces a fill of device memory or host memory.
  trace_scope(layout::canonical_layout const& canonical, bool on_device) {
    if (is_enabled()) [[unlikely]]
      begin_fill(canonical, on_device);
  }
  /// Traces a batch of `copies` copies with `bytes` bytes in total.
  trace_scope(std::size_t copies, std::size_t bytes) {
    if (is_enabled()) [[unlikely]]
      begin_batch(copies, bytes);
  }

 private:
  static bool is_enabled() noexcept {
    return profiler_range::active() || base::logs(base::log_level::trace);
  }
  // Format the name and call begin.
  void begin_copy(plan const& p);
  void begin_fill(layout::canonical_layout const& canonical, bool on_device);
  void begin_batch(std::size_t copies, std::size_t bytes);
  // Writes the log line and opens the range.
  void begin(char const* name);

  std::optional<profiler_range> range_;
};

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
// Copies, fills and batches as profilers and the log see them.
#pragma once

#include <cstddef>
#include <optional>

#include <roc/profiler_range.hpp>

#include "base/log.hpp"
#include "copy/plan.hpp"

namespace roc::transfer {

/// A range of the profiler and a line of level trace, for as long as the call runs.
class trace_scope {
 public:
  explicit trace_scope(plan const& p) {
    if (wanted()) [[unlikely]] begin_copy(p);
  }
  /// A fill.
  trace_scope(layout::canonical_layout const& form, bool on_device) {
    if (wanted()) [[unlikely]] begin_fill(form, on_device);
  }

  /// A batch of `copies`.
  trace_scope(std::size_t copies, std::size_t bytes) {
    if (wanted()) [[unlikely]] begin_batch(copies, bytes);
  }

 private:
  static bool wanted() noexcept {
    return profiler_range::active() || base::logs(base::log_level::trace);
  }
  void begin_copy(plan const& p);
  void begin_fill(layout::canonical_layout const& form, bool on_device);
  void begin_batch(std::size_t copies, std::size_t bytes);
  void begin(char const* name);

  std::optional<profiler_range> range_;
};

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
// Copies, fills and batches as profilers and the log see them.
#pragma once

#include <cstddef>
#include <optional>

#include <roc/profiler_range.hpp>

#include "runtime/log.hpp"
#include "transfer/plan.hpp"

namespace roc::transfer {

/// A range of the profiler and a line of level trace, for as long as the call runs.
class operation_range {
 public:
  explicit operation_range(plan const& p) {
    if (wanted()) [[unlikely]] begin_copy(p);
  }
  /// A fill.
  operation_range(normal_form const& form, bool on_device) {
    if (wanted()) [[unlikely]] begin_fill(form, on_device);
  }

  /// A batch of `copies`.
  operation_range(std::size_t copies, std::size_t bytes) {
    if (wanted()) [[unlikely]] begin_batch(copies, bytes);
  }

 private:
  static bool wanted() noexcept {
    return profiler_range::active() || runtime::logs(runtime::log_level::trace);
  }
  void begin_copy(plan const& p);
  void begin_fill(normal_form const& form, bool on_device);
  void begin_batch(std::size_t copies, std::size_t bytes);
  void begin(char const* name);

  std::optional<profiler_range> range_;
};

}  // namespace roc::transfer

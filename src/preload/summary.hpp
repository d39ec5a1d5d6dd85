// SPDX-License-Identifier: MIT
// Counts the program's copies by outcome, and prints the summary at exit.
#pragma once

#include <cstdint>

#include "preload/call_sites.hpp"
#include "preload/request.hpp"

namespace roc::preload {

/// Counts one call. Thread-safe, without a lock.
void count_copy(call_site& site, call function, outcome result, std::uint64_t bytes) noexcept;
/// Counts the duration of a copy that the library or, for outcome::to_measure, the vendor's
/// function has done.
void count_duration(outcome result, copy_report const& report, std::uint64_t bytes) noexcept;
/// Returns true if the vendor's rate is to be measured with the next copy of this direction: with
/// the second and the third of those that could be served. The first one may contain the
/// initialization of the runtime. Threads that copy at the same time may all get true.
bool is_vendor_to_be_measured(direction asked) noexcept;

/// Sets all counters to 0.
void clear_counters() noexcept;
/// Writes the summary to stderr, unless nothing was counted. `reason`: why the library could not be
/// loaded; may be empty.
void print_summary(char const* reason) noexcept;

}  // namespace roc::preload

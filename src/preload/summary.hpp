// SPDX-License-Identifier: MIT
// Counts the program's copies by outcome, and prints the summary at exit.
#pragma once

#include <cstdint>

#include "preload/call_sites.hpp"
#include "preload/request.hpp"

namespace roc::preload {

/// Counts one call. `is_pageable`: the host memory, if it was looked up. Thread-safe, without a
/// lock.
void count_copy(call_site& site, call function, outcome result, std::uint64_t bytes,
                bool is_pageable) noexcept;
/// Counts the duration of a copy that the library or, for outcome::to_measure, the vendor's
/// function has done.
void count_duration(outcome result, copy_report const& report, std::uint64_t bytes) noexcept;

/// Sets all counters to 0.
void clear_counters() noexcept;
/// Writes the summary to stderr, unless nothing was counted. `reason`: why the library could not be
/// loaded; may be empty.
void print_summary(char const* reason) noexcept;

}  // namespace roc::preload

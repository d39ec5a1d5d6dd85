// SPDX-License-Identifier: MIT
// Decides whether a copy of the program is served by the library, and has it served.
#pragma once

#include "preload/call_sites.hpp"
#include "preload/request.hpp"

namespace roc::preload {

/// Has a copy served, or finds out why it must be passed on. Counts it. Never throws. Blocks until
/// the copy is complete if it is served, unless it is within a device: that one is enqueued. For
/// outcome::to_measure, the caller measures the vendor's function and passes the duration to
/// add_duration in `report`.
outcome serve(call_site& site, call function, copy_request request, copy_report& report) noexcept;

/// Adds the duration of a copy that was served or, for outcome::to_measure, done by the vendor's
/// function: for the summary, and for the choice of who does further copies.
void add_duration(outcome result, copy_request const& request, copy_report const& report) noexcept;

/// Returns true if the summary is printed at exit. Only then are the call sites needed.
bool wants_summary() noexcept;

/// Announces a capture (see captures.hpp) before the program begins it. Waits for the copies in
/// flight, but not for long: a copy may wait for work that the calling thread enqueues next.
void before_capture() noexcept;

/// Called when the program resets a device, which destroys what the library has allocated there.
/// Copies of that device are not served from then on, if the library has used it before.
void before_reset(int device) noexcept;

}  // namespace roc::preload

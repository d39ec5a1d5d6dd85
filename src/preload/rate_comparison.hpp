// SPDX-License-Identifier: MIT
// Compares the durations of served copies with those of the vendor's functions, and decides who
// does the next copy. Other threads of the program can slow the library's down, such as those of
// OpenMP, which spin. Only who copies depends on the comparison, never what is copied.
#pragma once

#include "preload/request.hpp"

namespace roc::preload {

/// Decides who does a copy that can be served. `report` has its direction and kind of host memory.
/// Returns outcome::served; outcome::to_measure if the vendor's function is to do the copy so that
/// its duration is known; or outcome::vendor_faster. Counts the copy. Thread-safe, without a
/// lock.
///
/// Copies are compared within a class: the direction, the power of two of the bytes, contiguous or
/// strided with a range of row widths, synchronous or not, pinned or pageable. The second and third
/// copy of a class are the vendor's (of large ones a later pair), then two in a row now and then.
/// While served copies are more than 5 % slower than the vendor's, by the medians of the last three
/// of each, the class is the vendor's, and two copies in a row are served now and then, before two
/// of the vendor's are measured again.
outcome choose_copier(copy_request const* request, copy_report const* report) noexcept;

/// Returns true if choose_copier would return outcome::vendor_faster, if the copy can be served:
/// the look-ups of the memory can be omitted. Then counts the copy. Always false for a copy whose
/// class cannot be told from the request.
bool is_left_to_vendor(copy_request const& request) noexcept;

/// Adds the duration of a copy that was served or, for outcome::to_measure, done by the vendor's
/// function. The first served copy of a class is not used: it may allocate.
void compare_duration(outcome result, copy_request const& request,
                      copy_report const& report) noexcept;

/// Forgets all durations.
void clear_comparison() noexcept;

}  // namespace roc::preload

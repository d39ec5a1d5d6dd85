// SPDX-License-Identifier: MIT
#pragma once

#include <roc/roc.hpp>

namespace roc::test {

/// Launches a kernel with bounds checks that writes the element at `index`.
void write_at(stream_ref stream, device_view<int> v, int index);
/// Launches a kernel with bounds checks that takes the slice up to `stop` and writes its first
/// element.
void write_in_slice(stream_ref stream, device_view<int> v, int stop);
/// Launches a kernel with bounds checks that reserves three slots of a queue and writes the one at
/// `index`.
void write_in_reservation(stream_ref stream, int index);

/// Wrong uses of a queue's reservations.
enum class queue_misuse {
  none,
  second_commit,
  beyond_capacity,
  min_beyond_capacity,
  min_beyond_count
};
/// Launches a kernel with bounds checks that uses a queue correctly, then in the given way.
void misuse_queue(stream_ref stream, queue_misuse misuse);

}  // namespace roc::test

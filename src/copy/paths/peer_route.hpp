// SPDX-License-Identifier: MIT
// How a copy between two devices is done: by one of them, which accesses the memory of the other,
// or by both, through scratch memory.
#pragma once

#include <roc/stream.hpp>

#include "copy/plan.hpp"

namespace roc::transfer {

/// The side whose device executes a strided copy between two devices, if no stream selects it.
enum class executing_side : unsigned char {
  source,       // it writes to the other device
  destination,  // it reads from the other device
};

/// Equally fast on two H100 with NVLink: a kernel that reads the memory of the peer, and one that
/// writes to it, reach 364 to 373 of 395 GB/s. Not measured on AMD, nor over PCI Express.
inline constexpr executing_side fastest_executing_side = executing_side::destination;

struct peer_route {
  /// One call of HIP or one kernel executes the copy: the device has access to the memory of the
  /// other, or HIP needs none for the path. Otherwise copy_between_devices executes it.
  bool is_direct;
  int device;        // executes the copy: the device of the stream if there is one
  int other_device;  // the device of the other memory
};

/// Returns how to copy between the devices `p.source_device` and `destination_device`, which
/// differ. If `stream` is null, the copy is done on a default stream. The first call for a pair of
/// devices enables the access of one to the memory of the other, unless options::peer_access is
/// false or a graph is captured. Otherwise does not call HIP, except about memory that other code
/// has allocated. Throws roc::error.
peer_route find_peer_route(plan const& p, int destination_device, stream_ref const* stream);

/// Throws the error of a copy whose options demand a path that needs peer access.
[[noreturn]] void throw_no_access(plan const& p, int destination_device);

}  // namespace roc::transfer

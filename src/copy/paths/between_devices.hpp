// SPDX-License-Identifier: MIT
// Strided copies between two devices, neither of which can access the other's memory.
#pragma once

#include <roc/stream.hpp>

#include "layout/canonical_layout.hpp"

namespace roc::transfer {

/// Enqueues a copy from memory of `from_device` to memory of `to_device`, in chunks of half of
/// active_options::chunk_bytes. A side that is not contiguous is copied through scratch memory on
/// its device: each chunk is gathered on the source device, sent, and scattered on the destination
/// device. The steps of successive chunks overlap. HIP sends through host memory if the devices are
/// not connected. Creates streams and events only if more copies are pending than the library keeps
/// them for (see auxiliary_streams_guard).
/// @param stream a stream of one of the two devices, whose order the copy keeps. Its
///   device_ordinal() must be set, also for a default stream.
/// Blocks only if all scratch memory of a device is in use. Throws roc::error; no work of the copy
/// is pending then.
void copy_between_devices(layout::canonical_layout const& canonical, int from_device, int to_device,
                          stream_ref stream);

}  // namespace roc::transfer

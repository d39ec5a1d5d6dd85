// SPDX-License-Identifier: MIT
// A stream together with its device.
#pragma once

#include <roc/event.hpp>
#include <roc/stream.hpp>

#include "platform/hip.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

namespace roc::transfer {

/// A stream and its device, which a default stream does not name.
struct stream_on_device {
  stream_ref stream;
  int device;

  hipStream_t native() const { return runtime::handle(stream); }
  runtime::stream_id const& id() const { return runtime::stream_id_of(stream, device); }
  /// Records an event of the device, as runtime::record does. The device need not be current.
  void record(event& reached) const {
    runtime::on_device const guard(device);
    runtime::record(reached, id());
  }
  /// Makes work enqueued from now on wait for the event, as runtime::wait does.
  void wait(event const& reached) const { runtime::wait(id(), reached); }
};

}  // namespace roc::transfer

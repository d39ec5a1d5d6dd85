// SPDX-License-Identifier: MIT
#include "memory/pending_uses.hpp"

#include <exception>

#include <algorithm>

#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"

namespace roc::memory {

void pending_uses::note(stream_ref stream) {
  int const device = runtime::device_of(stream, runtime::current_device());
  runtime::on_device const guard(device);
  stream_ref const key(stream.handle(), device, stream.kind());
  for (use& known : uses_) {
    if (known.stream == key) {
      // A destroyed stream's handle may come back: its last work is not this stream's yet.
      if (!known.done.query()) stream.wait(known.done);
      known.done.record(stream);
      return;
    }
  }
  uses_.push_back({key, event()});
  uses_.back().done.record(stream);
}

void pending_uses::wait() const {
  std::exception_ptr failure;
  for (use const& each : uses_) {
    try {
      each.done.synchronize();
    } catch (...) {
      if (!failure) failure = std::current_exception();  // the others still use it
    }
  }
  if (failure) std::rethrow_exception(failure);
}

bool pending_uses::done() const {
  return std::all_of(uses_.begin(), uses_.end(),
                     [](use const& each) { return each.done.query(); });
}

}  // namespace roc::memory

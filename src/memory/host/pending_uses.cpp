// SPDX-License-Identifier: MIT
#include "memory/host/pending_uses.hpp"

#include <algorithm>
#include <exception>

#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::memory {

void pending_uses::record_use(stream_ref stream) {
  int const stream_device = stream.device_ordinal();
  int const device = stream_device >= 0 ? stream_device : runtime::current_device();
  auto const id = runtime::stream_id_of(stream, device);
  if (!id.is_foreign()) {
    if (std::find(streams_.begin(), streams_.end(), id) != streams_.end()) return;
    // Long-lived memory must not accumulate the uses of short-lived streams.
    if (streams_.size() >= 8) std::erase_if(streams_, runtime::is_finished);
    streams_.push_back(id);
    return;
  }
  runtime::on_device const guard(device);
  for (foreign_use& use : foreign_uses_) {
    if (use.stream == id) {
      // The handle may now belong to another stream, which is not ordered after the event.
      if (!use.done.query()) stream.wait(use.done);
      use.done.record(stream);
      return;
    }
  }
  foreign_uses_.push_back({id, event()});
  foreign_uses_.back().done.record(stream);
}

void pending_uses::record_events() {
  while (!streams_.empty()) {
    if (auto reached = runtime::record(streams_.back())) events_.push_back(std::move(reached));
    streams_.pop_back();
  }
}

void pending_uses::wait() {
  std::exception_ptr failure;
  while (!streams_.empty()) {
    try {
      record_events();
    } catch (...) {
      // The memory must not be freed while work uses it: without an event, waits for the stream.
      if (!failure) failure = std::current_exception();
      runtime::stream_id const stream = streams_.back();
      if (runtime::stream_keepalive const keepalive(stream); keepalive) {
        platform::log_if_throws([&] {
          runtime::on_device const guard(stream.device());  // a default stream is the current one's
          runtime::synchronize_quietly(stream.stream());
        });
      }
      streams_.pop_back();
    }
  }
  auto const wait_for = [&](event const& e) {
    try {
      e.synchronize();
    } catch (...) {
      if (!failure) failure = std::current_exception();  // other work still uses the memory
    }
  };
  for (auto const& e : events_) wait_for(*e);
  for (foreign_use const& use : foreign_uses_) wait_for(use.done);
  if (failure) std::rethrow_exception(failure);
}

bool pending_uses::has_finished() const {
  return std::all_of(events_.begin(), events_.end(), [](auto const& e) { return e->query(); }) &&
         std::all_of(foreign_uses_.begin(), foreign_uses_.end(),
                     [](foreign_use const& use) { return use.done.query(); });
}

}  // namespace roc::memory

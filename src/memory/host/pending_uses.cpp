// SPDX-License-Identifier: MIT
#include "memory/host/pending_uses.hpp"

#include <algorithm>
#include <exception>

#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"

namespace roc::memory {

void pending_uses::note(stream_ref stream) {
  int const known_device = stream.device_ordinal();
  int const device = known_device >= 0 ? known_device : runtime::current_device();
  auto const mark = runtime::mark_of(stream, device);
  if (!mark.is_foreign()) {
    if (std::find(streams_.begin(), streams_.end(), mark) != streams_.end()) return;
    // Streams come and go while memory stays.
    if (streams_.size() >= 8) std::erase_if(streams_, runtime::is_over);
    streams_.push_back(mark);
    return;
  }
  runtime::on_device const guard(device);
  for (use& known : others_) {
    if (known.stream == mark) {
      // A destroyed stream's handle may come back: its last work is not this stream's yet.
      if (!known.last.query()) stream.wait(known.last);
      known.last.record(stream);
      return;
    }
  }
  others_.push_back({mark, event()});
  others_.back().last.record(stream);
}

void pending_uses::settle() {
  while (!streams_.empty()) {
    if (auto reached = runtime::record(streams_.back())) events_.push_back(std::move(reached));
    streams_.pop_back();
  }
}

void pending_uses::wait() {
  std::exception_ptr failure;
  while (!streams_.empty()) {
    try {
      settle();
    } catch (...) {
      // The memory must not go before the work has: without an event, the whole stream is awaited.
      if (!failure) failure = std::current_exception();
      runtime::stream_id const last = streams_.back();
      if (runtime::stream_use const held(last); held) {
        platform::log_if_throws([&] {
          runtime::on_device const guard(last.device());  // a default stream is the current one's
          runtime::synchronize_quietly(last.stream());
        });
      }
      streams_.pop_back();
    }
  }
  auto const wait_for = [&](event const& each) {
    try {
      each.synchronize();
    } catch (...) {
      if (!failure) failure = std::current_exception();  // the others still use it
    }
  };
  for (auto const& each : events_) wait_for(*each);
  for (use const& each : others_) wait_for(each.last);
  if (failure) std::rethrow_exception(failure);
}

bool pending_uses::done() const {
  return std::all_of(events_.begin(), events_.end(),
                     [](auto const& each) { return each->query(); }) &&
         std::all_of(others_.begin(), others_.end(),
                     [](use const& each) { return each.last.query(); });
}

}  // namespace roc::memory

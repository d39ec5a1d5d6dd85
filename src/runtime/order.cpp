// SPDX-License-Identifier: MIT
// Calls without a stream run on the legacy default stream, which waits for every blocking stream by
// itself. For streams that others made non-blocking the library keeps an event of its last work.
#include <map>
#include <mutex>
#include <utility>

#include <roc/event.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"

namespace roc::runtime {
namespace {

struct noted_work {
  std::mutex mutex;
  // An event stays with its stream for good: there are few such streams, and an event is small.
  std::map<std::pair<int, detail::native_stream*>, event> last;
};

// Leaked on purpose: the runtime may be gone before static destructors run.
noted_work& state() {
  static auto* const instance = new noted_work;
  return *instance;
}

}  // namespace

void note_work(stream_ref stream) {
  if (stream.kind() != detail::stream_kind::non_blocking) return;
  on_device const guard(stream.device_ordinal());
  std::lock_guard const lock(state().mutex);
  auto const [place, fresh] =
      state().last.try_emplace({stream.device_ordinal(), stream.handle()});
  // A destroyed stream's handle may come back: its last work is not this stream's yet.
  if (!fresh && !place->second.query()) stream.wait(place->second);
  place->second.record(stream);
}

void order_after_all(int device) {
  std::lock_guard const lock(state().mutex);
  for (auto& [key, event] : state().last) {
    if (key.first == device) stream_ref().wait(event);
  }
}

void wait_for_all(int device) {
  order_after_all(device);
  // An event in the default stream is work there, and so comes after every blocking stream.
  event reached;
  reached.record();
  reached.synchronize();
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
// Calls without a stream run on the legacy default stream, which waits for every blocking stream by
// itself. For non-blocking streams, its own or others', the library keeps an event of its last
// work.
#include <exception>
#include <list>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include <roc/device.hpp>
#include <roc/event.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "base/error.hpp"
#include "runtime/stream.hpp"

namespace roc::runtime {
namespace {

struct noted_work {
  std::mutex mutex;
  using entries = std::map<std::pair<int, detail::native_stream*>, event>;
  // An event stays with a stream of others for good: there are few such streams, and an event is
  // small.
  entries last;
  // Of destroyed streams, until it is done.
  std::list<entries::node_type> orphans;
};

// How much work was noted, and the device that was last waited for when so much had been: one
// number, so that both are of one wait.
std::atomic<std::uint64_t> noted = 0;
std::atomic<std::uint64_t> waited = 0;

std::uint64_t mark(std::uint64_t count, int device) {
  return (count << 8) | static_cast<std::uint64_t>(device);
}

// Leaked on purpose: the runtime may be gone before static destructors run.
noted_work& state() {
  static auto* const instance = new noted_work;
  return *instance;
}

}  // namespace

void note_work(stream_ref stream) {
  noted.fetch_add(1);
  if (stream.kind() != detail::stream_kind::non_blocking) return;
  on_device const guard(stream.device_ordinal());
  std::lock_guard const lock(state().mutex);
  auto const [place, fresh] =
      state().last.try_emplace({stream.device_ordinal(), stream.handle()});
  // A destroyed stream's handle may come back: its last work is not this stream's yet.
  if (!fresh && !place->second.query()) stream.wait(place->second);
  place->second.record(stream);
}

void forget_work(stream_ref stream) noexcept {
  if (stream.kind() != detail::stream_kind::non_blocking) return;
  try {
    std::lock_guard const lock(state().mutex);
    state().orphans.remove_if([](auto const& orphan) { return orphan.mapped().query(); });
    auto const place = state().last.find({stream.device_ordinal(), stream.handle()});
    if (place == state().last.end()) return;
    state().orphans.emplace_back(state().last.extract(place));
  } catch (std::exception const& late) {
    base::log(late.what());
  }
}

void order_after_all(int device) {
  std::lock_guard const lock(state().mutex);
  for (auto& [key, event] : state().last) {
    if (key.first == device) stream_ref().wait(event);
  }
  for (auto const& orphan : state().orphans) {
    if (orphan.key().first == device) stream_ref().wait(orphan.mapped());
  }
}

bool has_work_since_wait(int device) noexcept {
  return mark(noted.load(), device) != waited.load();
}

void wait_for_all(int device) {
  std::uint64_t const before = noted.load();
  order_after_all(device);
  // An event in the default stream is work there, and so comes after every blocking stream.
  event reached;
  reached.record();
  reached.synchronize();
  // Where another thread has waited for more, the next wait is in vain.
  waited.store(mark(before, device));
}

void wait_for_devices() {
  for (int device = 0; device < roc::device::count(); ++device) {
    on_device const guard(device);
    ROCARRAY_HIP(hipDeviceSynchronize);
  }
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
#include "runtime/default_stream_sync.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include <roc/device.hpp>
#include <roc/event.hpp>

#include "base/error.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"

namespace roc::runtime {
namespace {

// For each non-blocking stream, an event after the last work that was recorded there.
struct recorded_work {
  using event_map = std::map<std::pair<int, detail::native_stream*>, event>;

  std::mutex mutex;  // of all members
  // By device and handle. The entries of streams that the library did not create are never removed:
  // they are few, and an event is small.
  event_map last_work;
  // The entries of destroyed streams, until the event has been reached.
  std::list<event_map::node_type> last_work_of_destroyed;
};

// The number of record_work calls.
std::atomic<std::uint64_t> work_count = 0;
// The work_count at the beginning of the last synchronize_all_streams, and its device. They are
// packed into one number, so that both are updated together.
std::atomic<std::uint64_t> last_wait = 0;

std::uint64_t pack(std::uint64_t count, int device) {
  return (count << 8) | static_cast<std::uint64_t>(device);
}

// Leaked on purpose: the HIP runtime may shut down before static destructors run.
recorded_work& state() {
  static auto* const instance = new recorded_work;
  return *instance;
}

}  // namespace

void record_work(stream_ref stream) {
  work_count.fetch_add(1);
  if (stream.kind() != detail::stream_kind::non_blocking) return;
  on_device const guard(stream.device_ordinal());
  std::lock_guard const lock(state().mutex);
  auto const [entry, inserted] =
      state().last_work.try_emplace({stream.device_ordinal(), stream.handle()});
  auto& last_work = entry->second;
  // The entry may belong to a destroyed stream that had the same handle: recording the event again
  // must not lose that stream's work.
  if (!inserted && !last_work.query()) stream.wait(last_work);
  last_work.record(stream);
}

void forget_stream(stream_ref stream) noexcept {
  if (stream.kind() != detail::stream_kind::non_blocking) return;
  try {
    std::lock_guard const lock(state().mutex);
    auto& of_destroyed = state().last_work_of_destroyed;
    of_destroyed.remove_if([](auto const& node) { return node.mapped().query(); });
    auto const entry = state().last_work.find({stream.device_ordinal(), stream.handle()});
    if (entry == state().last_work.end()) return;
    of_destroyed.emplace_back(state().last_work.extract(entry));
  } catch (std::exception const& error) {
    base::log(error.what());
  }
}

void order_default_stream_after_all(int device) {
  std::lock_guard const lock(state().mutex);
  for (auto& [key, last_work] : state().last_work) {
    if (key.first == device) stream_ref().wait(last_work);
  }
  for (auto const& node : state().last_work_of_destroyed) {
    if (node.key().first == device) stream_ref().wait(node.mapped());
  }
}

bool has_unsynchronized_work(int device) noexcept {
  return pack(work_count.load(), device) != last_wait.load();
}

void synchronize_all_streams(int device) {
  std::uint64_t const count = work_count.load();
  order_default_stream_after_all(device);
  // The event is work of the default stream, and so comes after the work of every blocking stream.
  event reached;
  reached.record();
  reached.synchronize();
  // This may replace the value of another thread that waited for more work. The next wait is then
  // superfluous, but harmless.
  last_wait.store(pack(count, device));
}

void synchronize_all_devices() {
  for (int device = 0; device < roc::device::count(); ++device) {
    on_device const guard(device);
    ROCARRAY_HIP(hipDeviceSynchronize);
  }
}

}  // namespace roc::runtime

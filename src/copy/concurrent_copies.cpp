// SPDX-License-Identifier: MIT
#include "copy/concurrent_copies.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <roc/event.hpp>

#include "base/options.hpp"
#include "copy/execute.hpp"
#include "copy/operation.hpp"
#include "copy/staging/thread_pool.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/host_function_errors.hpp"
#include "runtime/internal_stream.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

namespace roc::transfer {
namespace {

// Below this size the calling thread finishes before a sleeping worker has woken.
constexpr std::size_t min_bytes_for_threads = std::size_t{1} << 20;

// Returns true if the copy engines or a kernel execute the copy in the order of a stream.
bool is_executed_by_device(plan const& p) {
  return p.path == copy_path::none ||
         (runs_on_device(p.path) && (p.kind == copy_kind::device_to_device || p.host_pinned));
}

// Returns true if another thread can enqueue work on the stream.
bool can_be_used_by_threads(stream_ref stream) {
  return !runtime::is_per_thread_handle(stream.handle()) && !runtime::may_be_captured(stream);
}

}  // namespace

void synchronize_quietly(std::span<stream_on_device const> streams) noexcept {
  for (stream_on_device const& item : streams) {
    static_cast<void>(runtime::synchronize_quietly(item.stream, item.device));
  }
}

void order_after_earlier_work(std::span<device_dependency const> work) {
  // By device: after all its earlier work.
  std::map<int, event> reached;
  // The executors that wait for a device.
  std::set<std::pair<int, int>> ordered;
  for (auto const& [executor, device] : work) {
    if (device < 0 || !ordered.emplace(executor.device, device).second) continue;
    auto entry = reached.find(device);
    if (entry == reached.end()) {
      runtime::on_device const guard(device);
      runtime::order_default_stream_after_all(device);
      entry = reached.try_emplace(device).first;
      // HIP orders the default stream after all blocking streams.
      runtime::record(entry->second, runtime::stream_id_of({}, device));
    }
    executor.wait(entry->second);
  }
}

void wait_for(std::span<stream_on_device const> streams) {
  for (stream_on_device const& item : streams) runtime::synchronize(item.stream);
}

stream_on_device concurrent_stream(int device) {
  runtime::on_device const guard(device);
  return {runtime::internal_stream(runtime::internal_stream_use::concurrent_copies), device};
}

void concurrent_copies::add(detail::strided_region const& source,
                            detail::strided_region const& destination, int device,
                            stream_ref const* stream) {
  plan planned = make_plan(source, destination, when_);
  bool const needs_no_cpu = is_executed_by_device(planned);
  if (when_ == timing::now && needs_no_cpu) {
    // Enqueued on an internal stream, for which the call waits.
    planned = make_plan(source, destination, timing::enqueued, detail::source_use::borrowed);
  }
  stream_ref const executor = stream != nullptr ? *stream : stream_ref();
  copies_.push_back({planned, {executor, device}, needs_no_cpu});
}

void concurrent_copies::execute() {
  if (when_ == timing::now) runtime::refuse_uncaptured_call(nullptr);
  if (when_ == timing::enqueued) {
    // By the calling thread: other threads do not know that it captures.
    for (copy const& item : copies_) {
      if (item.planned.path == copy_path::none) continue;
      runtime::refuse_uncaptured_call(&item.executor.stream);
    }
  }
  try {
    enqueue_device_copies();
    run_cpu_copies();
    if (when_ == timing::now) wait();
  } catch (...) {
    wait_quietly();
    throw;
  }
}

void concurrent_copies::wait() const {
  for (copy const& item : copies_) {
    if (may_be_pending(item)) wait_for({&item.executor, 1});
  }
}

// Allocates nothing: memory may be exhausted.
void concurrent_copies::wait_quietly() const noexcept {
  for (copy const& item : copies_) {
    if (may_be_pending(item)) synchronize_quietly({&item.executor, 1});
  }
}

void concurrent_copies::enqueue_device_copies() {
  std::vector<copy*> items;
  for (copy& item : copies_) {
    if (item.needs_no_cpu && item.planned.path != copy_path::none) items.push_back(&item);
  }
  if (when_ == timing::now) {
    // HIP does not run a copy between two devices on a default stream at the same time as other
    // work of the two devices.
    std::vector<device_dependency> work;
    for (copy* const item : items) {
      item->executor = concurrent_stream(item->executor.device);
      work.push_back({item->executor, item->executor.device});
      work.push_back({item->executor, item->planned.source_device});
      work.push_back({item->executor, item->planned.destination_device});
      // On any device, also one that has no part of the work. Uses on the only device are ordered
      // by the dependencies.
      if (runtime::has_one_device()) continue;
      wait_for_host_uses({&item->planned.host_ranges[0], 1}, {&item->planned.host_ranges[1], 1});
    }
    order_after_earlier_work(work);
  }
  for (copy* const item : items) {
    item->has_begun = true;
    runtime::on_device const guard(item->executor.device);
    transfer::execute(item->planned, &item->executor.stream);
  }
}

void concurrent_copies::run(copy& item) const {
  runtime::on_device const guard(item.executor.device);
  item.has_begun = true;
  transfer::execute(item.planned, when_ == timing::now ? nullptr : &item.executor.stream);
}

// Each item is a copy.
class concurrent_copies::cpu_work final : public parallel_work {
 public:
  cpu_work(concurrent_copies const& all, std::span<copy* const> items) : all_(all), items_(items) {}

  bool run_item(std::size_t number, bool) override {
    all_.run(*items_[number]);
    return true;
  }
  // The threads only wait for those of the devices' pools, of which options::copy_threads says how
  // many there are.
  std::size_t max_workers() const noexcept override { return items_.size() - 1; }

 private:
  concurrent_copies const& all_;
  std::span<copy* const> const items_;
};

void concurrent_copies::run_cpu_copies() {
  std::vector<copy*> items;
  std::size_t bytes = 0;
  bool can_use_threads = base::options().copy_threads != 0;
  for (copy& item : copies_) {
    if (item.needs_no_cpu) continue;
    items.push_back(&item);
    bytes += item.planned.canonical.bytes();
    if (when_ == timing::enqueued && !can_be_used_by_threads(item.executor.stream)) {
      can_use_threads = false;
    }
  }
  if (items.size() < 2 || bytes < min_bytes_for_threads || !can_use_threads) {
    for (copy* const item : items) run(*item);
    return;
  }
  cpu_work work(*this, items);
  thread_pool::across_devices().run(items.size(), work);
}

}  // namespace roc::transfer

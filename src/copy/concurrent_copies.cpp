// SPDX-License-Identifier: MIT
#include "copy/concurrent_copies.hpp"

#include <algorithm>
#include <utility>

#include <roc/detail/call_scope.hpp>
#include <roc/event.hpp>

#include "base/options.hpp"
#include "copy/execute.hpp"
#include "copy/staging/thread_pool.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/internal_stream.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

namespace roc::transfer {
namespace {

// Fewer bytes are copied before a thread that sleeps has begun.
constexpr std::size_t min_bytes_for_threads = std::size_t{1} << 20;

// Returns true if the copy engines or a kernel execute the copy in the order of a stream.
bool is_executed_by_device(plan const& p) {
  return p.path == copy_path::none ||
         (runs_on_device(p.path) && (p.kind == copy_kind::device_to_device || p.host_pinned));
}

// Returns true if another thread can enqueue work on the stream.
bool can_be_used_by_threads(stream_ref stream) {
  return !runtime::is_per_thread_handle(stream.handle()) && !runtime::is_captured(stream);
}

}  // namespace

void synchronize_quietly(std::span<stream_on_device const> streams) noexcept {
  for (stream_on_device const& item : streams) {
    platform::log_if_throws([&] {
      runtime::on_device const guard(item.device);
      static_cast<void>(runtime::synchronize_quietly(item.stream));
    });
  }
}

void wait_for_earlier_work(std::span<int const> devices) {
  for (int const device : devices) {
    runtime::on_device const guard(device);
    runtime::synchronize_other_device(device);
  }
}

void wait_for(std::span<stream_on_device const> streams) {
  for (stream_on_device const& item : streams) {
    runtime::on_device const guard(item.device);
    event reached;
    runtime::record(reached, runtime::stream_id_of(item.stream, item.device));
    reached.synchronize();
  }
}

stream_on_device concurrent_stream(int device) {
  runtime::on_device const guard(device);
  return {runtime::internal_stream(runtime::transfer_direction::concurrent), device};
}

void concurrent_copies::add(detail::strided_region const& source,
                            detail::strided_region const& destination, int device,
                            stream_ref const* stream) {
  plan planned = make_plan(source, destination, when_);
  bool const is_on_device = is_executed_by_device(planned);
  if (when_ == timing::now && is_on_device) {
    // Enqueued on an internal stream, for which the call waits.
    planned = make_plan(source, destination, timing::enqueued, detail::source_use::borrowed);
  }
  stream_on_device const executor =
      stream != nullptr ? stream_on_device{*stream, device} : stream_on_device{{}, device};
  copies_.push_back({planned, executor, is_on_device});
}

void concurrent_copies::execute() {
  if (when_ == timing::now) runtime::refuse_uncaptured_call(nullptr);
  try {
    enqueue_device_copies();
    run_cpu_copies();
    if (when_ == timing::now) wait_for(begun_streams());
  } catch (...) {
    synchronize_quietly(begun_streams());
    throw;
  }
}

std::vector<int> concurrent_copies::devices_of_device_copies() const {
  std::vector<int> devices;
  for (copy const& item : copies_) {
    if (!item.is_on_device || item.planned.path == copy_path::none) continue;
    for (int const device :
         {item.planned.source_device, item.planned.destination_device, item.executor.device}) {
      if (device >= 0) devices.push_back(device);
    }
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

// Without streams, only the streams of the device copies have been used; a copy that the CPU takes
// part in is complete, or has waited after its error.
std::vector<stream_on_device> concurrent_copies::begun_streams() const {
  std::vector<stream_on_device> streams;
  for (copy const& item : copies_) {
    if (!item.has_begun || (when_ == timing::now && !item.is_on_device)) continue;
    bool const is_known = std::any_of(streams.begin(), streams.end(), [&](auto const& known) {
      return known.stream == item.executor.stream && known.device == item.executor.device;
    });
    if (!is_known) streams.push_back(item.executor);
  }
  return streams;
}

void concurrent_copies::enqueue_device_copies() {
  if (when_ == timing::now) wait_for_earlier_work(devices_of_device_copies());
  for (copy& item : copies_) {
    if (!item.is_on_device || item.planned.path == copy_path::none) continue;
    // HIP does not run a copy between two devices on a default stream at the same time as other
    // work of the two devices.
    if (when_ == timing::now) item.executor = concurrent_stream(item.executor.device);
    item.has_begun = true;
    runtime::on_device const guard(item.executor.device);
    transfer::execute(item.planned, &item.executor.stream);
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
  cpu_work(concurrent_copies const& all, std::span<copy* const> items)
      : all_(all), items_(items), call_(detail::current_call) {}

  bool run_item(std::size_t number, bool) override {
    if (call_ == nullptr) {
      all_.run(*items_[number]);
      return true;
    }
    // Errors in a worker name the caller's call too.
    detail::call_scope const call(call_->operation(), call_->location(), call_->direction());
    all_.run(*items_[number]);
    return true;
  }
  // The threads only wait for those of the devices' pools, of which options::copy_threads says how
  // many there are.
  std::size_t max_workers() const noexcept override { return items_.size() - 1; }

 private:
  concurrent_copies const& all_;
  std::span<copy* const> const items_;
  detail::call_scope const* const call_;
};

void concurrent_copies::run_cpu_copies() {
  std::vector<copy*> items;
  std::size_t bytes = 0;
  bool can_use_threads = base::options().copy_threads != 0;
  for (copy& item : copies_) {
    if (item.is_on_device) continue;
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

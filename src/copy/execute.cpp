// SPDX-License-Identifier: MIT
#include "copy/execute.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/options.hpp"
#include "copy/host_function.hpp"
#include "copy/operation.hpp"
#include "copy/paths/between_devices.hpp"
#include "copy/paths/dma.hpp"
#include "copy/paths/peer_route.hpp"
#include "copy/pending_host_access.hpp"
#include "copy/staging/pack.hpp"
#include "copy/staging/parallel_staging.hpp"
#include "copy/staging/staged_copy.hpp"
#include "copy/staging/staging_driver.hpp"
#include "copy/staging/stream_ordered_staging.hpp"
#include "kernels/strided_copy.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {
namespace {

// Enqueues a copy between host memories as a host function.
void enqueue_on_host(plan const& p, stream_ref stream) {
  if (!p.reads_source_now) {
    return enqueue_host_function(stream,
                                 [canonical = p.canonical]() noexcept { copy_on_host(canonical); });
  }
  auto packed = std::make_unique_for_overwrite<std::byte[]>(p.canonical.bytes());
  pack(p.canonical, {0, p.canonical.bytes()}, packed.get());
  enqueue_host_function(stream, [canonical = p.canonical, source = std::move(packed)]() noexcept {
    unpack(canonical, {0, canonical.bytes()}, source.get());
  });
}

// Limits the worker threads of a small contiguous copy without a stream: to wake more of them takes
// longer than they save. On 16 cores and an H100, 2 MiB to the device ran at 25 GB/s with three
// workers, and at 21 with twelve; to the host, there was no difference.
class few_workers_scope {
 public:
  explicit few_workers_scope(std::size_t bytes) noexcept : options_(base::options()) {
    constexpr std::size_t workers_of_small_copy = 3;
    constexpr std::size_t small_copy_bytes = std::size_t{4} << 20;
    if (bytes >= small_copy_bytes || options_.are_threads_required) return;
    options_.copy_threads = std::min(options_.copy_threads, workers_of_small_copy);
  }

 private:
  base::active_options options_;
  base::options_scope const scope_{options_};
};

// The number of running calls of copy_staged_now in each direction, for any device.
std::atomic<unsigned> staged_uploads = 0;
std::atomic<unsigned> staged_downloads = 0;

class count_scope {
 public:
  explicit count_scope(std::atomic<unsigned>& count) noexcept : count_(count) { ++count_; }
  ~count_scope() { --count_; }
  count_scope(count_scope const&) = delete;
  count_scope& operator=(count_scope const&) = delete;

 private:
  std::atomic<unsigned>& count_;
};

// Returns the bytes of the copies staged by values that are pending in the other direction.
std::size_t opposite_bytes(bool is_upload) {
  if (!is_value_staging_selected()) return 0;
  return staging_driver::instance().pending_bytes(!is_upload);
}

// Returns true if another thread copies in the other direction. Copies on a stream count only if
// they are staged by values. The copy that begins second is then staged by values, because
// staging_driver serves several copies: the workers of parallel_staging wait for the device, or for
// memory, while they could work for the other copy.
// On 16 cores and an H200, 1 GiB in each direction ran at 62 GB/s without values, and at 66 to 81
// with them; 4 MiB in each direction at 33, and at 44 to 46.
bool has_opposite_copy(bool is_upload) {
  if (!is_value_staging_selected()) return false;
  bool const is_staged_now = (is_upload ? staged_downloads : staged_uploads).load() != 0;
  return is_staged_now || opposite_bytes(is_upload) != 0;
}

// Copies through staging memory. Complete on return.
void copy_staged_now(plan const& p) {
  bool const is_upload = p.kind == copy_kind::host_to_device;
  count_scope const counted(is_upload ? staged_uploads : staged_downloads);
  std::optional<few_workers_scope> few_workers;
  if (p.path == copy_path::staged) few_workers.emplace(p.canonical.bytes());
  if (has_opposite_copy(is_upload)) {
    auto work = std::make_shared<staged_copy>(staged_copy::for_value_staging(p));
    if (transfer_by_values_and_wait(std::move(work), p.kind)) return;
  }
  auto const work = staged_copy::for_parallel_packing(p);
  is_upload ? upload_and_wait(work) : download_and_wait(work);
}

// Copies through staging memory. Enqueued on `stream`. Only these copies choose their stores by
// what is pending in the other direction; for those without a stream, and for batches, that is not
// measured.
void enqueue_staged(plan const& p, stream_ref stream) {
  bool const is_upload = p.kind == copy_kind::host_to_device;
  if (p.reads_source_now) {
    return upload_on_stream(staged_copy::for_parallel_packing(p, opposite_bytes(is_upload)),
                            stream);
  }
  staging_driver* const driver = driver_for(stream);
  auto work = driver == nullptr
                  ? staged_copy::for_stream_order(p)
                  : staged_copy::for_value_staging(p, driver->pending_bytes(!is_upload));
  enqueue_stream_ordered(std::make_shared<staged_copy>(std::move(work)), p.kind, stream, driver);
}

// Executes the path of a copy on its device, which is current. Complete on return, or enqueued on
// `stream`: a copy on the device is always enqueued.
void execute_path(plan const& p, timing when, stream_ref stream) {
  switch (p.path) {
    case copy_path::none: return;
    case copy_path::dma:
    case copy_path::dma_2d:
    case copy_path::dma_3d: return enqueue_dma(p, stream);
    case copy_path::kernel: return kernels::permute(p.canonical, runtime::handle(stream));
    case copy_path::staged:
    case copy_path::packed:
      return when == timing::now ? copy_staged_now(p) : enqueue_staged(p, stream);
    case copy_path::host:
      if (when == timing::now) return copy_on_host(p.canonical);
      return enqueue_on_host(p, stream);
  }
}

// Tells the access checker which host memory the enqueued host functions of a copy access.
void track_host_access(plan const& p, stream_ref stream) {
  bool const reads_later = is_from_host(p.kind) && !p.reads_source_now;
  if (reads_later) track_pending_access(p.canonical, layout::side::source, stream);
  if (is_to_host(p.kind)) track_pending_access(p.canonical, layout::side::destination, stream);
}

// Returns null for host memory.
void const* device_address(void const* data, bool is_host) { return is_host ? nullptr : data; }

// Returns the device that executes a copy, or -1 for copies between host memories.
int executing_device(plan const& p) {
  int const device = p.kind == copy_kind::device_to_host ? p.source_device : p.destination_device;
  return p.kind == copy_kind::device_to_device && device < 0 ? runtime::current_device() : device;
}

// Returns true for a copy between the memories of two devices, one of which is the executor.
bool has_two_devices(plan const& p, int executor) {
  return p.kind == copy_kind::device_to_device && p.source_device >= 0 &&
         p.source_device != executor;
}

// Returns how a copy between two devices is done. Throws roc::error if the copy cannot take the
// path of its copy_options.
peer_route route_of(plan const& p, int executor, stream_ref const* stream) {
  peer_route const route = find_peer_route(p, executor, stream);
  bool const needs_engines = p.path == copy_path::dma_2d || p.path == copy_path::dma_3d;
  if (!route.is_direct && needs_engines && base::options().is_path_required) {
    throw_no_access(p, executor);
  }
  return route;
}

}  // namespace

void check_capturable(plan const& p, stream_ref stream) {
  if (p.path == copy_path::none) return;
  int const executor = executing_device(p);
  if (has_two_devices(p, executor) && !route_of(p, executor, &stream).is_direct) {
    runtime::refuse_captured(stream, "a strided copy between devices without peer access");
  }
  if (p.kind == copy_kind::host_to_host) return;
  static_cast<void>(
      runtime::device_for(stream, executor, p.source_device >= 0 ? p.source_device : executor));
}

void execute(plan const& p, stream_ref const* stream) {
  if (p.path == copy_path::none) return check_stream(stream);
  timing const when = stream == nullptr ? timing::now : timing::enqueued;
  bool const on_device = runs_on_device(p.path);
  bool const reads_pageable_now = p.reads_source_now && !p.host_pinned;

  int const executor = executing_device(p);
  operation op{.device = executor,
               .source_device = p.source_device,
               .on_host_only = p.kind == copy_kind::host_to_host,
               .needs_current_device = !on_device || p.path == copy_path::kernel,
               .uses_default_stream = on_device,
               .access = !on_device           ? host_access::by_cpu
                         : reads_pageable_now ? host_access::by_hip_call
                                              : host_access::by_device,
               .has_partly_pinned = p.host_partly_pinned,
               .device_memory = {device_address(p.canonical.source, is_from_host(p.kind)),
                                 device_address(p.canonical.destination, is_to_host(p.kind))},
               .uses_host_functions = !on_device};
  if (stream != nullptr || p.host_partly_pinned || !runtime::has_one_device()) {
    // A source that is read now is not used after the call.
    bool const is_read_now = p.reads_source_now && stream != nullptr;
    bool const reads_later = p.host_ranges[0].bytes() != 0 && !is_read_now;
    bool const writes = p.host_ranges[1].bytes() != 0;
    op.host_reads = std::span(p.host_ranges).first(reads_later ? 1 : 0);
    op.host_writes = std::span(p.host_ranges).last(writes ? 1 : 0);
    op.records_read_ranges = (is_from_host(p.kind) && !p.host_pinned) || p.is_untracked[0];
    op.records_write_ranges = (is_to_host(p.kind) && !on_device) || p.is_untracked[1];
    if (is_read_now) op.read_now = std::span(p.host_ranges).first(1);
    op.are_reads_untracked = p.is_untracked[0];
    op.are_writes_untracked = p.is_untracked[1];
  }

  bool is_direct = true;
  if (has_two_devices(p, executor)) [[unlikely]] {
    peer_route const route = route_of(p, executor, stream);
    is_direct = route.is_direct;
    op.device = route.device;
    op.source_device = route.other_device;
  }
  if (stream != nullptr && runtime::may_be_captured(*stream)) check_capturable(p, *stream);
  run_operation(trace_scope(p), op, stream, [&](stream_ref target) {
    if (is_direct) [[likely]] {
      execute_path(p, when, target);
      if (when == timing::enqueued && !on_device) track_host_access(p, target);
      return;
    }
    int const device = runtime::device_of(target, runtime::current_device());
    copy_between_devices(p.canonical, p.source_device, executor,
                         {target.handle(), device, target.kind()});
  });
}

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
// Submits a batch: divides it into groups of independent copies and routes the copies of each
// group.
#include <roc/copy_batch.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/options.hpp"
#include "copy/batch/batch.hpp"
#include "copy/batch/conflicts.hpp"
#include "copy/batch/routing.hpp"
#include "copy/batch/staging.hpp"
#include "copy/execute.hpp"
#include "copy/operation.hpp"
#include "copy/pending_host_access.hpp"
#include "copy/staging/parallel_staging.hpp"
#include "copy/staging/staging_pool.hpp"
#include "copy/staging/stream_ordered_staging.hpp"
#include "memory/device/graph_memory.hpp"
#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace roc {

struct detail::batch_storage {
  std::shared_ptr<transfer::batch> batch;
  std::vector<std::size_t> group_ends;  // of independent_groups; empty: not yet computed
  bool is_shared = false;               // enqueued work may own `batch` too

  // Returns the batch for a change, after copying it if enqueued work may still read it. A use
  // count of 1 would not be enough: it does not order this thread after the other owners' reads.
  transfer::batch& mutable_batch() {
    if (is_shared) batch = std::make_shared<transfer::batch>(*batch);
    is_shared = false;
    group_ends.clear();
    return *batch;
  }
};

namespace transfer {
namespace {

// Returns limits for chunks that are small, so that transfers begin early and many threads can
// pack.
staged_batch::limits limits_for_parallel_packing(batch const& batch,
                                                 copy_selection const& selection) {
  constexpr std::size_t min_chunk_bytes = std::size_t{128} << 10;
  // Measured: with more chunks, the calls for them take longer than the overlap saves.
  constexpr std::size_t target_chunks = 8;
  std::size_t bytes = 0;
  for (copy_selection::index_range const range : selection.ranges()) {
    for (std::size_t i = range.first; i != range.end; ++i) bytes += batch.copies[i].bytes;
  }
  std::size_t const max_chunk_bytes = base::options().chunk_bytes;
  std::size_t const chunk_bytes = std::clamp(
      bytes / target_chunks, std::min(min_chunk_bytes, max_chunk_bytes), max_chunk_bytes);
  return {chunk_bytes, SIZE_MAX};
}

// Returns limits with which the descriptions of all chunks and the data of one chunk fit into one
// block.
staged_batch::limits limits_for_stream_order() {
  std::size_t const block = base::options().staging_block;
  return {std::min(base::options().chunk_bytes, block / 4 * 3), block / 4};
}

// Enqueues the copies within the device on `stream`. Each description of a chunk is in a separate
// staging buffer. Blocks if all staging memory is in use.
void enqueue_within_device(shared_batch const& batch, device_route const& route,
                           stream_ref stream) {
  std::size_t const block = base::options().staging_block;
  for (auto const& work : make_staged_batches(batch, route.within_device,
                                              copy_kind::device_to_device, {block, SIZE_MAX})) {
    for (std::size_t chunk = 0; chunk != work->chunk_count(); ++chunk) {
      auto const buffer = staging_pool::pinned(staging_pool::device_work)
                              .acquire(work->description_bytes(chunk), stream);
      staging_slot slot{buffer->data(), nullptr, nullptr, stream};
      slot.item_count = work->write_description(chunk, slot);
      work->enqueue_device_step(chunk, slot);
    }
  }
}

// Executes the copies: those within the device are enqueued on `stream`, the others are complete on
// return.
void copy_now(shared_batch const& batch, device_route const& route, stream_ref stream) {
  enqueue_within_device(batch, route, stream);
  auto const upload_limits = limits_for_parallel_packing(*batch, route.uploads);
  for (auto const& work :
       make_staged_batches(batch, route.uploads, copy_kind::host_to_device, upload_limits)) {
    upload_and_wait(*work);
  }
  auto const download_limits = limits_for_parallel_packing(*batch, route.downloads);
  for (auto const& work :
       make_staged_batches(batch, route.downloads, copy_kind::device_to_host, download_limits)) {
    download_and_wait(*work);
  }
}

// Tells the access checker which host memory the enqueued copies access on one side. Tracks at most
// 256 copies, because tracking every copy of a large batch takes long.
void track_host_access(batch const& copies, copy_selection const& selection, layout::side host_side,
                       stream_ref stream) {
  if (!tracks_pending_access()) return;
  std::size_t remaining = 256;
  for (auto const range : selection.ranges()) {
    for (std::size_t i = range.first; i != range.end && remaining != 0; ++i, --remaining) {
      track_pending_access(copies.layout_of(copies.copies[i]), host_side, stream);
    }
  }
}

// Enqueues the copies on `stream`. Blocks until staging memory is free.
void enqueue(shared_batch const& batch, device_route const& route, stream_ref stream) {
  enqueue_within_device(batch, route, stream);
  auto const enqueue_all = [&](copy_selection const& selection, copy_kind kind) {
    if (selection.empty()) return;
    staging_driver* const driver = driver_for(stream);
    for (auto const& work :
         make_staged_batches(batch, selection, kind, limits_for_stream_order())) {
      enqueue_stream_ordered(work, kind, stream, driver);
    }
  };
  enqueue_all(route.stream_ordered_uploads, copy_kind::host_to_device);
  enqueue_all(route.downloads, copy_kind::device_to_host);
  track_host_access(*batch, route.stream_ordered_uploads, layout::side::source, stream);
  track_host_access(*batch, route.downloads, layout::side::destination, stream);
  // The uploads that read now come last, because they may block while the other work runs.
  auto const limits = limits_for_parallel_packing(*batch, route.uploads);
  for (auto const& work :
       make_staged_batches(batch, route.uploads, copy_kind::host_to_device, limits)) {
    upload_on_stream(*work, stream);
  }
}

// Throws roc::error if the host memory of a copy cannot be captured.
void check_host_memory(batch const& copies) {
  bool uses_host_memory = false;
  for (batch_copy const& copy : copies.copies) {
    for (layout::side const s : {layout::side::source, layout::side::destination}) {
      bool const is_host =
          s == layout::side::source ? is_from_host(copy.kind()) : is_to_host(copy.kind());
      if (!is_host) continue;
      uses_host_memory = true;
      base::byte_range const range = copies.range_of(copy, s);
      check_capturable(range, copy.memory_of(s).is_untracked);
      if (s == layout::side::destination) memory::host_table::instance().check_writable(range);
    }
  }
  if (uses_host_memory) runtime::require_captured_host_functions();
}

// Executes the copies of one route; see submit_group.
void submit_route(trace_scope const& trace, shared_batch const& batch, int device,
                  device_route const& route, stream_ref const* stream) {
  operation op;
  op.device = device;
  op.uses_default_stream = !route.within_device.empty();
  op.access = route.uses_host_memory() ? host_access::by_cpu : host_access::by_device;
  op.has_partly_pinned = route.has_partly_pinned;
  op.records = route.records;
  op.host_reads = route.host_reads;
  op.host_writes = route.host_writes;
  op.records_read_ranges = route.records_read_ranges;
  op.records_write_ranges = true;
  op.read_now = route.read_now;
  // If the stream is captured, each copy has been checked, and routes have memory of all kinds.
  op.are_reads_untracked = true;
  op.are_writes_untracked = true;
  run_operation(trace, op, stream, [&](stream_ref target) {
    return stream == nullptr ? copy_now(batch, route, target) : enqueue(batch, route, target);
  });
}

plan make_plan_of(batch const& batch, std::size_t index, timing when, detail::source_use use) {
  batch_copy const& copy = batch.copies[index];
  return make_plan(batch.layout_of(copy), copy.kind(), copy.memory_of(layout::side::source),
                   copy.memory_of(layout::side::destination), when, use);
}

// Executes the independent copies [first, end) in the order of `*stream`. If `stream` is null,
// executes them after all earlier work and blocks until they are complete.
void submit_group(trace_scope const& trace, shared_batch const& batch, std::size_t first,
                  std::size_t end, stream_ref const* stream, detail::source_use use) {
  timing const when = stream == nullptr ? timing::now : timing::enqueued;
  routed_copies const routed = route_copies(*batch, first, end, stream == nullptr, use);
  for (auto const& [device, route] : routed.devices) {
    submit_route(trace, batch, device, route, stream);
  }
  for (std::size_t const index : routed.individual) {
    execute(make_plan_of(*batch, index, when, use), stream);
  }
}

// Adds the device memory of all copies to the memory of a graph, by address, so that errors can name
// it.
void add_device_memory(batch const& copies, memory::graph_memory& graph) {
  for (batch_copy const& copy : copies.copies) {
    if (!is_from_host(copy.kind())) graph.add_device(copy.source);
    if (!is_to_host(copy.kind())) graph.add_device(copy.destination);
  }
}

// Throws roc::error if a copy of the batch cannot be captured, before any of them is.
void check_all_capturable(detail::batch_storage const& storage, stream_ref stream,
                          detail::source_use use) {
  batch const& copies = *storage.batch;
  check_host_memory(copies);
  std::size_t first = 0;
  for (std::size_t const end : storage.group_ends) {
    routed_copies const routed = route_copies(copies, first, end, false, use);
    for (auto const& [device, route] : routed.devices) {
      static_cast<void>(runtime::device_for(stream, device, device));
    }
    for (std::size_t const index : routed.individual) {
      check_capturable(make_plan_of(copies, index, timing::enqueued, use), stream);
    }
    first = end;
  }
}

// Submits the groups one after the other. A null `storage` is an empty batch.
void submit(detail::batch_storage* storage, stream_ref const* stream, detail::source_use use) {
  platform::refuse_in_host_function();
  base::options_scope const options;
  if (storage == nullptr || storage->batch->copies.empty()) return check_stream(stream);
  trace_scope const trace(storage->batch->copies.size(), storage->batch->bytes);
  if (storage->group_ends.empty()) storage->group_ends = independent_groups(*storage->batch);
  if (stream != nullptr && runtime::may_be_captured(*stream)) {
    check_all_capturable(*storage, *stream, use);
    memory::graph_memory* const graph = memory::captured_memory_of(*stream);
    if (graph != nullptr) add_device_memory(*storage->batch, *graph);
  }
  if (stream != nullptr) storage->is_shared = true;
  bool const may_change_device = stream != nullptr && !runtime::has_one_device() &&
                                 runtime::is_device_relative(stream->handle());
  int const device =
      may_change_device ? runtime::device_of(*stream, runtime::current_device()) : -1;
  try {
    std::size_t first = 0;
    for (std::size_t const end : storage->group_ends) {
      submit_group(trace, storage->batch, first, end, stream, use);
      first = end;
    }
  } catch (...) {
    // The work of earlier groups may be pending. Another device may be current: a failed
    // hipSetDevice can keep a copy between devices from restoring this one.
    if (stream != nullptr) runtime::synchronize_quietly(*stream, device);
    throw;
  }
}

}  // namespace
}  // namespace transfer

copy_batch::~copy_batch() { delete storage_; }

void copy_batch::add_regions(detail::strided_region const& source,
                             detail::strided_region const& destination) {
  if (storage_ == nullptr) {
    storage_ = new detail::batch_storage{std::make_shared<transfer::batch>(), {}, false};
  }
  storage_->mutable_batch().add(source, destination);
}

void detail::add_regions(copy_batch& batch, strided_region const& source,
                         strided_region const& destination) {
  batch.add_regions(source, destination);
}

std::size_t copy_batch::size() const noexcept {
  return storage_ == nullptr ? 0 : storage_->batch->copies.size();
}

std::size_t copy_batch::size_bytes() const noexcept {
  return storage_ == nullptr ? 0 : storage_->batch->bytes;
}

void copy_batch::clear() noexcept {
  delete storage_;
  storage_ = nullptr;
}

void copy_batch::submit(detail::caller at) {
  detail::call_scope const call(operation, at);
  transfer::submit(storage_, nullptr, detail::source_use::copied);
}

void copy_batch::submit(stream_ref stream, detail::caller at) {
  detail::call_scope const call(operation, at);
  transfer::submit(storage_, &stream, detail::source_use::copied);
}

void copy_batch::submit(stream_ref stream, borrow_source_t, detail::caller at) {
  detail::call_scope const call(operation, at);
  transfer::submit(storage_, &stream, detail::source_use::borrowed);
}

}  // namespace roc

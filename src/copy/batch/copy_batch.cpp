// SPDX-License-Identifier: MIT
// Submits a batch: divides it into groups of independent copies and routes the copies of each
// group.
#include <roc/copy_batch.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/options.hpp"
#include "copy/batch/batch.hpp"
#include "copy/batch/independent_groups.hpp"
#include "copy/batch/routing.hpp"
#include "copy/batch/staged_batch.hpp"
#include "copy/staging/parallel_staging.hpp"
#include "copy/staging/staging_pool.hpp"
#include "copy/staging/stream_ordered_staging.hpp"
#include "copy/trace_scope.hpp"
#include "memory/device/device_use.hpp"
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

using memory::host_table;

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
  std::size_t const max_chunk_bytes = base::options().staging_chunk;
  std::size_t const chunk_bytes = std::clamp(
      bytes / target_chunks, std::min(min_chunk_bytes, max_chunk_bytes), max_chunk_bytes);
  return {chunk_bytes, SIZE_MAX};
}

// Returns limits with which the descriptions of all chunks and the data of one chunk fit into one
// block.
staged_batch::limits limits_for_stream_order() {
  std::size_t const block = base::options().staging_block;
  return {std::min(base::options().staging_chunk, block / 4 * 3), block / 4};
}

// Enqueues the copies within the device on `stream`. Each description of a chunk is in a separate
// staging buffer. Blocks if all staging memory is in use.
void enqueue_within_device(shared_batch const& batch, device_route const& route,
                           stream_ref stream) {
  std::size_t const block = base::options().staging_block;
  constexpr auto client = staging_pool::client::user_stream;
  for (auto const& work : make_staged_batches(batch, route.within_device,
                                              copy_kind::device_to_device, {block, SIZE_MAX})) {
    for (std::size_t chunk = 0; chunk != work->chunk_count(); ++chunk) {
      auto const buffer =
          staging_pool::pinned(client).acquire(work->description_bytes(chunk), stream);
      staging_slot slot{buffer->data(), nullptr, stream, client};
      slot.item_count = work->write_description(chunk, slot);
      static_cast<void>(work->enqueue_upload(chunk, slot, true));
    }
  }
}

// Executes the copies after all work enqueued on the current device and blocks until they are
// complete.
void copy_and_wait(shared_batch const& batch, device_route const& route) {
  if (!route.within_device.empty()) {
    runtime::order_default_stream_after_all(runtime::current_device());
    try {
      enqueue_within_device(batch, route, {});
    } catch (...) {
      // Pending work may still use memory that the caller frees now.
      runtime::synchronize_quietly({});
      throw;
    }
  }
  // The CPU accesses host memory now, so all work that uses it must be done. Copies within the
  // device are ordered on the device instead.
  if (route.uses_host_memory()) runtime::synchronize_all_streams(runtime::current_device());
  for (auto const& work : make_staged_batches(batch, route.uploads, copy_kind::host_to_device,
                                              limits_for_parallel_packing(*batch, route.uploads))) {
    upload_and_wait(*work);
  }
  for (auto const& work :
       make_staged_batches(batch, route.downloads, copy_kind::device_to_host,
                           limits_for_parallel_packing(*batch, route.downloads))) {
    download_and_wait(*work);
  }
  if (!route.within_device.empty()) stream_ref().synchronize();
}

// Enqueues the copies on `stream` and records them as uses of their host memory. Blocks until
// staging memory is free, and until pending writes of the sources that are read now are done.
void enqueue(shared_batch const& batch, device_route const& route, stream_ref stream) {
  auto& table = host_table::instance();
  if (!route.within_device.empty()) enqueue_within_device(batch, route, stream);
  for (auto const& work :
       make_staged_batches(batch, route.stream_ordered_uploads, copy_kind::host_to_device,
                           limits_for_stream_order())) {
    enqueue_stream_ordered(work, copy_kind::host_to_device, stream);
  }
  for (auto const& work : make_staged_batches(batch, route.downloads, copy_kind::device_to_host,
                                              limits_for_stream_order())) {
    enqueue_stream_ordered(work, copy_kind::device_to_host, stream);
  }
  table.record_uses(route.stream_ordered_uses, stream);
  // The uploads that read now come last, because they may block while the other work runs. The
  // wait comes before record_writes: the bounding ranges that this group reads may overlap those
  // that it writes, and it must not wait for its own writes.
  table.wait_for_writes(route.read_now);
  table.record_writes(route.stream_ordered_writes, stream);
  for (auto const& work : make_staged_batches(batch, route.uploads, copy_kind::host_to_device,
                                              limits_for_parallel_packing(*batch, route.uploads))) {
    upload_on_stream(*work, stream);
  }
}

// Executes one copy of a batch through roc::copy, with elements of one byte. Throws what roc::copy
// throws.
void copy_individually(batch const& batch, std::size_t index, stream_ref const* stream,
                       detail::source_use use) {
  batch_copy const& copy = batch.copies[index];
  layout::canonical_layout const canonical = batch.layout_of(copy);
  std::array<std::size_t, layout::max_axes + 1> extents;
  std::array<std::ptrdiff_t, layout::max_axes + 1> source_strides;
  std::array<std::ptrdiff_t, layout::max_axes + 1> destination_strides;
  for (std::size_t i = 0; i != canonical.rank; ++i) {
    extents[i] = canonical.axes[i].extent;
    source_strides[i] = canonical.axes[i].source;
    destination_strides[i] = canonical.axes[i].destination;
  }
  extents[canonical.rank] = canonical.run;
  source_strides[canonical.rank] = destination_strides[canonical.rank] = 1;
  auto const space = [](bool is_host) {
    return is_host ? detail::memory_space::host : detail::memory_space::device;
  };
  detail::strided_region const source{const_cast<std::byte*>(canonical.source),
                                      1,
                                      canonical.rank + 1,
                                      extents.data(),
                                      source_strides.data(),
                                      space(is_from_host(copy.kind())),
                                      copy.source_device};
  detail::strided_region const destination{
      canonical.destination,      1,
      canonical.rank + 1,         extents.data(),
      destination_strides.data(), space(is_to_host(copy.kind())),
      copy.destination_device};
  detail::copy(source, destination, stream, use);
}

// Executes the independent copies [first, end) in the order of `*stream`. If `stream` is null,
// executes them after all earlier work and blocks until they are complete.
void submit_group(shared_batch const& batch, std::size_t first, std::size_t end,
                  stream_ref const* stream, detail::source_use use) {
  routed_copies const routed = route_copies(*batch, first, end, stream == nullptr, use);
  for (auto const& [device, route] : routed.devices) {
    if (stream == nullptr) {
      runtime::on_device const guard(device);
      for (memory::allocation_record const* const record : route.records) {
        memory::synchronize_default_stream(device, record);
      }
      copy_and_wait(batch, route);
      continue;
    }
    int const stream_device = runtime::device_for(*stream, device, device);
    runtime::on_device const guard(stream_device);
    runtime::enqueue_and_record(*stream, [&] {
      memory::device_uses const recorded_uses(*stream, stream_device, route.records);
      enqueue(batch, route, *stream);
    });
  }
  for (std::size_t const index : routed.individual) {
    copy_individually(*batch, index, stream, use);
  }
}

// Submits the groups one after the other. A null `storage` is an empty batch.
void submit(detail::batch_storage* storage, stream_ref const* stream, detail::source_use use) {
  platform::refuse_in_host_function("roc::copy_batch::submit");
  if (storage == nullptr || storage->batch->copies.empty()) return;
  trace_scope const trace(storage->batch->copies.size(), storage->batch->bytes);
  if (storage->group_ends.empty()) storage->group_ends = independent_groups(*storage->batch);
  if (stream != nullptr) storage->is_shared = true;
  std::size_t first = 0;
  for (std::size_t const end : storage->group_ends) {
    submit_group(storage->batch, first, end, stream, use);
    first = end;
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

void copy_batch::submit() { transfer::submit(storage_, nullptr, detail::source_use::copied); }

void copy_batch::submit(stream_ref stream) {
  transfer::submit(storage_, &stream, detail::source_use::copied);
}

void copy_batch::submit(stream_ref stream, borrow_source_t) {
  transfer::submit(storage_, &stream, detail::source_use::borrowed);
}

}  // namespace roc

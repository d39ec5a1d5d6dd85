// SPDX-License-Identifier: MIT
// How a batch is submitted: cut where copies meet, sorted by the way they go.
#include <roc/copy_batch.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include <roc/device.hpp>

#include "copy/staging/staging_pool.hpp"
#include "memory/host/host_table.hpp"
#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "base/options.hpp"
#include "runtime/stream.hpp"
#include "copy/batch/batch_alone.hpp"
#include "copy/batch/batch_chunks.hpp"
#include "copy/batch/batch.hpp"
#include "copy/batch/batch_group.hpp"
#include "copy/trace_scope.hpp"
#include "copy/staging/staged.hpp"

namespace roc {

struct detail::batch_storage {
  std::shared_ptr<transfer::batch> contents;
  std::vector<std::size_t> groups;  // ends; none: not yet known
  bool lent = false;                // to a stream's work, which has a hold of its own on them

  // How many hold them tells nothing: that work has let go of them makes its reads no earlier.
  transfer::batch& to_change() {
    if (lent) contents = std::make_shared<transfer::batch>(*contents);
    lent = false;
    groups.clear();
    return *contents;
  }
};

namespace transfer {
namespace {

using memory::staging_pool;
using memory::host_table;
using memory::allocation_record;

// Chunks for the link to begin early with, each packed by many threads.
batch_chunks::limits for_parallel_packing(batch const& contents,
                                piece_list const& pieces) {
  constexpr std::size_t least = std::size_t{128} << 10;
  constexpr std::size_t steps = 8;  // by measurement: more cost more calls than they overlap
  std::size_t bytes = 0;
  for (piece_list::run const each : pieces.runs()) {
    for (std::size_t i = each.first; i != each.end; ++i) bytes += contents.pieces[i].bytes;
  }
  std::size_t const most = base::options().chunk;
  return {std::clamp(bytes / steps, std::min(least, most), most), SIZE_MAX};
}

// One block for the descriptions of all chunks, and the data of one.
batch_chunks::limits in_order() {
  std::size_t const block = base::options().staging_block;
  return {std::min(base::options().chunk, block / 4 * 3), block / 4};
}

// Within the device: a description a block.
void enqueue_within(shared_contents const& contents, batch_on_device const& work,
                    stream_ref stream) {
  std::size_t const block = base::options().staging_block;
  constexpr auto holder = staging_pool::holder::behind_work;
  for (auto const& chunks :
       in_chunks(contents, work.within, direction::device_to_device, {block, SIZE_MAX})) {
    for (std::size_t chunk = 0; chunk != chunks->chunks(); ++chunk) {
      auto const staging =
          staging_pool::staging(holder).acquire(chunks->description_bytes(chunk), stream);
      stage at{staging->data(), nullptr, stream, holder};
      at.items = chunks->describe(chunk, at);
      static_cast<void>(chunks->send(chunk, at, true));
    }
  }
}

void run_now(shared_contents const& contents, batch_on_device const& work) {
  if (!work.within.empty()) {
    runtime::order_after_all(runtime::current_device());
    try {
      enqueue_within(contents, work, {});
    } catch (...) {
      // Part of it may be on its way in memory that the caller frees now.
      runtime::synchronize_quietly({});
      throw;
    }
  }
  // The CPU touches host memory: what writes or reads that must be over; for what is within the
  // device it is enough to be the last.
  if (work.touches_host()) runtime::wait_for_all(runtime::current_device());
  for (auto const& chunks : in_chunks(contents, work.up, direction::host_to_device,
                                      for_parallel_packing(*contents, work.up))) {
    upload_now(*chunks);
  }
  for (auto const& chunks : in_chunks(contents, work.down, direction::device_to_host,
                                      for_parallel_packing(*contents, work.down))) {
    download_now(*chunks);
  }
  if (!work.within.empty()) stream_ref().synchronize();
}

void enqueue(shared_contents const& contents, batch_on_device const& work, stream_ref stream) {
  auto& table = host_table::instance();
  if (!work.within.empty()) enqueue_within(contents, work, stream);
  for (auto const& chunks :
       in_chunks(contents, work.up_ordered, direction::host_to_device, in_order())) {
    enqueue_staged(chunks, direction::host_to_device, stream);
  }
  for (auto const& chunks : in_chunks(contents, work.down, direction::device_to_host, in_order())) {
    enqueue_staged(chunks, direction::device_to_host, stream);
  }
  table.record_uses(work.used, stream);
  // Last: it may wait for memory, and the rest is on its way meanwhile. What this group writes may
  // lie between what it reads, but is not to be waited for.
  table.wait_for_writes(work.read);
  table.record_writes(work.written, stream);
  for (auto const& chunks : in_chunks(contents, work.up, direction::host_to_device,
                                      for_parallel_packing(*contents, work.up))) {
    upload(*chunks, stream);
  }
}

void submit_group(shared_contents const& contents, std::size_t first, std::size_t end,
                  stream_ref const* stream, detail::source_use use) {
  batch_group const all = sorted_group(*contents, first, end, stream == nullptr, use);
  for (auto const& [device, work] : all.devices) {
    if (stream == nullptr) {
      runtime::on_device const guard(device);
      for (allocation_record const* const each : work.records) {
        memory::synchronize_default_stream(device, each);
      }
      run_now(contents, work);
      continue;
    }
    int const used = runtime::device_for(*stream, device, device);
    runtime::on_device const guard(used);
    runtime::enqueue_noted(*stream, [&] {
      memory::device_uses const noted(*stream, used, work.records);
      enqueue(contents, work, *stream);
    });
  }
  for (std::size_t const i : all.alone) copy_individually(*contents, i, stream, use);
}

void submit(detail::batch_storage* storage, stream_ref const* stream, detail::source_use use) {
  platform::refuse_in_host_function("roc::copy_batch::submit");
  if (storage == nullptr || storage->contents->pieces.empty()) return;
  trace_scope const told(storage->contents->pieces.size(), storage->contents->bytes);
  if (storage->groups.empty()) storage->groups = independent_groups(*storage->contents);
  if (stream != nullptr) storage->lent = true;
  std::size_t first = 0;
  for (std::size_t const end : storage->groups) {
    submit_group(storage->contents, first, end, stream, use);
    first = end;
  }
}

}  // namespace
}  // namespace transfer

copy_batch::~copy_batch() { delete storage_; }

void copy_batch::add_regions(detail::region const& source, detail::region const& destination) {
  if (storage_ == nullptr) {
    storage_ = new detail::batch_storage{std::make_shared<transfer::batch>(), {}, false};
  }
  storage_->to_change().add(source, destination);
}

std::size_t copy_batch::size() const noexcept {
  return storage_ == nullptr ? 0 : storage_->contents->pieces.size();
}

std::size_t copy_batch::size_bytes() const noexcept {
  return storage_ == nullptr ? 0 : storage_->contents->bytes;
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

// SPDX-License-Identifier: MIT
// The entry point of every copy: plans it, orders it after earlier work and executes its path.
#include <roc/copy.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <roc/detail/strided_region.hpp>
#include <roc/device.hpp>

#include "copy/paths/between_devices.hpp"
#include "copy/paths/dma.hpp"
#include "copy/plan.hpp"
#include "copy/staging/pack.hpp"
#include "copy/staging/parallel_staging.hpp"
#include "copy/staging/staged_copy.hpp"
#include "copy/staging/stream_ordered_staging.hpp"
#include "copy/trace_scope.hpp"
#include "kernels/strided_copy.hpp"
#include "memory/device/device_use.hpp"
#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace roc {
namespace {

using detail::stream_kind;
using transfer::copy_kind;
using transfer::plan;

// Returns true if the copy engines or a kernel execute the copy, without the CPU.
bool runs_on_device(copy_path path) {
  return path == copy_path::dma || path == copy_path::dma_2d || path == copy_path::dma_3d ||
         path == copy_path::kernel;
}

// Enqueues a copy whose path runs on the device.
void enqueue_on_device(plan const& p, hipStream_t stream) {
  if (p.path == copy_path::kernel) {
    kernels::permute(p.canonical, stream);
  } else {
    transfer::enqueue_dma(p, stream);
  }
}

bool is_upload_of_pageable(plan const& p) {
  return p.kind == copy_kind::host_to_device && !p.host_pinned;
}

// HIP reads a pageable source during the call. A borrowed source must be read in the stream's
// order, so it cannot be given to HIP directly.
bool would_read_too_early(plan const& p, detail::source_use use) {
  return is_upload_of_pageable(p) && use == detail::source_use::borrowed;
}

// Returns true if the copy is one memcpy call of HIP on `stream`, for which no device has to be
// current. This excludes streams whose handle means another stream on every device.
bool works_with_any_current_device(plan const& p, stream_ref stream, detail::source_use use) {
  return runs_on_device(p.path) && p.path != copy_path::kernel && !would_read_too_early(p, use) &&
         !runtime::is_device_relative(stream.handle());
}

// Executes the copy after all work enqueued on `device`, which must be current, and blocks until it
// is complete.
void copy_and_wait(plan const& p, int device) {
  if (runs_on_device(p.path)) {
    // HIP reads pageable memory during the call, not in the stream's order, so all work that may
    // write it must be done, including host functions.
    if (is_upload_of_pageable(p) && runtime::has_unsynchronized_work(device)) {
      runtime::synchronize_all_streams(device);
    }
    runtime::order_default_stream_after_all(device);
    enqueue_on_device(p, nullptr);
    stream_ref().synchronize();
    return;
  }
  // The CPU accesses the host side now, so all work that uses it must be done.
  runtime::synchronize_all_streams(device);
  if (p.path == copy_path::host) return transfer::copy_on_host(p.canonical);
  auto const work = transfer::staged_copy::for_parallel_packing(p);
  if (p.kind == copy_kind::host_to_device) return transfer::upload_and_wait(work);
  transfer::download_and_wait(work);
}

// A copy between host memories as a host function of a stream.
struct host_copy {
  plan work;
  std::vector<std::byte> packed_source;  // a copy of the source, if it may change after the call
  bool is_source_packed;

  // The host function; owns `argument`.
  static void run(void* argument) {
    std::unique_ptr<host_copy> const self(static_cast<host_copy*>(argument));
    if (self->is_source_packed) {
      transfer::unpack(self->work.canonical, {0, self->packed_source.size()},
                       self->packed_source.data());
    } else {
      transfer::copy_on_host(self->work.canonical);
    }
  }
};

// Enqueues a host_copy. With `pack_source`, reads the source now.
void enqueue_on_host(plan const& p, bool pack_source, hipStream_t stream) {
  auto job = std::make_unique<host_copy>(host_copy{p, {}, pack_source});
  if (pack_source) {
    job->packed_source.resize(p.canonical.bytes());
    transfer::pack(p.canonical, {0, job->packed_source.size()}, job->packed_source.data());
  }
  ROCARRAY_HIP(hipLaunchHostFunc, stream, &host_copy::run, job.get());
  static_cast<void>(job.release());  // run deletes it
}

// Enqueues any copy except a strided one between two devices, in the order of `stream`, whose
// device is current. May block until pending writes of a pageable source are done and until staging
// memory is free. If it throws, part of the copy may be pending on `stream`.
void enqueue(plan const& p, stream_ref stream, detail::source_use use) {
  hipStream_t const native = runtime::handle(stream);
  // A pageable source is read now, so that the caller may change it. A pinned source is read in the
  // stream's order: earlier work on the stream may still write it.
  bool const reads_now = !p.host_pinned && use == detail::source_use::copied;
  if (reads_now && (is_upload_of_pageable(p) || p.kind == copy_kind::host_to_host)) {
    memory::host_table::instance().wait_for_writes(
        layout::byte_range_of(p.canonical, layout::side::source));
  }
  if (runs_on_device(p.path) && !would_read_too_early(p, use)) {
    return enqueue_on_device(p, native);
  }
  if (p.path == copy_path::host) return enqueue_on_host(p, reads_now, native);
  if (p.kind == copy_kind::host_to_device && reads_now) {
    return transfer::upload_on_stream(transfer::staged_copy::for_parallel_packing(p), stream);
  }
  auto work = std::make_shared<transfer::staged_copy>(transfer::staged_copy::for_stream_order(p));
  transfer::enqueue_stream_ordered(std::move(work), p.kind, stream);
}

// Records the copy as a use of its host memory: the library's host memory, and registered memory,
// wait for it before they are freed or deregistered.
void record_host_use(plan const& p, stream_ref stream) {
  auto& table = memory::host_table::instance();
  if (is_from_host(p.kind)) {
    table.record_use(layout::byte_range_of(p.canonical, layout::side::source), stream);
  }
  if (is_to_host(p.kind)) {
    auto const range = layout::byte_range_of(p.canonical, layout::side::destination);
    if (!runs_on_device(p.path)) table.record_write(range, stream);  // the CPU writes it
    table.record_use(range, stream);
  }
  if (!p.mapped) return;
  for (auto const side : {layout::side::source, layout::side::destination}) {
    auto const host_range =
        table.host_range_of_device_address(layout::byte_range_of(p.canonical, side));
    if (host_range) table.record_use(*host_range, stream);
  }
}

// Returns null for host memory.
void const* device_address(detail::strided_region const& region) {
  return region.space == detail::memory_space::device ? region.data : nullptr;
}

}  // namespace

void detail::copy(strided_region const& source, strided_region const& destination,
                  stream_ref const* stream, source_use use) {
  platform::refuse_in_host_function("roc::copy");
  plan const p = transfer::make_plan(
      source, destination, stream == nullptr ? transfer::timing::now : transfer::timing::enqueued);
  if (p.path == copy_path::none) return;
  transfer::trace_scope const trace(p);
  int const named_device =
      destination.space == memory_space::device ? destination.device : source.device;
  if (named_device < 0 && stream == nullptr && device::count() == 0) {
    return transfer::copy_on_host(p.canonical);  // no device, so no earlier work to wait for
  }
  int const device = named_device >= 0 ? named_device : runtime::current_device();
  int const source_device =
      source.space == memory_space::device && source.device >= 0 ? source.device : device;
  bool const is_strided_between_devices = source_device != device && p.path == copy_path::kernel;
  if (stream == nullptr) {
    if (source_device != device) {
      runtime::on_device const guard(source_device);
      runtime::synchronize_all_streams(source_device);
    }
    std::optional<runtime::on_device> guard;
    if (!runtime::has_one_device()) guard.emplace(device);
    memory::synchronize_default_stream(device, device_address(source), device_address(destination));
    if (is_strided_between_devices) {
      stream_ref const default_stream(nullptr, device, stream_kind::default_stream);
      runtime::order_default_stream_after_all(device);
      transfer::copy_between_devices(p.canonical, source_device, device, default_stream);
      return default_stream.synchronize();
    }
    return copy_and_wait(p, device);
  }
  // A copy between host memories may use a stream of any device.
  int const stream_device = p.kind == copy_kind::host_to_host
                                ? runtime::device_of(*stream, device)
                                : runtime::device_for(*stream, device, source_device);
  std::optional<runtime::on_device> guard;
  bool const needs_no_guard =
      source_device == device && works_with_any_current_device(p, *stream, use);
  if (!needs_no_guard && !runtime::has_one_device()) guard.emplace(stream_device);
  runtime::enqueue_and_record(*stream, [&] {
    memory::device_use const recorded_use(*stream, stream_device, device_address(source),
                                          device_address(destination));
    if (is_strided_between_devices) {
      stream_ref const stream_with_device(stream->handle(), stream_device, stream->kind());
      transfer::copy_between_devices(p.canonical, source_device, device, stream_with_device);
    } else {
      enqueue(p, *stream, use);
    }
    record_host_use(p, *stream);
  });
}

copy_path detail::planned_path(strided_region const& source, strided_region const& destination) {
  return transfer::make_plan(source, destination, transfer::timing::now).path;
}

}  // namespace roc

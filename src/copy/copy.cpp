// SPDX-License-Identifier: MIT
// The one entry of every copy: plans it, orders it, and sends it on its path.
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <roc/detail/region.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>

#include "kernels/strided_copy.hpp"
#include "memory/host/host_table.hpp"
#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"
#include "copy/paths/between_devices.hpp"
#include "copy/paths/direct.hpp"
#include "copy/trace_scope.hpp"
#include "copy/staging/pack.hpp"
#include "copy/plan.hpp"
#include "copy/staging/staged.hpp"
#include "copy/staging/staged_copy.hpp"

namespace roc {
namespace {

using detail::stream_kind;
using transfer::direction;
using transfer::plan;

bool runs_on_device(copy_path path) {
  return path == copy_path::dma || path == copy_path::dma_2d || path == copy_path::dma_3d ||
         path == copy_path::kernel;
}

void enqueue_on_device(plan const& p, hipStream_t stream) {
  if (p.path == copy_path::kernel) {
    kernels::permute(p.form, stream);
  } else {
    transfer::copy_directly(p, stream);
  }
}

bool is_read_at_once(plan const& p) {
  return p.way == direction::host_to_device && !p.host_pinned;
}

// A borrowed source is read in the stream's order, which the runtime does not do.
bool is_read_too_early(plan const& p, detail::source_use use) {
  return is_read_at_once(p) && use == detail::source_use::borrowed;
}

// Whether the plan is one call of HIP for the copy engines, of one device. A stream takes it
// whatever device is current, unless its handle means another stream on every device.
bool needs_no_device(plan const& p, stream_ref stream, detail::source_use use) {
  return runs_on_device(p.path) && p.path != copy_path::kernel && !is_read_too_early(p, use) &&
         !runtime::follows_device(stream.handle());
}

// After all work enqueued on the device, done on return.
void copy_now(plan const& p, int device) {
  if (runs_on_device(p.path)) {
    // A runtime reads pageable memory at once, not in the stream's order: what writes it, host
    // functions among others, must be over.
    if (is_read_at_once(p) && runtime::has_work_since_wait(device)) runtime::wait_for_all(device);
    runtime::order_after_all(device);
    enqueue_on_device(p, nullptr);
    stream_ref().synchronize();
    return;
  }
  // The CPU touches the host side: work that writes or reads it must be over.
  runtime::wait_for_all(device);
  if (p.path == copy_path::host) return transfer::copy_on_host(p.form);
  auto const work = transfer::staged_copy::for_parallel_packing(p);
  if (p.way == direction::host_to_device) return transfer::upload_now(work);
  transfer::download_now(work);
}

// Two host sides, in the order of a stream. The source is held as bytes of its own if it may change
// once the call has returned.
struct host_copy {
  plan work;
  std::vector<std::byte> packed;
  bool copied;

  static void run(void* argument) {
    std::unique_ptr<host_copy> const self(static_cast<host_copy*>(argument));
    if (self->copied) {
      transfer::unpack(self->work.form, {0, self->packed.size()}, self->packed.data());
    } else {
      transfer::copy_on_host(self->work.form);
    }
  }
};

void enqueue_on_host(plan const& p, bool copied, hipStream_t stream) {
  auto job = std::make_unique<host_copy>(host_copy{p, {}, copied});
  if (copied) {
    job->packed.resize(p.form.bytes());
    transfer::pack(p.form, {0, job->packed.size()}, job->packed.data());
  }
  ROCARRAY_HIP(hipLaunchHostFunc, stream, &host_copy::run, job.get());
  static_cast<void>(job.release());  // deleted by run
}

void enqueue(plan const& p, stream_ref stream, detail::source_use use) {
  hipStream_t const native = runtime::handle(stream);
  // Pinned memory belongs to the stream until it has been synchronised: earlier work there may
  // still write it. Pageable memory is read now, so that the caller may change it.
  bool const reads_now = !p.host_pinned && use == detail::source_use::copied;
  if (reads_now && (is_read_at_once(p) || p.way == direction::host_to_host)) {
    memory::host_table::instance().wait_for_writes(layout::bytes_of(p.form, layout::side::source));
  }
  if (runs_on_device(p.path) && !is_read_too_early(p, use)) return enqueue_on_device(p, native);
  if (p.path == copy_path::host) return enqueue_on_host(p, reads_now, native);
  if (p.way == direction::host_to_device && reads_now) {
    return transfer::upload(transfer::staged_copy::for_parallel_packing(p), stream);
  }
  transfer::enqueue_staged(
      std::make_shared<transfer::staged_copy>(transfer::staged_copy::in_order(p)), p.way, stream);
}

// Host memory of ours, and registered memory, waits for these copies before it goes.
void note_host_use(plan const& p, stream_ref stream) {
  auto& table = memory::host_table::instance();
  if (p.way == direction::host_to_device || p.way == direction::host_to_host) {
    table.record_use(layout::bytes_of(p.form, layout::side::source), stream);
  }
  if (p.way == direction::device_to_host || p.way == direction::host_to_host) {
    bool const by_cpu = !runs_on_device(p.path);
    if (by_cpu) table.record_write(layout::bytes_of(p.form, layout::side::destination), stream);
    table.record_use(layout::bytes_of(p.form, layout::side::destination), stream);
  }
  if (!p.mapped) return;
  for (auto const which : {layout::side::source, layout::side::destination}) {
    auto const behind = table.behind_device_address(layout::bytes_of(p.form, which));
    if (behind) table.record_use(*behind, stream);
  }
}

void const* device_address(detail::region const& side) {
  return side.where == detail::place::device ? side.data : nullptr;
}

}  // namespace

void detail::copy(region const& source, region const& destination, stream_ref const* stream,
                  source_use use) {
  platform::refuse_in_host_function("roc::copy");
  plan const p = transfer::make_plan(
      source, destination,
      stream == nullptr ? transfer::timing::now : transfer::timing::enqueued);
  if (p.path == copy_path::none) return;
  transfer::trace_scope const range(p);
  int const device = destination.where == place::device ? destination.device : source.device;
  if (device < 0 && stream == nullptr && device::count() == 0) {
    return transfer::copy_on_host(p.form);  // nothing to be ordered after
  }
  int const current = device >= 0 ? device : runtime::current_device();
  int const other = source.where == place::device && source.device >= 0 ? source.device : current;
  if (stream == nullptr) {
    if (other != current) {
      runtime::on_device const guard(other);
      runtime::wait_for_all(other);
    }
    std::optional<runtime::on_device> guard;
    if (!runtime::has_one_device()) guard.emplace(current);
    memory::synchronize_default_stream(current, device_address(source), device_address(destination));
    if (other != current && p.path == copy_path::kernel) {
      stream_ref const here(nullptr, current, stream_kind::default_stream);
      runtime::order_after_all(current);
      transfer::copy_between_devices(p.form, other, current, here);
      return here.synchronize();
    }
    return copy_now(p, current);
  }
  // Host memory is of every device.
  int const used = p.way == direction::host_to_host ? runtime::device_of(*stream, current)
                                                    : runtime::device_for(*stream, current, other);
  std::optional<runtime::on_device> guard;
  bool const is_free = other == current && needs_no_device(p, *stream, use);
  if (!is_free && !runtime::has_one_device()) guard.emplace(used);
  runtime::enqueue_noted(*stream, [&] {
    memory::device_use const noted(*stream, used, device_address(source),
                                   device_address(destination));
    if (other != current && p.path == copy_path::kernel) {
      stream_ref const named(stream->handle(), used, stream->kind());
      transfer::copy_between_devices(p.form, other, current, named);
    } else {
      enqueue(p, *stream, use);
    }
    note_host_use(p, *stream);
  });
}

}  // namespace roc

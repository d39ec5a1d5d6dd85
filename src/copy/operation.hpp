// SPDX-License-Identifier: MIT
// What copies, fills and batches have in common: the trace, the current device, the order after
// earlier work, the record of the memory that is used, and the wait after an error.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include <roc/detail/enqueue_failure.hpp>
#include <roc/device.hpp>
#include <roc/profiler_range.hpp>
#include <roc/stream.hpp>

#include "base/byte_range.hpp"
#include "base/log.hpp"
#include "copy/plan.hpp"
#include "memory/device/device_use.hpp"
#include "memory/device/graph_memory.hpp"
#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/host_function_errors.hpp"
#include "runtime/profiler.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {

/// Writes one log line of level trace and opens a profiler range, which ends with the scope. Does
/// nothing if neither a profiler nor the trace level is active.
class trace_scope {
 public:
  /// Traces a copy.
  explicit trace_scope(plan const& p) {
    if (is_enabled()) [[unlikely]]
      begin_copy(p);
  }
  /// Traces a fill of device memory or host memory.
  trace_scope(layout::canonical_layout const& canonical, bool on_device) {
    if (is_enabled()) [[unlikely]]
      begin("roc::fill %s %zu bytes", on_device ? "device" : "host", canonical.bytes());
  }
  /// Traces a batch of `copies` copies with `bytes` bytes in total.
  trace_scope(std::size_t copies, std::size_t bytes) {
    if (is_enabled()) [[unlikely]]
      begin("roc::copy_batch %zu copies %zu bytes", copies, bytes);
  }
  /// Traces a call without parameters.
  explicit trace_scope(char const* call) {
    if (is_enabled()) [[unlikely]]
      begin("%s", call);
  }

 private:
  static bool is_enabled() noexcept {
    return runtime::has_profiler() || base::logs(base::log_level::trace);
  }
  // Out of line, because every copy passes here.
  void begin_copy(plan const& p);
  // Writes the log line and opens the range. The format is printf's.
  [[gnu::format(printf, 2, 3)]] void begin(char const* format, ...);

  std::optional<profiler_range> range_;
};

/// Who accesses the host memory of an operation without a stream, which decides how earlier work is
/// awaited.
enum class host_access : unsigned char {
  by_device,    // the device, in the order of the default stream
  by_hip_call,  // HIP's runtime, during the call: it reads pageable memory
  by_cpu,       // threads of the library, during the call
};

/// What run_operation has to know about a copy, a fill or the copies of a batch on one device. Owns
/// nothing.
struct operation {
  /// The device that executes the work, or -1: the current one.
  int device = -1;
  /// The device of a source in another device's memory, or -1: there is none.
  int source_device = -1;
  /// All memory is host memory: needs no device, and may use a stream of any device.
  bool on_host_only = false;
  /// False if HIP executes the work of a stream, whichever device is current.
  bool needs_current_device = true;
  /// Without a stream, the work includes work on the default stream, which has to be awaited.
  bool uses_default_stream = true;
  host_access access = host_access::by_device;
  /// Part of some host memory is pinned (host_memory_properties::partly_pinned), so that the work
  /// must come after all pending uses of it.
  bool has_partly_pinned = false;

  /// Addresses in the device memory that is used; null for host memory.
  std::array<void const*, 2> device_memory{};
  /// Further device memory that is used.
  std::span<memory::allocation_record* const> records{};
  /// The host memory that is read and written after the call returns, and the pageable memory that
  /// the CPU reads before the call returns. Without a stream, `read_now` is empty, and the other
  /// two matter only if has_partly_pinned or if there are several devices.
  std::span<base::byte_range const> host_reads{};
  std::span<base::byte_range const> host_writes{};
  std::span<base::byte_range const> read_now{};
  /// The uses of the allocations and registrations in the host table are not enough, so that the
  /// ranges must be recorded too: host functions read some of `host_reads`, a borrowed pageable
  /// source, or write `host_writes`; or other code has pinned the memory, and the table does not
  /// know it.
  bool records_read_ranges = false;
  bool records_write_ranges = false;
  /// Other code has pinned, or may have pinned, `host_reads` or `host_writes`, and the host table
  /// does not know it. Matters only to captured work.
  bool are_reads_untracked = false;
  bool are_writes_untracked = false;
  /// Host functions execute a part of the work of a stream. Matters only to captured work.
  bool uses_host_functions = false;
};

/// Throws lifetime_error if the stream of an operation that has nothing to do was moved from or
/// destroyed. It may be null.
inline void check_stream(stream_ref const* stream) {
  if (stream != nullptr) static_cast<void>(runtime::handle(*stream));
}
/// Returns true if the work's device must be made current for an operation.
inline bool needs_device_guard(operation const& op, int device, int source_device,
                               stream_ref const& stream) {
  bool const depends_on_device = op.needs_current_device || source_device != device ||
                                 runtime::is_device_relative(stream.handle());
  return depends_on_device && !runtime::has_one_device();
}
/// Blocks until no pending work, of any device, writes `reads` or uses `writes`, which are the host
/// memory of an operation without a stream. Ranges may be empty. Throws roc::error, std::bad_alloc.
void wait_for_host_uses(std::span<base::byte_range const> reads,
                        std::span<base::byte_range const> writes);
/// Blocks until all work is done that an operation without a stream comes after, or makes the
/// default stream of `device`, which must be current, wait for it. Throws roc::error.
void order_after_earlier_work(operation const& op, int device);
/// Blocks until writes of the memory that is read now are done, and makes `stream` wait for pending
/// uses of memory that is pinned in part. Throws roc::error.
void order_after_host_uses(operation const& op, stream_ref stream);
/// Records the ranges of host memory of an operation that sets records_read_ranges or
/// records_write_ranges. Throws roc::error.
void record_host_ranges(operation const& op, stream_ref stream);
/// Records the uses of host memory by work that has been enqueued on `stream`. Throws roc::error.
inline void record_host_uses(operation const& op, stream_ref stream) {
  if (op.records_read_ranges || op.records_write_ranges) record_host_ranges(op, stream);
  auto const record = [stream](std::span<base::byte_range const> ranges, memory::access kind) {
    if (ranges.empty()) return;
    auto& table = memory::host_table::instance();
    // One range is mostly known to the calling thread's cache.
    if (ranges.size() == 1) return table.record_use(ranges.front(), stream, kind);
    table.record_uses(ranges, stream, kind);
  };
  record(op.host_reads, memory::access::read);
  record(op.host_writes, memory::access::write);
}

/// Throws roc::error if captured work cannot use the host memory, because it is pageable: its bytes
/// would be those of the capture, or nothing would be known of its lifetime.
void check_capturable(base::byte_range range, bool is_untracked);
/// Adds the host memory of an operation to the memory of a graph. Throws roc::error, and adds
/// nothing, if it cannot be captured.
void add_host_memory(operation const& op, memory::graph_memory& graph);

/// Enqueues the work of an operation by `work(stream)`, and records the memory as in use. If
/// anything throws, blocks until no work of the operation is pending and then rethrows: the caller
/// frees its memory next. If the stream is captured, the graph gets the work and the memory.
template <class Work>
void enqueue_operation(operation const& op, stream_ref const& stream, Work const& work) {
  int const device = op.device >= 0 ? op.device : runtime::current_device();
  int const source_device = op.source_device >= 0 ? op.source_device : device;
  int const work_device = op.on_host_only ? runtime::device_of(stream, device)
                                          : runtime::device_for(stream, device, source_device);
  std::optional<runtime::on_device> guard;
  if (needs_device_guard(op, device, source_device, stream)) guard.emplace(work_device);
  runtime::refuse_uncaptured_call(&stream);
  memory::graph_memory* const graph = memory::captured_memory_of(stream);
  if (graph != nullptr) [[unlikely]] {
    add_host_memory(op, *graph);
  } else if (op.has_partly_pinned || !op.read_now.empty()) {
    order_after_host_uses(op, stream);
  }
  try {
    memory::device_use const device_use(stream, work_device, op.device_memory[0],
                                        op.device_memory[1], op.records);
    if (guard) guard->repair();
    work(stream);
    if (guard) guard->repair();
    if (graph == nullptr) record_host_uses(op, stream);
    runtime::record_work(stream);
  } catch (...) {
    detail::enqueue_failure_scope::run_innermost();
    // The device that is current now may be another one.
    runtime::synchronize_quietly(stream, work_device);
    throw;
  }
}

/// Runs an operation by `work(default stream)` after all earlier work, and waits for it. If
/// anything throws, does what enqueue_operation does.
template <class Work>
void complete_operation(operation const& op, Work const& work) {
  static constexpr stream_ref default_stream;
  runtime::refuse_uncaptured_call(nullptr);
  if (op.on_host_only && roc::device::count() == 0) {
    return work(default_stream);  // no device, so no earlier work to wait for
  }
  int const device = op.device >= 0 ? op.device : runtime::current_device();
  int const source_device = op.source_device >= 0 ? op.source_device : device;
  if (source_device != device) {
    runtime::on_device const guard(source_device);
    runtime::synchronize_other_device(source_device);
  }
  std::optional<runtime::on_device> guard;
  if (needs_device_guard(op, device, source_device, default_stream)) guard.emplace(device);
  order_after_earlier_work(op, device);
  try {
    if (guard) guard->repair();
    work(default_stream);
    if (guard) guard->repair();
    if (op.uses_default_stream) runtime::synchronize(default_stream);
  } catch (...) {
    if (op.uses_default_stream) runtime::synchronize_quietly(default_stream, device);
    throw;
  }
}

/// Runs an operation on one device: enqueues it on `stream`, or completes it if `stream` is null.
/// The trace is that of the whole call, which may consist of several operations.
template <class Work>
void run_operation(trace_scope const&, operation const& op, stream_ref const* stream,
                   Work const& work) {
  if (stream != nullptr) return enqueue_operation(op, *stream, work);
  complete_operation(op, work);
}

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
#include <roc/memory/map.hpp>

#include <roc/device.hpp>
#include <roc/memory/managed.hpp>

#include "base/error.hpp"
#include "memory/host/host_table.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::detail {
namespace {

// Returns true if the extent is in a managed array of the library. Does not call HIP.
bool is_managed(host_extent extent) {
  auto const range = base::byte_range::of(extent.data, extent.bytes);
  return memory::host_table::instance().managed_array_of(range).has_value();
}

}  // namespace

void refuse_captured_mapping(stream_ref const* stream) {
  runtime::refuse_uncaptured_call(stream);
  if (stream != nullptr) runtime::refuse_captured(*stream, "the mapping of an array");
}

void map_host(host_extent extent, stream_ref const* stream) {
  if (extent.bytes == 0) return;
  if (stream == nullptr && device::count() == 0) return;  // no work to wait for
  int const current = runtime::current_device();
  int const device = stream != nullptr ? runtime::device_of(*stream, current) : current;
  runtime::on_device const guard(device);
  bool const is_managed_memory = is_managed(extent);
  bool const can_prefetch =
      is_managed_memory && roc::device(device).has_concurrent_managed_access();
  // Without concurrent access, the host must not touch managed memory while the device does any
  // work.
  bool const wait_for_device = stream == nullptr || (is_managed_memory && !can_prefetch);
  if (wait_for_device) runtime::synchronize_all_streams(device);
  if (stream == nullptr && !runtime::has_one_device()) {
    memory::host_table::instance().wait_for_uses(base::byte_range::of(extent.data, extent.bytes));
  }
  stream_ref const used_stream = stream != nullptr ? *stream : stream_ref();
  if (can_prefetch) prefetch(extent, memory_location::host(), used_stream);
  used_stream.synchronize();
}

void unmap_host(host_extent extent, stream_ref const* stream) {
  if (extent.bytes == 0 || !is_managed(extent)) return;
  int const current = runtime::current_device();
  int const device = stream != nullptr ? runtime::device_of(*stream, current) : current;
  if (!roc::device(device).has_concurrent_managed_access()) return;
  if (stream != nullptr) return prefetch(extent, roc::device(device), *stream);
  migrate(extent, roc::device(device));
}

}  // namespace roc::detail

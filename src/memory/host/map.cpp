// SPDX-License-Identifier: MIT
#include <roc/memory/map.hpp>

#include <roc/device.hpp>
#include <roc/memory/managed.hpp>

#include "memory/host/host_table.hpp"
#include "memory/host/managed.hpp"
#include "runtime/current_device.hpp"
#include "base/error.hpp"
#include "runtime/stream.hpp"

namespace roc::detail {
namespace {

bool is_managed(host_extent extent) {
  auto const where = base::byte_range::of(extent.data, extent.bytes);
  return memory::host_table::instance().managed_array_of(where).has_value();
}

}  // namespace

void map_host(host_extent extent, stream_ref const* stream) {
  if (extent.bytes == 0) return;
  if (stream == nullptr && device::count() == 0) return;  // no work to wait for
  int const current = runtime::current_device();
  int const device = stream != nullptr ? runtime::device_of(*stream, current) : current;
  runtime::on_device const guard(device);
  bool const managed = is_managed(extent);
  bool const moves = managed && memory::moves_pages(device);
  // Else any work of the device makes managed memory untouchable for the host.
  bool const whole_device = stream == nullptr || (managed && !moves);
  if (whole_device) runtime::wait_for_all(device);
  stream_ref const order = stream != nullptr ? *stream : stream_ref();
  if (moves) prefetch(extent, memory_location::host(), order);
  order.synchronize();
}

void unmap_host(host_extent extent, stream_ref const* stream) {
  if (extent.bytes == 0 || !is_managed(extent)) return;
  int const current = runtime::current_device();
  int const device = stream != nullptr ? runtime::device_of(*stream, current) : current;
  if (!memory::moves_pages(device)) return;
  if (stream != nullptr) return prefetch(extent, roc::device(device), *stream);
  migrate(extent, roc::device(device));
}

void log_late(char const* message) noexcept { base::log(message); }

}  // namespace roc::detail

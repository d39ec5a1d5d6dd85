// SPDX-License-Identifier: MIT
#include "memory/host/managed.hpp"

#include <string>
#include <system_error>

#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/memory/managed.hpp>

#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "platform/pointer.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"

namespace roc {
namespace {

[[noreturn]] void throw_not_supported(char const* feature, int device, char const* attribute,
                                      char const* advice) {
  throw error(std::make_error_code(std::errc::not_supported),
              std::string(feature) + " is not supported: device " + std::to_string(device) +
                  " lacks the attribute " + attribute + "; " + advice);
}

// Throws roc::error (not_supported) if host and device cannot use managed memory at the same time.
void check_concurrent_access(int device) {
  if (roc::device(device).has_concurrent_managed_access()) return;
  throw_not_supported("concurrent access to managed memory", device,
                      "hipDeviceAttributeConcurrentManagedAccess",
                      "omit the call, because pages migrate on access");
}

// Returns the range of `extent`. Throws roc::error if it is not managed memory. Managed memory that
// other code allocated is accepted. May call HIP.
base::byte_range managed_range(detail::host_extent extent) {
  auto const range = base::byte_range::of(extent.data, extent.bytes);
  if (memory::host_table::instance().managed_array_of(range)) return range;
  if (platform::query_pointer(extent.data).kind == native_detail::memory_kind::managed) {
    return range;
  }
  throw error(std::make_error_code(std::errc::invalid_argument),
              base::to_string(range) + " is not managed memory; allocate it with managed_array");
}

hipMemoryAdvise native(roc::advice hint) {
  switch (hint) {
    case roc::advice::read_mostly: return hipMemAdviseSetReadMostly;
    case roc::advice::not_read_mostly: return hipMemAdviseUnsetReadMostly;
    case roc::advice::preferred_location: return hipMemAdviseSetPreferredLocation;
    case roc::advice::no_preferred_location: return hipMemAdviseUnsetPreferredLocation;
    case roc::advice::accessed_by: return hipMemAdviseSetAccessedBy;
    case roc::advice::not_accessed_by: break;
  }
  return hipMemAdviseUnsetAccessedBy;
}

unsigned native(attachment target) {
  switch (target) {
    case attachment::global: return hipMemAttachGlobal;
    case attachment::host: return hipMemAttachHost;
    case attachment::single: break;
  }
  return hipMemAttachSingle;
}

int native(memory_location location) {
  return location.is_host() ? hipCpuDeviceId : location.ordinal();
}

}  // namespace

namespace memory {

void check_managed() {
  int const device = runtime::current_device();
  if (roc::device(device).has_managed_memory()) return;
  throw_not_supported("managed memory", device, "hipDeviceAttributeManagedMemory",
                      "use mapped_array, or a device_array and copies");
}

}  // namespace memory

void detail::advise(host_extent extent, roc::advice hint, memory_location location) {
  if (extent.bytes == 0) return;
  auto const range = managed_range(extent);
  check_concurrent_access(location.is_host() ? runtime::current_device() : location.ordinal());
  ROCARRAY_HIP(hipMemAdvise, range.data(), range.bytes(), native(hint), native(location));
}

void detail::prefetch(host_extent extent, memory_location location, stream_ref stream) {
  if (extent.bytes == 0) return;
  auto const range = managed_range(extent);
  runtime::refuse_uncaptured_call(&stream);
  runtime::refuse_captured(stream, "the prefetch of managed memory");
  runtime::on_device const guard(runtime::device_of(stream, runtime::current_device()));
  check_concurrent_access(runtime::current_device());
  if (!location.is_host()) check_concurrent_access(location.ordinal());
  runtime::enqueue_and_record(stream, [&] {
    ROCARRAY_HIP(hipMemPrefetchAsync, range.data(), range.bytes(), native(location),
                 runtime::handle(stream));
    memory::host_table::instance().record_use(range, stream, memory::access::write);
  });
}

void detail::migrate(host_extent extent, memory_location location) {
  if (extent.bytes == 0) return;
  runtime::refuse_uncaptured_call(nullptr);
  runtime::order_default_stream_after_all(runtime::current_device());
  prefetch(extent, location, {});
  stream_ref().synchronize();
}

void detail::attach(host_extent extent, stream_ref stream, attachment target) {
  if (extent.bytes == 0) return;
  auto const range = managed_range(extent);
  auto const whole = memory::host_table::instance().managed_array_of(range);
  if (whole && whole->begin != range.begin) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "only a whole managed array can be attached: " + base::to_string(range) + " of " +
                    base::to_string(*whole) + "; attach the whole array");
  }
  if (target == attachment::single && stream.handle() == nullptr) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "managed memory cannot be attached to the default stream alone; use a roc::stream");
  }
  runtime::refuse_uncaptured_call(&stream);
  runtime::refuse_captured(stream, "the attachment of managed memory");
  runtime::on_device const guard(runtime::device_of(stream, runtime::current_device()));
  memory::check_managed();
  runtime::enqueue_and_record(stream, [&] {
    // HIP accepts whole allocations only, named by their first address and 0 bytes.
    ROCARRAY_HIP(hipStreamAttachMemAsync, runtime::handle(stream), range.data(), 0, native(target));
    memory::host_table::instance().record_use(range, stream, memory::access::write);
  });
}

}  // namespace roc

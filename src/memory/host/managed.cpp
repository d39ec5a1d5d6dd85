// SPDX-License-Identifier: MIT
#include "memory/host/managed.hpp"

#include <string>
#include <system_error>

#include <roc/error.hpp>
#include <roc/memory/managed.hpp>

#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"

namespace roc {
namespace {

// What hipDeviceGetAttribute says, and no where the runtime does not know the attribute.
bool has_attribute(int device, hipDeviceAttribute_t attribute) {
  int value = 0;
  return ROCARRAY_HIP_CODE(hipDeviceGetAttribute, &value, attribute, device) == hipSuccess && value != 0;
}

[[noreturn]] void throw_lacking(std::string const& what, int device, char const* attribute,
                                char const* instead) {
  throw error(std::make_error_code(std::errc::not_supported),
              what + ": device " + std::to_string(device) + " has not the attribute " + attribute +
                  ": " + instead);
}

// Pages are moved and advised only where host and device may use them at once.
void check_moving(std::string const& what, int device) {
  if (memory::moves_pages(device)) return;
  throw_lacking(what, device, "hipDeviceAttributeConcurrentManagedAccess",
                "leave it out, pages come when they are used");
}

base::byte_range managed_range(char const* what, detail::host_extent extent) {
  auto const where = base::byte_range::of(extent.data, extent.bytes);
  if (memory::host_table::instance().managed_array_of(where)) return where;
  hipPointerAttribute_t attributes{};
  bool const known = ROCARRAY_HIP_CODE(hipPointerGetAttributes, &attributes, extent.data) == hipSuccess;
  if (known && native_detail::kind_of(attributes) == native_detail::memory_kind::managed) {
    return where;  // somebody else's
  }
  throw error(std::make_error_code(std::errc::invalid_argument),
              std::string(what) + " of " + base::to_string(where) +
                  ", which is not managed memory: make it with managed_array");
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

unsigned native(attachment to) {
  switch (to) {
    case attachment::global: return hipMemAttachGlobal;
    case attachment::host: return hipMemAttachHost;
    case attachment::single: break;
  }
  return hipMemAttachSingle;
}

int native(memory_location where) { return where.is_host() ? hipCpuDeviceId : where.ordinal(); }

}  // namespace

namespace memory {

void check_managed() {
  int const device = runtime::current_device();
  if (has_attribute(device, hipDeviceAttributeManagedMemory)) return;
  throw_lacking("managed array", device, "hipDeviceAttributeManagedMemory",
                "use mapped_array, or a device_array and copies");
}

bool moves_pages(int device) {
  return has_attribute(device, hipDeviceAttributeConcurrentManagedAccess);
}

}  // namespace memory

void detail::advise(host_extent extent, roc::advice hint, memory_location where) {
  if (extent.bytes == 0) return;
  auto const range = managed_range("advice", extent);
  check_moving("advice", where.is_host() ? runtime::current_device() : where.ordinal());
  ROCARRAY_HIP(hipMemAdvise, range.data(), range.bytes(), native(hint), native(where));
}

void detail::prefetch(host_extent extent, memory_location to, stream_ref stream) {
  if (extent.bytes == 0) return;
  auto const range = managed_range("prefetch", extent);
  runtime::on_device const guard(runtime::device_of(stream, runtime::current_device()));
  check_moving("prefetch", runtime::current_device());
  if (!to.is_host()) check_moving("prefetch", to.ordinal());
  runtime::enqueue_noted(stream, [&] {
    ROCARRAY_HIP(hipMemPrefetchAsync, range.data(), range.bytes(), native(to), runtime::handle(stream));
    memory::host_table::instance().record_use(range, stream);
  });
}

void detail::migrate(host_extent extent, memory_location to) {
  if (extent.bytes == 0) return;
  runtime::order_after_all(runtime::current_device());
  prefetch(extent, to, {});
  stream_ref().synchronize();
}

void detail::attach(host_extent extent, stream_ref stream, attachment to) {
  if (extent.bytes == 0) return;
  auto const range = managed_range("attachment", extent);
  auto const whole = memory::host_table::instance().managed_array_of(range);
  if (whole && whole->begin != range.begin) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "attachment of " + base::to_string(range) + ", a part of the managed array " +
                    base::to_string(*whole) + ": attach the whole array");
  }
  if (to == attachment::single && stream.handle() == nullptr) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "attachment to the default stream alone: give a stream of its own");
  }
  runtime::on_device const guard(runtime::device_of(stream, runtime::current_device()));
  memory::check_managed();
  runtime::enqueue_noted(stream, [&] {
    // 0 bytes: the whole, by its first address, which is all that HIP takes.
    ROCARRAY_HIP(hipStreamAttachMemAsync, runtime::handle(stream), range.data(), 0, native(to));
    memory::host_table::instance().record_use(range, stream);
  });
}

}  // namespace roc

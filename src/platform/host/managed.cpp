// SPDX-License-Identifier: MIT
// Managed memory: ordinary memory, which every device of the CPU can reach. Advice and prefetching
// are checked, ordered as work, and move nothing.
#include <cstddef>
#include <optional>

#include "platform/host/engine.hpp"
#include "platform/host/entry.hpp"
#include "platform/host/host_memory.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

bool exists(int device) {
  return device == hipCpuDeviceId || (device >= 0 && device < the_settings().devices);
}

// Null where not all of it is one piece of managed memory.
std::optional<host_range> managed_range(void const* data, std::size_t bytes) {
  auto const known = host_ranges::instance().find(data);
  if (!known || !known->managed || bytes == 0) return std::nullopt;
  if (!within(last_byte(data, bytes), known->data, known->bytes)) return std::nullopt;
  return known;
}

// What moving pages takes: the machine's part in it is ConcurrentManagedAccess.
hipError_t check(void const* data, std::size_t bytes, int device) {
  if (!managed_range(data, bytes)) return hipErrorInvalidValue;
  if (!exists(device) || the_settings().managed_memory != managed::full) {
    return hipErrorInvalidDevice;
  }
  return hipSuccess;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipMallocManaged(void** data, std::size_t bytes, unsigned flags) {
  return call("hipMallocManaged", [=] {
    if (the_settings().managed_memory == managed::off) return hipErrorNotSupported;
    return host_ranges::instance().allocate_managed(data, bytes, flags);
  });
}

ROCARRAY_HOST_API hipError_t hipMemAdvise(void const* data, std::size_t bytes, hipMemoryAdvise advice,
                                     int device) {
  return call("hipMemAdvise", [=] {
    bool const known = advice >= hipMemAdviseSetReadMostly && advice <= hipMemAdviseUnsetAccessedBy;
    return known ? check(data, bytes, device) : hipErrorInvalidValue;
  });
}

ROCARRAY_HOST_API hipError_t hipMemPrefetchAsync(void const* data, std::size_t bytes, int device,
                                            hipStream_t stream) {
  return call("hipMemPrefetchAsync", [=] {
    auto const found = engine::instance().find(stream);
    if (found == nullptr) return hipErrorInvalidHandle;
    if (hipError_t const refused = check(data, bytes, device); refused != hipSuccess) {
      return refused;
    }
    engine::instance().submit(found, [] {});
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* data, std::size_t bytes,
                                                unsigned flags) {
  return call("hipStreamAttachMemAsync", [=] {
    auto const found = engine::instance().find(stream);
    if (found == nullptr) return hipErrorInvalidHandle;
    auto const known = managed_range(data, bytes == 0 ? 1 : bytes);
    // The whole allocation, or the word for it, 0.
    if (!known || known->data != data || (bytes != 0 && bytes != known->bytes)) {
      return hipErrorInvalidValue;
    }
    bool const single = flags == hipMemAttachSingle;
    if (!single && flags != hipMemAttachGlobal && flags != hipMemAttachHost) {
      return hipErrorInvalidValue;
    }
    if (single && stream == nullptr) return hipErrorInvalidValue;
    engine::instance().submit(found, [] {});
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END

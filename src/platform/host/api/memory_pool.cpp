// SPDX-License-Identifier: MIT
// Stream-ordered allocation. The call allocates the memory; a free returns it when the stream
// reaches it. Every device has one pool, which caches nothing.
#include "platform/host/access_checker.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/arena.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/current_device.hpp"
#include "platform/host/peer_access.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Returns the handle of a device's pool, which is not a valid address.
hipMemPool_t pool_of(int device) {
  return reinterpret_cast<hipMemPool_t>(std::size_t{0x100} + static_cast<std::size_t>(device));
}

// Returns the device of a pool, or -1 if there is no such pool.
int device_of(hipMemPool_t pool) {
  for (int device = 0; device < host_settings().device_count; ++device) {
    if (pool == pool_of(device)) return device;
  }
  return -1;
}

bool is_pool(hipMemPool_t pool) { return device_of(pool) >= 0; }

hipError_t allocate_on(std::shared_ptr<stream_object> const& stream, int device, std::size_t bytes,
                       void** data) {
  stream_captures::instance().refuse(stream.get());
  *data = nullptr;
  if (bytes == 0) return emulates_rocm() ? hipSuccess : hipErrorInvalidValue;
  arena& memory = device_arena(device);
  *data = memory.allocate(bytes, true);
  if (*data == nullptr) {
    // Enqueued frees may release enough memory, also those on streams of other devices.
    scheduler::instance().wait_for_device(device);
    if (stream->device != device) scheduler::instance().wait_for_device(stream->device);
    *data = memory.allocate(bytes, true);
  }
  note_device_allocation(*data, bytes, false);
  return *data == nullptr ? hipErrorOutOfMemory : hipSuccess;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipMallocAsync(void** data, std::size_t bytes, hipStream_t stream) {
  return api_call("hipMallocAsync", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    if (data == nullptr) return hipErrorInvalidValue;
    return allocate_on(target, target->device, bytes, data);
  });
}

ROCARRAY_HOST_API hipError_t hipMallocFromPoolAsync(void** data, std::size_t bytes,
                                                    hipMemPool_t pool, hipStream_t stream) {
  return api_call("hipMallocFromPoolAsync", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    if (data == nullptr || !is_pool(pool)) return hipErrorInvalidValue;
    return allocate_on(target, device_of(pool), bytes, data);
  });
}

ROCARRAY_HOST_API hipError_t hipFreeAsync(void* data, hipStream_t stream) {
  return api_call("hipFreeAsync", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    if (data == nullptr && host_settings().emulated == runtime_rules::rocm7) return hipSuccess;
    int const device = owning_device(data);
    if (device < 0) return hipErrorInvalidValue;
    auto const allocated = device_arena(device).find(data);
    if (!allocated || allocated->data != data || allocated->is_opened) return hipErrorInvalidValue;
    stream_captures::instance().refuse(target.get());
    arena& memory = device_arena(device);
    if (!memory.begin_free(data)) return hipErrorInvalidValue;
    try {
      scheduler::instance().submit(target, [&memory, data] {
        note_device_free(data, false);
        memory.free(data);
      });
    } catch (...) {
      memory.restore(data);
      throw;
    }
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return api_call("hipDeviceGetDefaultMemPool", [=] {
    if (pool == nullptr) return hipErrorInvalidValue;
    if (!device_exists(device)) return hipErrorInvalidDevice;
    *pool = pool_of(device);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute,
                                                    void* value) {
  return api_call("hipMemPoolSetAttribute", [=] {
    bool const is_valid =
        is_pool(pool) && value != nullptr && attribute == hipMemPoolAttrReleaseThreshold;
    return is_valid ? hipSuccess : hipErrorInvalidValue;
  });
}

ROCARRAY_HOST_API hipError_t hipMemPoolSetAccess(hipMemPool_t pool,
                                                 hipMemAccessDesc const* accesses,
                                                 std::size_t count) {
  return api_call("hipMemPoolSetAccess", [=] {
    int const owner = device_of(pool);
    if (owner < 0 || (accesses == nullptr && count != 0)) return hipErrorInvalidValue;
    for (std::size_t i = 0; i != count; ++i) {
      hipMemLocation const& location = accesses[i].location;
      if (location.type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
      if (!device_exists(location.id)) return hipErrorInvalidDevice;
      bool const is_allowed = accesses[i].flags == hipMemAccessFlagsProtReadWrite;
      // The device of the pool always has access.
      if (location.id == owner && !is_allowed) return hipErrorInvalidDevice;
      if (location.id == owner) continue;
      if (!is_connected(location.id, owner)) return hipErrorInvalidDevice;
      set_pool_access(location.id, owner, is_allowed);
    }
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipMemPoolTrimTo(hipMemPool_t pool, std::size_t) {
  return api_call("hipMemPoolTrimTo",
                  [=] { return is_pool(pool) ? hipSuccess : hipErrorInvalidValue; });
}

ROCARRAY_HOST_API_END

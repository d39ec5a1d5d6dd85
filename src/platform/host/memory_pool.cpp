// SPDX-License-Identifier: MIT
// Stream-ordered allocation: memory is taken when the call is made, and freed when the stream has
// come to the free. Every device has one pool, which keeps nothing.
#include "platform/host/arena.hpp"
#include "platform/host/device.hpp"
#include "platform/host/engine.hpp"
#include "platform/host/entry.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// A handle that cannot be mistaken for memory.
hipMemPool_t pool_of(int device) {
  return reinterpret_cast<hipMemPool_t>(std::size_t{0x100} + static_cast<std::size_t>(device));
}

bool is_pool(hipMemPool_t pool) {
  for (int device = 0; device < the_settings().devices; ++device) {
    if (pool == pool_of(device)) return true;
  }
  return false;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipMallocAsync(void** data, std::size_t bytes, hipStream_t stream) {
  return call("hipMallocAsync", [=] {
    auto const found = engine::instance().find(stream);
    if (found == nullptr) return hipErrorInvalidHandle;
    if (data == nullptr) return hipErrorInvalidValue;
    *data = nullptr;
    if (bytes == 0) return hipErrorInvalidValue;
    arena& memory = memory_of(found->device);
    *data = memory.allocate(bytes);
    if (*data == nullptr) {
      // Frees that are enqueued count: the call may wait for them.
      engine::instance().wait_for_device(found->device);
      *data = memory.allocate(bytes);
    }
    return *data == nullptr ? hipErrorOutOfMemory : hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipFreeAsync(void* data, hipStream_t stream) {
  return call("hipFreeAsync", [=] {
    auto const found = engine::instance().find(stream);
    if (found == nullptr) return hipErrorInvalidHandle;
    int const device = device_owning(data);
    if (device < 0) return hipErrorInvalidValue;
    auto const known = memory_of(device).find(data);
    if (!known || known->data != data) return hipErrorInvalidValue;
    engine::instance().submit(found, [=] { memory_of(device).free(data); });
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return call("hipDeviceGetDefaultMemPool", [=] {
    if (pool == nullptr) return hipErrorInvalidValue;
    if (device < 0 || device >= the_settings().devices) return hipErrorInvalidDevice;
    *pool = pool_of(device);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr which,
                                               void* value) {
  return call("hipMemPoolSetAttribute", [=] {
    bool const valid = is_pool(pool) && value != nullptr && which == hipMemPoolAttrReleaseThreshold;
    return valid ? hipSuccess : hipErrorInvalidValue;
  });
}

ROCARRAY_HOST_API hipError_t hipMemPoolTrimTo(hipMemPool_t pool, std::size_t) {
  return call("hipMemPoolTrimTo",
              [=] { return is_pool(pool) ? hipSuccess : hipErrorInvalidValue; });
}

ROCARRAY_HOST_API_END

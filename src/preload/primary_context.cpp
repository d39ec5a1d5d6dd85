// SPDX-License-Identifier: MIT
#include "preload/primary_context.hpp"

#if ROCARRAY_PLATFORM_NVIDIA

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <atomic>

namespace roc::preload {
namespace {

// The driver's functions, by way of librocarray-preload.so, whose name the loader takes for the
// driver's. The names are those of the current versions, which cuda.h may give to functions by
// macros.
struct driver_functions {
  CUresult (*get_current)(CUcontext*) = nullptr;
  CUresult (*set_current)(CUcontext) = nullptr;
  CUresult (*primary_state)(CUdevice, unsigned*, int*) = nullptr;
  CUresult (*retain_primary)(CUcontext*, CUdevice) = nullptr;
  CUresult (*release_primary)(CUdevice) = nullptr;
  CUresult (*stream_context)(CUstream, CUcontext*) = nullptr;
  CUresult (*pointer_attribute)(void*, CUpointer_attribute, CUdeviceptr) = nullptr;
  CUresult (*context_id)(CUcontext, unsigned long long*) = nullptr;  // fails before CUDA 12
  CUresult (*address_range)(CUdeviceptr*, std::size_t*, CUdeviceptr) = nullptr;
  bool is_complete = false;

  driver_functions() noexcept {
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return;
    look_up(library, context_id, "cuCtxGetId");
    is_complete = look_up(library, get_current, "cuCtxGetCurrent") &&
                  look_up(library, set_current, "cuCtxSetCurrent") &&
                  look_up(library, primary_state, "cuDevicePrimaryCtxGetState") &&
                  look_up(library, retain_primary, "cuDevicePrimaryCtxRetain") &&
                  look_up(library, release_primary, "cuDevicePrimaryCtxRelease_v2") &&
                  look_up(library, stream_context, "cuStreamGetCtx") &&
                  look_up(library, pointer_attribute, "cuPointerGetAttribute") &&
                  look_up(library, address_range, "cuMemGetAddressRange_v2");
  }
  template <class Function>
  static bool look_up(void* library, Function*& result, char const* name) noexcept {
    result = reinterpret_cast<Function*>(dlsym(library, name));
    return result != nullptr;
  }
};

// Looked up while this object is loaded: a guard of a static local variable would be held over
// calls of the loader.
driver_functions const functions_of_driver;

driver_functions const& driver() noexcept { return functions_of_driver; }

struct retained_context {
  std::atomic<CUcontext> handle = nullptr;
  std::atomic<unsigned long long> id = 0;  // 0: not known
};

// Returns the primary context of a device, or null if it is not active. The first call retains it
// until the process ends, so that its handle stays valid. A reset of the device destroys what the
// context holds and keeps the handle, but not the context's number: sets `was_reset` if that has
// changed since the first call.
CUcontext retained_primary_context_of(int device, bool& was_reset) noexcept {
  constexpr std::size_t max_devices = 64;
  static constinit std::array<retained_context, max_devices> contexts{};
  if (device < 0 || static_cast<std::size_t>(device) >= max_devices) return nullptr;
  unsigned flags = 0;
  int is_active = 0;
  // The runtime and the driver number devices alike.
  if (driver().primary_state(device, &flags, &is_active) != CUDA_SUCCESS || is_active == 0) {
    return nullptr;
  }
  auto& retained = contexts[static_cast<std::size_t>(device)];
  CUcontext found = retained.handle.load();
  if (found == nullptr && driver().retain_primary(&found, device) == CUDA_SUCCESS) {
    CUcontext none = nullptr;
    // Another thread may have retained it meanwhile. Once is enough.
    if (!retained.handle.compare_exchange_strong(none, found)) driver().release_primary(device);
  }
  unsigned long long id = 0;
  if (found != nullptr && driver().context_id != nullptr &&
      driver().context_id(found, &id) == CUDA_SUCCESS) {
    unsigned long long first = 0;
    was_reset = !retained.id.compare_exchange_strong(first, id) && first != id;
  }
  return found;
}

}  // namespace

primary_context_scope::primary_context_scope(int device) noexcept {
  CUcontext current = nullptr;
  if (!driver().is_complete || driver().get_current(&current) != CUDA_SUCCESS) return;
  CUcontext const primary = retained_primary_context_of(device, was_reset_);
  previous_ = current;
  primary_ = primary;
  is_usable_ = primary != nullptr && current == primary;
}

primary_context_scope::~primary_context_scope() {
  CUcontext current = nullptr;
  if (!is_usable_ || driver().get_current(&current) != CUDA_SUCCESS) return;
  if (current != previous_) driver().set_current(static_cast<CUcontext>(previous_));
}

bool primary_context_scope::is_used_by(void* stream, void const* memory) const noexcept {
  if (!is_usable_) return false;
  // The handles of the default streams mean a stream of the current context.
  bool const is_default = reinterpret_cast<std::uintptr_t>(stream) <= 2;
  CUcontext context = nullptr;
  if (!is_default &&
      (driver().stream_context(static_cast<CUstream>(stream), &context) != CUDA_SUCCESS ||
       context != primary_)) {
    return false;
  }
  if (memory == nullptr) return true;
  context = nullptr;
  // Memory of pools and of virtual addresses belongs to no context.
  return driver().pointer_attribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT,
                                    reinterpret_cast<CUdeviceptr>(memory)) == CUDA_SUCCESS &&
         (context == nullptr || context == primary_);
}

std::optional<base::byte_range> find_driver_allocation(std::uintptr_t address) noexcept {
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  if (!driver().is_complete ||
      driver().address_range(&begin, &bytes, static_cast<CUdeviceptr>(address)) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  return base::byte_range{static_cast<std::uintptr_t>(begin),
                          static_cast<std::uintptr_t>(begin) + bytes};
}

}  // namespace roc::preload

#else

namespace roc::preload {

primary_context_scope::primary_context_scope(int) noexcept {}
primary_context_scope::~primary_context_scope() = default;
bool primary_context_scope::is_used_by(void*, void const*) const noexcept { return true; }

}  // namespace roc::preload

#endif

// SPDX-License-Identifier: MIT
#include "kernel_registry.hpp"

#include <hip/hip_runtime_api.h>

#include <map>
#include <mutex>

#include "export.hpp"

namespace roc::fake_runtime {
namespace {

struct kernel {
  void** module;
  std::string name;
};

struct kernel_table {
  std::mutex mutex;
  std::map<void const*, kernel> kernels;
};

// Never destroyed: programs register kernels before main and unregister them after it.
kernel_table& table() {
  static auto* const instance = new kernel_table;
  return *instance;
}

struct launch_configuration {
  dim3 grid{};
  dim3 block{};
  std::size_t shared = 0;
  hipStream_t stream = nullptr;
};

// The configuration of a launch (<<<>>>) between its push and its pop.
thread_local launch_configuration pushed_configuration;

}  // namespace

std::optional<std::string> kernel_name(void const* host_function) {
  std::lock_guard const lock(table().mutex);
  auto const found = table().kernels.find(host_function);
  if (found == table().kernels.end()) return std::nullopt;
  return found->second.name;
}

}  // namespace roc::fake_runtime

using namespace roc::fake_runtime;

// The functions that hipcc's startup and launch code calls. No header declares all of them in every
// version: these are the signatures of the calls that clang generates, the same from 5.2 to 6.4.

ROCARRAY_FAKE_RUNTIME_EXPORT void** __hipRegisterFatBinary(void const* data);
ROCARRAY_FAKE_RUNTIME_EXPORT void __hipUnregisterFatBinary(void** module);
ROCARRAY_FAKE_RUNTIME_EXPORT void __hipRegisterFunction(void** module, void const* host_function,
                                                        char* device_function,
                                                        char const* device_name,
                                                        unsigned thread_limit, void* thread,
                                                        void* block, dim3* block_size,
                                                        dim3* grid_size, int* wavefront);
ROCARRAY_FAKE_RUNTIME_EXPORT void __hipRegisterVar(void** module, void* variable, char* host_name,
                                                   char* device_name, int external,
                                                   std::size_t size, int constant, int global);
ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block,
                                                                   std::size_t shared,
                                                                   hipStream_t stream);
ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block,
                                                                  std::size_t* shared,
                                                                  hipStream_t* stream);

// Returns a handle of one object file's kernels: a unique address.
void** __hipRegisterFatBinary(void const*) { return new void*(nullptr); }

void __hipUnregisterFatBinary(void** module) {
  {
    std::lock_guard const lock(table().mutex);
    std::erase_if(table().kernels,
                  [=](auto const& entry) { return entry.second.module == module; });
  }
  delete module;
}

void __hipRegisterFunction(void** module, void const* host_function, char*, char const* device_name,
                           unsigned, void*, void*, dim3*, dim3*, int*) {
  std::lock_guard const lock(table().mutex);
  table().kernels.insert_or_assign(host_function, kernel{module, device_name});
}

// Host stubs use the host's variable. Copies to and from symbols are not supported.
void __hipRegisterVar(void**, void*, char*, char*, int, std::size_t, int, int) {}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                      hipStream_t stream) {
  pushed_configuration = {grid, block, shared, stream};
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                     hipStream_t* stream) {
  *grid = pushed_configuration.grid;
  *block = pushed_configuration.block;
  *shared = pushed_configuration.shared;
  *stream = pushed_configuration.stream;
  return hipSuccess;
}

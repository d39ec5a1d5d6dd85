// SPDX-License-Identifier: MIT
// A static CUDA runtime as far as static_runtime_program.cpp uses one: it has the names of CUDA's,
// and calls the driver. As in CUDA's, an initializer is apart from the other functions.
#include <cuda.h>
#include <dlfcn.h>

#include <cstddef>

extern "C" {
[[gnu::noinline]] void* libcudart_static_00(char const* name);
[[gnu::noinline]] int libcudart_static_01(void* to, void const* from, std::size_t bytes);
int cudaMalloc(void** data, std::size_t bytes);
[[gnu::noinline]] int cudaMemcpy(void* to, void const* from, std::size_t bytes, int kind);
[[gnu::section(".text.startup")]] void libcudart_static_02();
}

namespace {
void* driver = nullptr;
}

extern "C" {

void* libcudart_static_00(char const* name) {
  return driver == nullptr ? nullptr : dlsym(driver, name);
}

int cudaMalloc(void** data, std::size_t bytes) {
  libcudart_static_02();
  void* const function = libcudart_static_00("cuMemAlloc_v2");
  if (function == nullptr) return CUDA_ERROR_NO_DEVICE;
  return reinterpret_cast<int (*)(void**, std::size_t)>(function)(data, bytes);
}

int cudaMemcpy(void* to, void const* from, std::size_t bytes, int) {
  int const code = libcudart_static_01(to, from, bytes);
  return code == CUDA_SUCCESS ? 0 : 1;
}

int libcudart_static_01(void* to, void const* from, std::size_t bytes) {
  void* const function = libcudart_static_00("cuMemcpyHtoD_v2");
  if (function == nullptr) return CUDA_ERROR_NO_DEVICE;
  return reinterpret_cast<int (*)(void*, void const*, std::size_t)>(function)(to, from, bytes);
}

void libcudart_static_02() {
  if (driver == nullptr) driver = dlopen("libcuda.so.1", RTLD_NOW);
}
}

// SPDX-License-Identifier: MIT
// A program, and a library for loader.cpp, with a static runtime: CUDA's, or the one of
// fake_static_runtime.cpp. Copies 100 bytes to the device 1000 times in each of two functions.
#include <cstddef>
#include <cstdio>

extern "C" {
int cudaMalloc(void** data, std::size_t bytes);
int cudaMemcpy(void* to, void const* from, std::size_t bytes, int kind);
[[gnu::noinline]] int copy_here(void* to, void const* from);
[[gnu::noinline]] int cuda_copy_there(void* to, void const* from);
int round_trip(std::size_t bytes);
}

extern "C" int copy_here(void* to, void const* from) {
  int errors = 0;
  for (int i = 0; i != 1000; ++i) errors += cudaMemcpy(to, from, 100, 1);
  return errors;
}

// A name like those of the runtime.
extern "C" int cuda_copy_there(void* to, void const* from) {
  int errors = 0;
  for (int i = 0; i != 1000; ++i) errors += cudaMemcpy(to, from, 100, 1);
  return errors;
}

// Called by loader.cpp. Returns 0, the number of errors, or 77 without a device.
extern "C" int round_trip(std::size_t bytes) {
  void* memory = nullptr;
  char const source[100] = "";
  if (cudaMalloc(&memory, bytes) != 0) return 77;
  return copy_here(memory, source) + cuda_copy_there(memory, source);
}

int main() {
  int const errors = round_trip(100);
  if (errors == 77) return 77;
  std::printf("errors: %d\n", errors);
  return errors;
}

// SPDX-License-Identifier: MIT
// nested_program FUNCTION: a plain HIP program with a tool that copies in calls of the HIP runtime.
// The tool is the functions below, which the preloaded library calls too, because the program
// exports them. The first call of FUNCTION copies: hipEventSynchronize in the thread of the
// program's copy, hipSetDevice in another thread. Exits with 77 if there is no device.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "gpu.hpp"

namespace {

constexpr std::size_t mebi = 1024 * 1024;

std::atomic<char const*> awaited = "";
std::atomic<bool> has_copied = false;
std::atomic<int> nested_code = -1;
void* memory_of_tool = nullptr;
std::thread::id const main_thread = std::this_thread::get_id();

template <class... Arguments>
hipError_t call_runtime(char const* name, Arguments... arguments) {
  auto* const function = reinterpret_cast<hipError_t (*)(Arguments...)>(dlsym(RTLD_NEXT, name));
  hipError_t const code = function(arguments...);
  if (std::strcmp(name, awaited) == 0 && !has_copied.exchange(true)) {
    std::vector<unsigned char> const source(mebi, 7);
    nested_code = hipMemcpy(memory_of_tool, source.data(), mebi, hipMemcpyHostToDevice);
  }
  return code;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] hipError_t hipEventSynchronize(hipEvent_t event) {
  return call_runtime("hipEventSynchronize", event);
}
extern "C" [[gnu::visibility("default")]] hipError_t hipSetDevice(int device) {
  if (std::this_thread::get_id() == main_thread) {
    return reinterpret_cast<hipError_t (*)(int)>(dlsym(RTLD_NEXT, "hipSetDevice"))(device);
  }
  return call_runtime("hipSetDevice", device);
}

int main(int count, char** arguments) {
  constexpr std::size_t bytes = 64 * mebi;
  void* memory = nullptr;
  if (count != 2) return 2;
  if (hipMalloc(&memory, bytes) != hipSuccess) return 77;
  if (hipMalloc(&memory_of_tool, mebi) != hipSuccess) return 77;
  std::vector<unsigned char> const source(bytes, 5);
  std::vector<unsigned char> back(bytes);
  awaited = arguments[1];
  std::printf("to the device: %d\n",
              hipMemcpy(memory, source.data(), bytes, hipMemcpyHostToDevice));
  // Without the preloaded library, nothing else calls the function.
  if (!has_copied) {
    if (std::string_view(arguments[1]) == "hipSetDevice") {
      std::thread([] { static_cast<void>(hipSetDevice(0)); }).join();
    } else {
      hipEvent_t event = nullptr;
      static_cast<void>(hipEventCreate(&event));
      static_cast<void>(hipEventSynchronize(event));
    }
  }
  std::printf("to the host: %d\n", hipMemcpy(back.data(), memory, bytes, hipMemcpyDeviceToHost));
  std::printf("nested: %d, bytes: %d\n", nested_code.load(), back == source);
}

// SPDX-License-Identifier: MIT
// A copier for the fake driver, in place of librocarray-preload-copy.so, which needs a device. It
// asks for the driver as the runtime in librocarray-preload-copy.so does, and serves a copy only if
// it has got the driver's own function. Reports that a copy took 1 ns, but for the first
// TEST_SLOW_COPIES copies 1 s.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "preload/copier.hpp"

namespace {

// Returns the file that contains a function which the driver gives to this object.
std::string_view file_of_function(char const* name) {
  using look_up = int(char const*, void**, int, unsigned long long, void*);
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return {};
  auto* get = reinterpret_cast<look_up*>(dlsym(driver, "cuGetProcAddress_v2"));
  void* function = nullptr;
  // The look-up of the look-up, as the runtimes do it.
  if (get == nullptr || get("cuGetProcAddress", &function, 12000, 0, nullptr) != 0) return {};
  get = reinterpret_cast<look_up*>(function);
  Dl_info info;
  if (get(name, &function, 12000, 0, nullptr) != 0 || dladdr(function, &info) == 0) return {};
  std::string_view const path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

// Returns true for the first TEST_SLOW_COPIES calls.
bool is_slow() {
  static std::atomic<long> copies = 0;
  char const* const text = std::getenv("TEST_SLOW_COPIES");
  return text != nullptr && copies++ < std::strtol(text, nullptr, 10);
}

}  // namespace

void rocarray_preload_start(roc::preload::vendor_functions const*) noexcept {}

roc::preload::outcome rocarray_preload_copy(roc::preload::copy_request const* request,
                                            roc::preload::copy_report* report) noexcept {
  using roc::preload::direction;
  using roc::preload::outcome;
  // Not the function for which fake_tool.cpp has its own.
  if (file_of_function("cuMemcpyDtoH") != "libcuda.so.1") return outcome::failed;
  if (request->device != 0) return outcome::failed;
  auto const asked = static_cast<direction>(request->kind);
  report->copied = asked == direction::to_host ? direction::to_host : direction::to_device;
  if (request->choose != nullptr) {
    outcome const chosen = request->choose(request, report);
    if (chosen != outcome::served) return chosen;
  }
  report->nanoseconds = is_slow() ? 1'000'000'000 : 1;
  auto const* const source = static_cast<char const*>(request->source);
  auto* const destination = static_cast<char*>(request->destination);
  for (std::size_t z = 0; z != request->depth; ++z) {
    for (std::size_t y = 0; y != request->height; ++y) {
      std::memcpy(destination + z * request->destination_slice + y * request->destination_pitch,
                  source + z * request->source_slice + y * request->source_pitch, request->width);
    }
  }
  return outcome::served;
}

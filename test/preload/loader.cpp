// SPDX-License-Identifier: MIT
// loader PLUGIN: a program that is linked with no GPU runtime, and loads a plugin that is.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

int main(int, char** arguments) {
  void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    std::puts(dlerror());
    return 1;
  }
  auto* const round_trip = reinterpret_cast<int (*)(std::size_t)>(dlsym(plugin, "round_trip"));
  int const result = round_trip == nullptr ? 1 : round_trip(std::size_t{4} << 20);
  std::printf("round trip: %d\n", result);
  return result;
}

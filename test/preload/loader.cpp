// SPDX-License-Identifier: MIT
// loader PLUGIN: a program that is linked with no GPU runtime, and loads a plugin that is. Loads it
// twice, since a program may unload it in between.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

int main(int, char** arguments) {
  for (int i = 0; i != 2; ++i) {
    void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::puts(dlerror());
      return 1;
    }
    auto* const round_trip = reinterpret_cast<int (*)(std::size_t)>(dlsym(plugin, "round_trip"));
    int const result = round_trip == nullptr ? 1 : round_trip(std::size_t{4} << 20);
    std::printf("round trip %d: %d\n", i, result);
    if (result != 0) return result;
    dlclose(plugin);
  }
  return 0;
}

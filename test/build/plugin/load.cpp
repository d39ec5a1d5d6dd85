// SPDX-License-Identifier: MIT
// load PLUGIN: loads a plugin, calls it and unloads it, several times. Threads that the plugin has
// started still run after it was unloaded.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <thread>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: load PLUGIN\n", stderr);
    return 2;
  }
  for (int i = 0; i < 3; ++i) {
    void* const plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void* const function = plugin == nullptr ? nullptr : dlsym(plugin, "copy_there_and_back");
    if (function == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
    int const result = reinterpret_cast<int (*)()>(function)();
    if (result != 0) return result;
    dlclose(plugin);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return 0;
}

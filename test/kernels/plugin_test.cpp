// SPDX-License-Identifier: MIT
// plugin_test PLUGIN...: loads the plugins one after the other, and launches their kernels, which
// have the same address. Exit code 77 if they have not.
#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <vector>

#include <roc/roc.hpp>

namespace {

// Returns the address of the kernel, or null after an error.
void const* run_plugin(char const* path, roc::device_array<int> const& out) {
  void* const plugin = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    std::puts(::dlerror());
    return nullptr;
  }
  using launcher = void const*(roc::device_array<int> const&);
  auto* const launch = reinterpret_cast<launcher*>(::dlsym(plugin, "launch_plugin"));
  out.zero();
  void const* const kernel = launch(out);
  std::vector<int> result(8);
  out.copy_to_host(result);
  bool const is_right = result == std::vector<int>{7, 6, 5, 4, 3, 2, 1, 0};
  ::dlclose(plugin);
  bool const is_unloaded = ::dlopen(path, RTLD_NOW | RTLD_NOLOAD) == nullptr;
  std::printf("%s: kernel at %p, result %s, %s\n", path, kernel, is_right ? "right" : "wrong",
              is_unloaded ? "unloaded" : "still loaded");
  return is_right && is_unloaded ? kernel : nullptr;
}

}  // namespace

int main(int count, char** paths) {
  try {
    roc::device_array<int> const out({8});
    void const* first = nullptr;
    for (int i = 1; i < count; ++i) {
      void const* const kernel = run_plugin(paths[i], out);
      if (kernel == nullptr) return 1;
      if (first != nullptr && kernel != first) return 77;
      first = kernel;
    }
    return 0;
  } catch (std::exception const& error) {
    std::puts(error.what());
    return 1;
  }
}

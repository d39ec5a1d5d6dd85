// SPDX-License-Identifier: MIT
#include "host_stubs.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace roc::fake_runtime {
namespace {

using host_stub_map = std::map<std::string, host_stub const*, std::less<>>;

// The map that `add` fills: the C interface passes no context.
host_stub_map* map_being_loaded = nullptr;

void add(char const* mangled, host_stub const* stub) { map_being_loaded->emplace(mangled, stub); }

// Loads a library and adds its stubs. Reports on stderr if it cannot.
void load(std::string const& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "rocarray fake HIP runtime: ROCARRAY_HOST_STUBS: %s\n", dlerror());
    return;
  }
  void* const symbol = dlsym(library, "rocarray_register_host_stubs");
  if (symbol == nullptr) {
    std::fprintf(stderr,
                 "rocarray fake HIP runtime: ROCARRAY_HOST_STUBS: %s has no "
                 "rocarray_register_host_stubs; build it with rocarray_add_kernel_host_stubs()\n",
                 path.c_str());
    return;
  }
  reinterpret_cast<decltype(&rocarray_register_host_stubs)>(symbol)(&add);
}

// Loads the libraries that ROCARRAY_HOST_STUBS lists.
host_stub_map const& load_all() {
  auto* const map = new host_stub_map;  // never destroyed: static destructors may launch kernels
  map_being_loaded = map;
  char const* const list = std::getenv("ROCARRAY_HOST_STUBS");
  std::istringstream paths(list == nullptr ? "" : list);
  for (std::string path; std::getline(paths, path, ':');) {
    if (!path.empty()) load(path);
  }
  return *map;
}

}  // namespace

host_stub const* find_host_stub(std::string const& mangled) {
  static host_stub_map const& stubs = load_all();
  auto const found = stubs.find(mangled);
  return found == stubs.end() ? nullptr : found->second;
}

}  // namespace roc::fake_runtime

// SPDX-License-Identifier: MIT
#include "host_stubs.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

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
  auto map = std::make_unique<host_stub_map>();
  map_being_loaded = map.get();
  char const* const list = std::getenv("ROCARRAY_HOST_STUBS");
  std::string_view rest = list == nullptr ? "" : list;
  while (!rest.empty()) {
    auto const end = std::min(rest.find(':'), rest.size());
    if (end != 0) load(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return *map.release();  // never destroyed: static destructors may launch kernels
}

}  // namespace

host_stub const* find_host_stub(std::string const& mangled) {
  static host_stub_map const& stubs = load_all();
  auto const found = stubs.find(mangled);
  return found == stubs.end() ? nullptr : found->second;
}

}  // namespace roc::fake_runtime

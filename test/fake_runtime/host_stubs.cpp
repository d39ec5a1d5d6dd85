// SPDX-License-Identifier: MIT
#include "host_stubs.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace roc::hip_double {
namespace {

using host_stub_map = std::map<std::string, host_stub const*, std::less<>>;

/// Being loaded: `add` is a plain function and has no other way to reach its map.
host_stub_map* loading = nullptr;

void add(char const* mangled, host_stub const* twin) { loading->emplace(mangled, twin); }

void load(std::string const& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "rocarray double: ROCARRAY_HOST_STUBS: %s\n", dlerror());
    return;
  }
  void* const symbol = dlsym(library, "rocarray_register_host_stubs");
  if (symbol == nullptr) {
    std::fprintf(stderr, "rocarray double: ROCARRAY_HOST_STUBS: %s has no rocarray_register_host_stubs\n",
                 path.c_str());
    return;
  }
  reinterpret_cast<decltype(&rocarray_register_host_stubs)>(symbol)(&add);
}

host_stub_map const& load_all() {
  auto* const map = new host_stub_map;  // leaked on purpose: kernels may be launched at process exit
  loading = map;
  char const* const list = std::getenv("ROCARRAY_HOST_STUBS");
  std::istringstream paths(list == nullptr ? "" : list);
  for (std::string path; std::getline(paths, path, ':');) {
    if (!path.empty()) load(path);
  }
  return *map;
}

}  // namespace

host_stub const* find_host_stub(std::string const& mangled) {
  static host_stub_map const& twins = load_all();
  auto const found = twins.find(mangled);
  return found == twins.end() ? nullptr : found->second;
}

}  // namespace roc::hip_double

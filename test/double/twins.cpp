// SPDX-License-Identifier: MIT
#include "twins.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace roc::hip_double {
namespace {

using twin_map = std::map<std::string, roc_twin const*, std::less<>>;

/// Being loaded: `add` is a plain function and has no other way to reach its map.
twin_map* loading = nullptr;

void add(char const* mangled, roc_twin const* twin) { loading->emplace(mangled, twin); }

void load(std::string const& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "rocarray double: ROCARRAY_HOST_STUBS: %s\n", dlerror());
    return;
  }
  void* const symbol = dlsym(library, "roc_register_twins");
  if (symbol == nullptr) {
    std::fprintf(stderr, "rocarray double: ROCARRAY_HOST_STUBS: %s has no roc_register_twins\n",
                 path.c_str());
    return;
  }
  reinterpret_cast<decltype(&roc_register_twins)>(symbol)(&add);
}

twin_map const& load_all() {
  auto* const map = new twin_map;  // leaked on purpose: kernels may be launched at process exit
  loading = map;
  char const* const list = std::getenv("ROCARRAY_HOST_STUBS");
  std::istringstream paths(list == nullptr ? "" : list);
  for (std::string path; std::getline(paths, path, ':');) {
    if (!path.empty()) load(path);
  }
  return *map;
}

}  // namespace

roc_twin const* find_twin(std::string const& mangled) {
  static twin_map const& twins = load_all();
  auto const found = twins.find(mangled);
  return found == twins.end() ? nullptr : found->second;
}

}  // namespace roc::hip_double

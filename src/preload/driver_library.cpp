// SPDX-License-Identifier: MIT
#include "preload/driver_library.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "preload/loaded_object.hpp"

namespace roc::preload {
namespace {

// Returns the C library's dlsym. Tools that limit or trace the use of a GPU replace dlsym, and
// return functions of their own for the driver's names, which call this object.
auto find_c_library_dlsym() noexcept {
  struct definition {
    char const* library;
    char const* version;
  };
  // libdl is part of libc since glibc 2.34.
  for (auto const& [library, version] :
       {definition{"libc.so.6", "GLIBC_2.34"}, definition{"libdl.so.2", "GLIBC_2.2.5"}}) {
    void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const found = dlvsym(handle, "dlsym", version);
    dlclose(handle);
    if (found != nullptr) return reinterpret_cast<decltype(&dlsym)>(found);
  }
  return &dlsym;
}

base::byte_range range_of(void* handle) noexcept {
  link_map* map = nullptr;
  loaded_object object;
  bool const is_found =
      dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && find_object(map->l_ld, object);
  return is_found ? object.range : base::byte_range{};
}

// Opens a file if it is a driver and not this object. The handle is null if it is not.
driver_library open_as_driver(char const* path) noexcept {
  // The loader takes a name without a slash for the name of this object.
  if (std::strchr(path, '/') == nullptr) return {};
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {};
  driver_library const library{handle, find_c_library_dlsym(), range_of(handle)};
  void* const function = library.find("cuInit");
  if (function != nullptr && !contains(own_range(), function)) return library;
  dlclose(handle);
  return {};
}

// Returns true for a directory that the loader searches without being told. glibc does not set the
// flag LA_SER_DEFAULT.
bool is_system_directory(std::string_view directory) noexcept {
  constexpr std::array<std::string_view, 6> system_directories = {"/lib/x86_64-linux-gnu",
                                                                  "/usr/lib/x86_64-linux-gnu",
                                                                  "/lib64",
                                                                  "/usr/lib64",
                                                                  "/lib",
                                                                  "/usr/lib"};
  return std::ranges::find(system_directories, directory) != system_directories.end();
}

// The directories that the loader searches for a library that the program needs. The default
// directories are the last ones.
class search_path {
 public:
  search_path() noexcept {
    void* const program = dlopen(nullptr, RTLD_LAZY);
    if (program == nullptr) return;
    Dl_serinfo needed;
    if (dlinfo(program, RTLD_DI_SERINFOSIZE, &needed) == 0) {
      list_ = static_cast<Dl_serinfo*>(std::malloc(std::max(needed.dls_size, sizeof needed)));
    }
    if (list_ != nullptr && (dlinfo(program, RTLD_DI_SERINFOSIZE, list_) != 0 ||
                             dlinfo(program, RTLD_DI_SERINFO, list_) != 0)) {
      list_->dls_cnt = 0;
    }
    dlclose(program);
    if (list_ == nullptr) return;
    first_default_ = list_->dls_cnt;
    while (first_default_ != 0 &&
           is_system_directory(list_->dls_serpath[first_default_ - 1].dls_name)) {
      --first_default_;
    }
  }
  ~search_path() { std::free(list_); }
  search_path(search_path const&) = delete;
  search_path& operator=(search_path const&) = delete;

  // Opens the first driver in the loader's default directories, or in the others.
  driver_library open_in(bool in_default_directories) const noexcept {
    driver_library library;
    if (list_ == nullptr) return library;
    unsigned const end = in_default_directories ? list_->dls_cnt : first_default_;
    for (unsigned i = in_default_directories ? first_default_ : 0; i != end; ++i) {
      char path[PATH_MAX];
      std::snprintf(path, sizeof path, "%s/%s", list_->dls_serpath[i].dls_name, driver_name);
      library = open_as_driver(path);
      if (library.handle != nullptr) break;
    }
    return library;
  }

 private:
  Dl_serinfo* list_ = nullptr;
  unsigned first_default_ = 0;
};

}  // namespace

void* driver_library::find(char const* name) const noexcept {
  void* const function = look_up(handle, name);
  // Not one of a library that this one depends on.
  return contains(range, function) ? function : nullptr;
}

driver_library open_driver() noexcept {
  driver_library library;
  if (char const* const path = std::getenv("ROCARRAY_PRELOAD_DRIVER"); path != nullptr) {
    library = open_as_driver(path);
    if (library.handle != nullptr) return library;
    std::fprintf(stderr,
                 "rocarray-preload: ROCARRAY_PRELOAD_DRIVER is \"%s\", which is not a CUDA driver; "
                 "the one that the loader finds is used\n",
                 path);
  }
  search_path const directories;
  library = directories.open_in(false);
  // The cache cannot be asked for a path; rocarray-run passes the path on.
  char const* const cached = std::getenv("ROCARRAY_PRELOAD_CACHED_DRIVER");
  if (library.handle == nullptr && cached != nullptr) library = open_as_driver(cached);
  return library.handle != nullptr ? library : directories.open_in(true);
}

}  // namespace roc::preload

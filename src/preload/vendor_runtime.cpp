// SPDX-License-Identifier: MIT
#include "preload/vendor_runtime.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>

#include "preload/publication_lock.hpp"

namespace roc::preload {
namespace {

constexpr char probe[] = "hipMemcpy";
constexpr std::string_view library_name = "libamdhip64.so";

// A process has one runtime, or a few versions of it.
constexpr std::size_t max_runtimes = 8;
constinit std::array<vendor_runtime, max_runtimes> runtimes{};
constinit std::atomic<std::size_t> runtime_count = 0;  // of complete entries

// Returns the path of the loaded object that contains an address; empty for the program itself,
// null if there is no such object.
char const* path_of(void const* address, void** base) noexcept {
  Dl_info info;
  void* extra = nullptr;
  if (dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return nullptr;
  *base = info.dli_fbase;
  return static_cast<link_map const*>(extra)->l_name;
}

// Returns true for a function of this object, which replaces the vendor's.
bool is_in_this_object(void const* function) noexcept {
  void* own_base = nullptr;
  void* base = nullptr;
  static_cast<void>(path_of(&runtimes, &own_base));
  return path_of(function, &base) != nullptr && base == own_base;
}

// Returns the vendor's function that the caller's object was linked with, or null. A look-up by
// handle searches the object and its dependencies, and not the preloaded objects.
void* probe_of_caller(void const* caller) noexcept {
  void* base = nullptr;
  char const* const path = path_of(caller, &base);
  if (path == nullptr || *path == '\0') return nullptr;
  void* const object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return nullptr;
  void* const found = dlsym(object, probe);
  dlclose(object);
  return found;
}

// Returns the vendor's function of a loaded library with the vendor's name, or null.
void* probe_of_loaded_library() noexcept {
  // dl_iterate_phdr holds a lock that comes after the loader's. So the callback copies the path,
  // and the library is opened after it has returned.
  char path[PATH_MAX] = "";
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        std::string_view const name = info->dlpi_name;
        if (!name.substr(name.rfind('/') + 1).starts_with(library_name)) return 0;
        if (name.size() >= PATH_MAX) return 0;
        std::memcpy(result, name.data(), name.size() + 1);
        return 1;
      },
      path);
  if (*path == '\0') return nullptr;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* const found = dlsym(library, probe);
  dlclose(library);
  return found;
}

template <class Function>
void look_up(Function*& result, void* library, char const* name) noexcept {
  result = reinterpret_cast<Function*>(dlsym(library, name));
}

// ROCm 7.0 has the version 70000000.
bool keeps_errors(void* library) noexcept {
  constexpr int first_version = 70'000'000;
  int (*get_version)(int*) = nullptr;
  look_up(get_version, library, "hipRuntimeGetVersion");
  int version = 0;
  return get_version != nullptr && get_version(&version) == 0 && version >= first_version;
}

// Returns the entry of the runtime with this handle, or null.
vendor_runtime const* find_entry(void* library) noexcept {
  std::size_t const count = runtime_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i != count; ++i) {
    if (runtimes[i].library == library) return &runtimes[i];
  }
  return nullptr;
}

// Returns the runtime that contains `function`. Keeps it loaded.
vendor_runtime const* runtime_with(void* function) noexcept {
  void* base = nullptr;
  char const* const path = path_of(function, &base);
  if (path == nullptr) return nullptr;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (library == nullptr) return nullptr;
  if (vendor_runtime const* const entry = find_entry(library)) return entry;
  vendor_runtime added;
  added.library = library;
  for (std::size_t i = 0; i != call_count; ++i) added.functions[i] = dlsym(library, call_names[i]);
  look_up(added.peek_at_last_error, library, "hipPeekAtLastError");
  look_up(added.get_last_error, library, "hipGetLastError");
  look_up(added.get_device, library, "hipGetDevice");
  look_up(added.is_capturing, library, "hipStreamIsCapturing");
  added.keeps_errors = keeps_errors(library);
  std::lock_guard const lock(publication);
  // Another thread may have added it.
  if (vendor_runtime const* const entry = find_entry(library)) return entry;
  std::size_t const count = runtime_count.load(std::memory_order_relaxed);
  if (count == max_runtimes) return nullptr;
  runtimes[count] = added;
  runtime_count.store(count + 1, std::memory_order_release);
  return &runtimes[count];
}

}  // namespace

vendor_runtime const* find_runtime(void const* caller) noexcept {
  void* function = probe_of_caller(caller);
  if (function == nullptr || is_in_this_object(function)) function = dlsym(RTLD_NEXT, probe);
  if (function == nullptr) function = probe_of_loaded_library();
  vendor_runtime const* const found = function == nullptr ? nullptr : runtime_with(function);
  dlerror();  // the program must not see the failures of the look-ups
  return found;
}

}  // namespace roc::preload

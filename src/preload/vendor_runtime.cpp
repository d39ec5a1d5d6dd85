// SPDX-License-Identifier: MIT
#include "preload/vendor_runtime.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string_view>

namespace roc::preload {
namespace {

#define ROCARRAY_CALL_NAME(function) #function,
constexpr std::array<char const*, call_count> names = {ROCARRAY_REPLACED_CALLS(ROCARRAY_CALL_NAME)};
#undef ROCARRAY_CALL_NAME

constexpr char probe[] = ROCARRAY_VENDOR_PREFIX "Memcpy";
#if ROCARRAY_PLATFORM_AMD
constexpr std::string_view library_name = "libamdhip64.so";
#else
constexpr std::string_view library_name = "libcudart.so";
#endif

// A process has one runtime, or a few versions of libcudart.
constexpr std::size_t max_runtimes = 8;
std::array<vendor_runtime, max_runtimes> runtimes;
std::size_t runtime_count = 0;

// Returns the path of the loaded object that contains an address; empty for the program itself,
// null if there is no such object.
char const* path_of(void const* address, void** base) noexcept {
  Dl_info info;
  void* extra = nullptr;
  if (dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return nullptr;
  *base = info.dli_fbase;
  return static_cast<link_map const*>(extra)->l_name;
}

// Returns a function of this object's own, which replaces the vendor's.
bool is_own(void const* function) noexcept {
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
  void* found = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        std::string_view const path = info->dlpi_name;
        std::string_view const file = path.substr(path.rfind('/') + 1);
        if (!file.starts_with(library_name)) return 0;
        void* const library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        *static_cast<void**>(result) = dlsym(library, probe);
        dlclose(library);
        return *static_cast<void**>(result) != nullptr ? 1 : 0;
      },
      &found);
  return found;
}

template <class Function>
void look_up(Function*& result, void* library, char const* name) noexcept {
  result = reinterpret_cast<Function*>(dlsym(library, name));
}

// ROCm 7.0 has the version 70000000.
bool keeps_errors(void* library) noexcept {
#if ROCARRAY_PLATFORM_AMD
  constexpr int first_version = 70'000'000;
  int (*get_version)(int*) = nullptr;
  look_up(get_version, library, "hipRuntimeGetVersion");
  int version = 0;
  return get_version != nullptr && get_version(&version) == 0 && version >= first_version;
#else
  static_cast<void>(library);
  return true;
#endif
}

// Returns the runtime that contains `function`. Keeps it loaded.
vendor_runtime const* runtime_with(void* function) noexcept {
  void* base = nullptr;
  char const* const path = path_of(function, &base);
  if (path == nullptr) return nullptr;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (library == nullptr) return nullptr;
  for (std::size_t i = 0; i != runtime_count; ++i) {
    if (runtimes[i].library == library) return &runtimes[i];
  }
  if (runtime_count == max_runtimes) return nullptr;
  vendor_runtime& added = runtimes[runtime_count++];
  added.library = library;
  for (std::size_t i = 0; i != call_count; ++i) added.functions[i] = dlsym(library, names[i]);
  look_up(added.peek_at_last_error, library, ROCARRAY_VENDOR_PREFIX "PeekAtLastError");
  look_up(added.get_last_error, library, ROCARRAY_VENDOR_PREFIX "GetLastError");
  look_up(added.get_device, library, ROCARRAY_VENDOR_PREFIX "GetDevice");
  look_up(added.is_capturing, library, ROCARRAY_VENDOR_PREFIX "StreamIsCapturing");
#if ROCARRAY_PLATFORM_AMD
  added.get_address_range = dlsym(library, "hipMemGetAddressRange");
#endif
  added.keeps_errors = keeps_errors(library);
  return &added;
}

}  // namespace

char const* name_of(call function) noexcept { return names[static_cast<std::size_t>(function)]; }

vendor_runtime const* find_runtime_locked(void const* caller) noexcept {
  void* function = probe_of_caller(caller);
  if (function == nullptr || is_own(function)) function = dlsym(RTLD_NEXT, probe);
  if (function == nullptr) function = probe_of_loaded_library();
  vendor_runtime const* const found = function == nullptr ? nullptr : runtime_with(function);
  dlerror();  // the program must not see the failures of the look-ups
  return found;
}

}  // namespace roc::preload

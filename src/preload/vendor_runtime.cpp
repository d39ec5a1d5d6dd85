// SPDX-License-Identifier: MIT
#include "preload/vendor_runtime.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>

#include "preload/publication_lock.hpp"
#include "preload/without_cancellation.hpp"

namespace roc::preload {
namespace {

constexpr char probe[] = "hipMemcpy";
constexpr std::string_view library_name = "libamdhip64";

// A process has one runtime, or a few versions of it.
constexpr std::size_t max_runtimes = 8;
constinit std::array<vendor_runtime, max_runtimes> runtimes{};
constinit std::atomic<std::size_t> runtime_count = 0;  // of complete entries

// A loaded object: a shared library, or the program itself.
struct object_file {
  void* base = nullptr;
  char const* path = nullptr;  // empty for the program itself, null if there is no such object
};

object_file object_of(void const* address) noexcept {
  Dl_info info;
  void* extra = nullptr;
  if (dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return {};
  return {info.dli_fbase, static_cast<link_map const*>(extra)->l_name};
}

bool are_in_one_object(void const* first, void const* second) noexcept {
  object_file const object = object_of(first);
  return object.path != nullptr && object_of(second).base == object.base;
}

// Returns true for the name of the HIP runtime, to which packages may add a hash.
bool has_runtime_name(std::string_view path) noexcept {
  std::string_view const file = path.substr(path.rfind('/') + 1);
  std::string_view const rest = file.substr(std::min(file.size(), library_name.size()));
  return file.starts_with(library_name) && (rest.starts_with('.') || rest.starts_with('-'));
}

// Returns true for a function of the HIP runtime. Tools export functions under the same names.
bool is_in_runtime(void const* function) noexcept {
  if (function == nullptr) return false;
  char const* const path = object_of(function).path;
  return path != nullptr && has_runtime_name(path);
}

// Returns the vendor's function that the caller's object was linked with, or null. A look-up by
// handle searches the object and its dependencies, and not the preloaded objects. It finds the
// caller's own function if the caller is a tool that exports one.
void* probe_of_caller(void const* caller) noexcept {
  char const* const path = object_of(caller).path;
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
        if (!has_runtime_name(name) || name.size() >= PATH_MAX) return 0;
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
  without_cancellation const uncancelled;
  return get_version != nullptr && get_version(&version) == 0 && version >= first_version;
}

// Returns true if the library is the loaded one with the SONAME that this object was built for.
bool is_expected_version(void* library) noexcept {
  void* const known = dlopen(ROCARRAY_PRELOAD_RUNTIME, RTLD_LAZY | RTLD_NOLOAD);
  if (known == nullptr) return false;
  dlclose(known);
  return known == library;
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
  char const* const path = object_of(function).path;
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
  added.is_expected_version = is_expected_version(library);
  std::lock_guard const lock(publication);
  // Another thread may have added it.
  if (vendor_runtime const* const entry = find_entry(library)) return entry;
  std::size_t const count = runtime_count.load(std::memory_order_relaxed);
  if (count == max_runtimes) return nullptr;
  runtimes[count] = added;
  runtime_count.store(count + 1, std::memory_order_release);
  return &runtimes[count];
}

// Returns a function of the runtime that a call from `caller` reaches, or null if there is none. A
// tool must not be taken for the runtime: it may lack functions, and may call this object, so that
// the calls would never end.
void* find_probe(void const* caller) noexcept {
  void* const of_caller = probe_of_caller(caller);
  if (is_in_runtime(of_caller)) return of_caller;
  void* const next = dlsym(RTLD_NEXT, probe);
  if (is_in_runtime(next)) return next;
  if (void* const loaded = probe_of_loaded_library()) return loaded;
  // The caller may be linked with a library that replaces the runtime under another name.
  bool const is_usable = of_caller != nullptr && !are_in_one_object(of_caller, caller) &&
                         !are_in_one_object(of_caller, &runtimes);
  return is_usable ? of_caller : next;
}

}  // namespace

vendor_runtime const* find_runtime(void const* caller) noexcept {
  void* const function = find_probe(caller);
  vendor_runtime const* const found = function == nullptr ? nullptr : runtime_with(function);
  dlerror();  // the program must not see the failures of the look-ups
  return found;
}

void* find_vendor_function(vendor_runtime const& runtime, call function,
                           void const* caller) noexcept {
  void* const next = dlsym(RTLD_NEXT, call_names[static_cast<std::size_t>(function)]);
  dlerror();
  // The next function in the search order may be that of another version of the runtime.
  bool const is_of_tool =
      next != nullptr && !is_in_runtime(next) && !are_in_one_object(next, caller);
  return is_of_tool ? next : runtime.function(function);
}

}  // namespace roc::preload

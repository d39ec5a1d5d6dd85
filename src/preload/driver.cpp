// SPDX-License-Identifier: MIT
#include "preload/driver.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/byte_range.hpp"
#include "preload/driver_trampolines.hpp"
#include "preload/publication_lock.hpp"

namespace roc::preload {
namespace {

constexpr char driver_name[] = "libcuda.so.1";

enum class driver_state : unsigned char { not_loaded, loaded, missing };

// All is constant-initialized and never destroyed: the program may copy in its static constructors
// and destructors. Published by `state`: written once under the lock `publication`.
constinit std::atomic<driver_state> state = driver_state::not_loaded;
constinit vendor_runtime driver;
constinit base::byte_range code_of_driver{};

// A loaded object: its file, empty for the program itself, and the addresses that it spans.
struct loaded_object {
  char path[PATH_MAX] = "";
  base::byte_range range{};

  std::string_view file() const noexcept {
    std::string_view const text = path;
    return text.substr(text.rfind('/') + 1);
  }
};

// Finds the loaded object that contains an address. Takes the lock of the list of objects, which
// the loader does not hold while it runs constructors.
bool find_object(void const* address, loaded_object& found) noexcept {
  found.range.begin = reinterpret_cast<std::uintptr_t>(address);
  return dl_iterate_phdr(
             [](dl_phdr_info* info, std::size_t, void* data) {
               loaded_object& result = *static_cast<loaded_object*>(data);
               std::uintptr_t begin = UINTPTR_MAX;
               std::uintptr_t end = 0;
               for (int i = 0; i != info->dlpi_phnum; ++i) {
                 auto const& segment = info->dlpi_phdr[i];
                 if (segment.p_type != PT_LOAD) continue;
                 std::uintptr_t const address_of_segment = info->dlpi_addr + segment.p_vaddr;
                 begin = std::min(begin, address_of_segment);
                 end = std::max(end, address_of_segment + segment.p_memsz);
               }
               if (result.range.begin < begin || result.range.begin >= end) return 0;
               result.range = {begin, end};
               std::snprintf(result.path, sizeof result.path, "%s", info->dlpi_name);
               return 1;
             },
             &found) != 0;
}

bool contains(base::byte_range range, void const* address) noexcept {
  return range.contains(base::byte_range::of(address, 1));
}

bool is_own(void const* address) noexcept {
  loaded_object own;
  return find_object(&state, own) && contains(own.range, address);
}

// Opens a file if it is a driver and not this object. Returns null if it is not.
void* open_as_driver(char const* path) noexcept {
  // The loader takes a name without a slash for the name of this object.
  if (std::strchr(path, '/') == nullptr) return nullptr;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  void* const function = dlsym(library, "cuInit");
  if (function != nullptr && !is_own(function)) return library;  // kept loaded
  dlclose(library);
  return nullptr;
}

// Opens the driver in a directory that the loader searches for the program. Returns null if there
// is none. The loader's cache cannot be asked for a path; rocarray-run looks there.
void* open_in_search_path() noexcept {
  void* const program = dlopen(nullptr, RTLD_LAZY);
  if (program == nullptr) return nullptr;
  void* library = nullptr;
  Dl_serinfo needed;
  if (dlinfo(program, RTLD_DI_SERINFOSIZE, &needed) == 0) {
    auto* const list =
        static_cast<Dl_serinfo*>(std::malloc(std::max(needed.dls_size, sizeof needed)));
    bool const is_known = list != nullptr && dlinfo(program, RTLD_DI_SERINFOSIZE, list) == 0 &&
                          dlinfo(program, RTLD_DI_SERINFO, list) == 0;
    for (unsigned i = 0; is_known && i != list->dls_cnt && library == nullptr; ++i) {
      char path[PATH_MAX];
      std::snprintf(path, sizeof path, "%s/%s", list->dls_serpath[i].dls_name, driver_name);
      library = open_as_driver(path);
    }
    std::free(list);
  }
  dlclose(program);
  return library;
}

void* open_driver() noexcept {
  char const* const path = std::getenv("ROCARRAY_PRELOAD_DRIVER");
  void* const library = path == nullptr ? nullptr : open_as_driver(path);
  return library != nullptr ? library : open_in_search_path();
}

template <class Function>
void look_up(Function*& result, void* library, char const* name) noexcept {
  result = reinterpret_cast<Function*>(dlsym(library, name));
}

// Loads the driver and publishes it, unless another thread has. Several threads may do so at once:
// the loader loads it once, and all set the trampolines alike.
void load_driver() noexcept {
  void* const library = open_driver();
  set_trampolines(library);
  vendor_runtime added;
  loaded_object object;
  if (library != nullptr) {
    added.library = library;
    for (std::size_t i = 0; i != call_count; ++i) {
      added.functions[i] = dlsym(library, call_names[i]);
    }
    look_up(added.get_device, library, "cuCtxGetDevice");
    look_up(added.is_capturing, library, "cuStreamIsCapturing");
    if (!find_object(dlsym(library, "cuInit"), object)) object.range = {};
  }
  dlerror();  // the program must not see the failures of the look-ups
  {
    std::lock_guard const lock(publication);
    if (state.load(std::memory_order_relaxed) != driver_state::not_loaded) return;
    driver = added;
    code_of_driver = object.range;
    state.store(library != nullptr ? driver_state::loaded : driver_state::missing,
                std::memory_order_release);
  }
  if (library == nullptr) {
    std::fprintf(stderr,
                 "rocarray-preload: the CUDA driver %s was not found; start the program by "
                 "rocarray-run, or set ROCARRAY_PRELOAD_DRIVER to its path\n",
                 driver_name);
  }
}

}  // namespace

vendor_runtime const* find_driver() noexcept {
  if (state.load(std::memory_order_acquire) == driver_state::not_loaded) load_driver();
  return state.load(std::memory_order_acquire) == driver_state::loaded ? &driver : nullptr;
}

vendor_runtime const* find_runtime(void const*) noexcept { return find_driver(); }

bool is_in_driver(void const* address) noexcept {
  return state.load(std::memory_order_acquire) == driver_state::loaded &&
         contains(code_of_driver, address);
}

bool is_in_copier(void const* address) noexcept {
  loaded_object object;
  return find_object(address, object) && object.file() == "librocarray-preload-copy.so";
}

void const* find_program_frame(void const* caller) noexcept {
  struct search {
    void const* found;
  } result{nullptr};
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto const* const address = reinterpret_cast<void const*>(_Unwind_GetIP(context));
        loaded_object object;
        if (is_own(address)) return _URC_NO_REASON;
        if (!find_object(address, object)) return _URC_END_OF_STACK;
        if (object.file().starts_with("libcudart")) return _URC_NO_REASON;
        static_cast<search*>(data)->found = address;
        return _URC_END_OF_STACK;
      },
      &result);
  return result.found != nullptr ? result.found : caller;
}

}  // namespace roc::preload

void rocarray_preload_load_driver() noexcept { static_cast<void>(roc::preload::find_driver()); }

// SPDX-License-Identifier: MIT
#include "preload/driver.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "base/byte_range.hpp"
#include "preload/driver_library.hpp"
#include "preload/driver_trampolines.hpp"
#include "preload/loaded_object.hpp"
#include "preload/publication_lock.hpp"
#include "preload/static_runtime.hpp"

namespace roc::preload {
namespace {

enum class driver_state : unsigned char { not_loaded, loaded, missing };

// All is constant-initialized and never destroyed: the program may copy in its static constructors
// and destructors. Published by `state`: written once under the lock `publication`.
constinit std::atomic<driver_state> state = driver_state::not_loaded;
constinit vendor_runtime driver;
constinit base::byte_range driver_range{};

template <class Function>
void look_up(Function*& result, driver_library const& library, char const* name) noexcept {
  result = reinterpret_cast<Function*>(library.find(name));
}

// Loads the driver and publishes it, unless another thread has. Several threads may do so at once:
// the loader loads it once, and all store the same addresses.
void load_driver() noexcept {
  driver_library const library = open_driver();
  set_trampolines(library);
  vendor_runtime added;
  if (library.handle != nullptr) {
    added.library = library.handle;
    for (std::size_t i = 0; i != call_count; ++i) added.functions[i] = library.find(call_names[i]);
    look_up(added.get_device, library, "cuCtxGetDevice");
    look_up(added.is_capturing, library, "cuStreamIsCapturing");
    look_up(added.get_context, library, "cuCtxGetCurrent");
    look_up(added.get_stream_context, library, "cuStreamGetCtx");
    look_up(added.get_primary_state, library, "cuDevicePrimaryCtxGetState");
    look_up(added.retain_primary, library, "cuDevicePrimaryCtxRetain");
    look_up(added.release_primary, library, "cuDevicePrimaryCtxRelease_v2");
  }
  dlerror();  // the program must not see the failures of the look-ups
  {
    std::lock_guard const lock(publication);
    if (state.load(std::memory_order_relaxed) != driver_state::not_loaded) return;
    driver = added;
    driver_range = library.range;
    state.store(library.handle != nullptr ? driver_state::loaded : driver_state::missing,
                std::memory_order_release);
  }
  if (library.handle == nullptr) {
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

void* find_vendor_function(vendor_runtime const& runtime, call function, void const*) noexcept {
  return runtime.function(function);
}

bool is_in_driver(void const* address) noexcept {
  return state.load(std::memory_order_acquire) == driver_state::loaded &&
         contains(driver_range, address);
}

bool is_in_copier(void const* address) noexcept {
  loaded_object object;
  return find_object(address, object) &&
         std::string_view(object.file) == "librocarray-preload-copy.so";
}

void const* find_program_frame(void const* caller) noexcept {
  struct search {
    base::byte_range own = own_range();
    base::byte_range runtime{};  // the last frame's, shared or static
    void const* found = nullptr;
  } result;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto& [own, runtime, found] = *static_cast<search*>(data);
        auto const* const address = reinterpret_cast<void const*>(_Unwind_GetIP(context));
        if (contains(own, address) || contains(runtime, address)) return _URC_NO_REASON;
        loaded_object object;
        if (!find_object(address, object)) return _URC_END_OF_STACK;
        if (std::string_view(object.file).starts_with("libcudart")) {
          runtime = object.range;
          return _URC_NO_REASON;
        }
        runtime = find_static_runtime(object.range);
        if (contains(runtime, address)) return _URC_NO_REASON;
        found = address;
        return _URC_END_OF_STACK;
      },
      &result);
  return result.found != nullptr ? result.found : caller;
}

}  // namespace roc::preload

void rocarray_preload_load_driver() noexcept { static_cast<void>(roc::preload::find_driver()); }

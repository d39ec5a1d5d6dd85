// SPDX-License-Identifier: MIT
// Two interfaces are supported:
// - roctx: rocprofv3 preloads its library for marker traces, so that the process already has the
//   functions. Older tools expect the program to load libroctx64; this is done only if one of
//   their environment variables is set.
// - NVTX: the header in the CUDA toolkit loads the library that NVTX_INJECTION64_PATH names, and
//   does nothing without it. Toolkits without the header have libnvToolsExt, which is loaded only
//   if that variable is set.
#include "runtime/profiler.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "base/log.hpp"
#include "base/options.hpp"
#include "platform/hip.hpp"

#if ROCARRAY_PLATFORM_NVIDIA && __has_include(<nvtx3/nvToolsExt.h>)
#define ROCARRAY_HAS_NVTX_HEADER 1
#include <nvtx3/nvToolsExt.h>
#endif

namespace roc::runtime {
namespace {

// The result of nvtxRangePush if no tool is attached.
constexpr int no_tool_attached = -2;

// Returns the NVTX functions if a tool is attached, else null functions. The check adds an empty
// range to the tool's trace.
profiler if_tool_attached(profiler nvtx) {
  if (nvtx.push("rocarray") == no_tool_attached) return {};
  nvtx.pop();
  return nvtx;
}

// Returns a function of a library, or null if it is missing.
template <class Function>
Function symbol(void* library, char const* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// Returns the two functions of a library, or null functions if one is missing.
profiler find_functions(void* library, char const* push, char const* pop) {
  profiler const found{symbol<int (*)(char const*)>(library, push),
                       symbol<int (*)()>(library, pop)};
  return found.push != nullptr && found.pop != nullptr ? found : profiler{};
}

// Searches a library, or everything in the process (RTLD_DEFAULT), for roctx and then for NVTX.
profiler find_profiler_in(void* library) {
  auto const roctx = find_functions(library, "roctxRangePushA", "roctxRangePop");
  if (roctx.push != nullptr) return roctx;
  auto const nvtx = find_functions(library, "nvtxRangePushA", "nvtxRangePop");
  return nvtx.push != nullptr ? if_tool_attached(nvtx) : nvtx;
}

// Returns true if one of the environment variables is set.
[[maybe_unused]] bool any_is_set(auto... variables) {
  return ((std::getenv(variables) != nullptr) || ...);
}

// Searches the first of the libraries that can be loaded.
[[maybe_unused]] profiler find_profiler_in_first(auto... libraries) {
  void* library = nullptr;
  static_cast<void>(((library = dlopen(libraries, RTLD_NOW | RTLD_LOCAL)) || ...));
  return library != nullptr ? find_profiler_in(library) : profiler{};
}

// Searches the process, and then the libraries of the platform's tools, for range functions.
profiler find_profiler() {
#if ROCARRAY_HAS_NVTX_HEADER
  auto const header = if_tool_attached(
      {[](char const* name) { return nvtxRangePushA(name); }, [] { return nvtxRangePop(); }});
  if (header.push != nullptr) return header;
#endif
  auto const preloaded = find_profiler_in(RTLD_DEFAULT);
  if (preloaded.push != nullptr) return preloaded;
#if ROCARRAY_PLATFORM_AMD
  if (any_is_set("ROCP_TOOL_LIBRARIES", "ROCP_TOOL_LIB", "HSA_TOOLS_LIB")) {
    return find_profiler_in_first("libroctx64.so.4", "libroctx64.so");
  }
#elif ROCARRAY_PLATFORM_NVIDIA && !ROCARRAY_HAS_NVTX_HEADER
  if (any_is_set("NVTX_INJECTION64_PATH")) {
    return find_profiler_in_first("libnvToolsExt.so.1", "libnvToolsExt.so");
  }
#endif
  return {};
}

// Finds the profiler that ROCARRAY_PROFILER names: a library, or "auto" (the default). "off"
// is read as "auto" here: the program has enabled ranges.
profiler profiler_from_environment() {
  char const* const text = std::getenv("ROCARRAY_PROFILER");
  if (text == nullptr || std::strcmp(text, "auto") == 0 || std::strcmp(text, "off") == 0) {
    return find_profiler();
  }
  void* const library = dlopen(text, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    base::log_line(base::log_level::warning,
                   "ROCARRAY_PROFILER is not a library: %s (%s); use auto, off or the path of a "
                   "library",
                   text, dlerror());
    return {};
  }
  profiler const found = find_profiler_in(library);
  if (found.push == nullptr) {
    base::log_line(base::log_level::warning,
                   "ROCARRAY_PROFILER is a library without profiler ranges: %s; use auto, off or a "
                   "library with roctxRangePushA and roctxRangePop, or with nvtxRangePushA and "
                   "nvtxRangePop and a tool attached",
                   text);
  }
  return found;
}

}  // namespace

constinit std::atomic<bool> may_have_profiler = true;

profiler const& current_profiler() noexcept {
  static profiler const none;
  if (!base::options().profiler_ranges) return none;
  static profiler const instance = [] {
    profiler const found = profiler_from_environment();
    may_have_profiler.store(found.push != nullptr, std::memory_order_relaxed);
    if (found.push != nullptr)
      base::log_line(base::log_level::info,
                     "a profiler was found; copies and fills appear as ranges");
    return found;
  }();
  return instance;
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
// How profilers get ranges:
// - roctx: rocprofv3 preloads its library for marker traces, so the functions are in the process.
//   Older tools want the program to load libroctx64: done only where their variables are set.
// - NVTX: the header, which every CUDA toolkit brings, loads what NVTX_INJECTION64_PATH names, and
//   else does nothing. A toolkit without it has libnvToolsExt, loaded where that variable is set.
#include "runtime/profiler.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "platform/hip.hpp"
#include "base/log.hpp"

#if ROCARRAY_PLATFORM_NVIDIA && __has_include(<nvtx3/nvToolsExt.h>)
#define ROCARRAY_HAS_NVTX_HEADER 1
#include <nvtx3/nvToolsExt.h>
#endif

namespace roc::runtime {
namespace {

// What nvtxRangePush gives while no tool listens.
constexpr int nobody_listens = -2;

profiler if_listened_to(profiler found) {
  if (found.push("rocarray") == nobody_listens) return {};
  found.pop();
  return found;
}

template <class Function>
Function symbol(void* library, char const* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

profiler functions_of(void* library, char const* push, char const* pop) {
  profiler const found{symbol<int (*)(char const*)>(library, push),
                       symbol<int (*)()>(library, pop)};
  return found.push != nullptr && found.pop != nullptr ? found : profiler{};
}

// Of a library, or of everything in the process (RTLD_DEFAULT).
profiler functions_of(void* library) {
  auto const roctx = functions_of(library, "roctxRangePushA", "roctxRangePop");
  if (roctx.push != nullptr) return roctx;
  auto const nvtx = functions_of(library, "nvtxRangePushA", "nvtxRangePop");
  return nvtx.push != nullptr ? if_listened_to(nvtx) : nvtx;
}

[[maybe_unused]] bool any_is_set(auto... variables) {
  return ((std::getenv(variables) != nullptr) || ...);
}

[[maybe_unused]] profiler functions_of_first(auto... libraries) {
  void* library = nullptr;
  static_cast<void>(((library = dlopen(libraries, RTLD_NOW | RTLD_LOCAL)) || ...));
  return library != nullptr ? functions_of(library) : profiler{};
}

profiler find() {
#if ROCARRAY_HAS_NVTX_HEADER
  auto const header = if_listened_to(
      {[](char const* name) { return nvtxRangePushA(name); }, [] { return nvtxRangePop(); }});
  if (header.push != nullptr) return header;
#endif
  auto const present = functions_of(RTLD_DEFAULT);
  if (present.push != nullptr) return present;
#if ROCARRAY_PLATFORM_AMD
  if (any_is_set("ROCP_TOOL_LIBRARIES", "ROCP_TOOL_LIB", "HSA_TOOLS_LIB")) {
    return functions_of_first("libroctx64.so.4", "libroctx64.so");
  }
#elif ROCARRAY_PLATFORM_NVIDIA && !ROCARRAY_HAS_NVTX_HEADER
  if (any_is_set("NVTX_INJECTION64_PATH")) {
    return functions_of_first("libnvToolsExt.so.1", "libnvToolsExt.so");
  }
#endif
  return {};
}

profiler from_settings() {
  char const* const text = std::getenv("ROCARRAY_PROFILER");
  if (text != nullptr && std::strcmp(text, "off") == 0) return {};
  if (text == nullptr || std::strcmp(text, "auto") == 0) return find();
  void* const library = dlopen(text, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    base::log_line(base::log_level::warning, "ROCARRAY_PROFILER=%s: %s: give auto, off, or a library", text,
             dlerror());
    return {};
  }
  profiler const found = functions_of(library);
  if (found.push == nullptr) {
    base::log_line(base::log_level::warning,
             "ROCARRAY_PROFILER=%s: no tool takes ranges there: give auto, off, or a library with "
             "roctxRangePushA and roctxRangePop, or nvtxRangePushA and nvtxRangePop",
             text);
  }
  return found;
}

}  // namespace

profiler const& the_profiler() noexcept {
  static profiler const instance = [] {
    profiler const found = from_settings();
    if (found.push != nullptr) base::log_line(base::log_level::info, "a profiler takes ranges");
    return found;
  }();
  return instance;
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
// The inside of a twin library: what a kernel sees in place of the device's built-in variables, and
// the registration of twins. Included by platform/host/host_stub.hpp with ROCARRAY_KERNEL_HOST_STUB only.
//
// Everything here is hidden: several twin libraries may be loaded, each with its own list. (Inline
// variables of default visibility are one per process, also under RTLD_LOCAL.)
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/host/host_stub.hpp"

#ifndef __global__
#define __global__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __host__
#define __host__
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif

// Weak: a twin library also loads (and runs on one thread) where no double is.
extern "C" [[gnu::weak]] void rocarray_host_stub_parallel(
    std::size_t, std::size_t, void (*)(void*, std::size_t, std::size_t), void*);

namespace roc::twin {

struct index {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;
};

}  // namespace roc::twin

[[gnu::visibility("hidden")]] inline thread_local roc::twin::index threadIdx;
[[gnu::visibility("hidden")]] inline thread_local roc::twin::index blockIdx;
[[gnu::visibility("hidden")]] inline thread_local roc::twin::index blockDim;
[[gnu::visibility("hidden")]] inline thread_local roc::twin::index gridDim;

namespace roc::twin {

#pragma GCC visibility push(hidden)

struct entry {
  void const* kernel;
  host_stub twin;
};

/// Leaked on purpose: kernels may be launched at process exit.
inline std::vector<entry>& entries() {
  static auto* const list = new std::vector<entry>;
  return *list;
}

/// Calls `f(begin, end)` for parts of [0, items), on the double's threads where there are some.
template <class F>
void parallel(std::size_t items, std::size_t grain, F f) {
  if (&rocarray_host_stub_parallel == nullptr) {
    f(std::size_t{0}, items);
    return;
  }
  rocarray_host_stub_parallel(
      items, grain,
      [](void* closure, std::size_t begin, std::size_t end) {
        (*static_cast<F*>(closure))(begin, end);
      },
      &f);
}

/// Runs the body once for every thread of the grid.
template <auto Kernel>
struct every_thread;

template <class... Arguments, void (*Kernel)(Arguments...)>
struct every_thread<Kernel> {
  static_assert((std::is_trivially_copyable_v<Arguments> && ...),
                "a kernel's arguments are copied byte by byte");

  static void run(unsigned const grid[3], unsigned const block[3], void** arguments) {
    std::size_t const row = grid[0];
    std::size_t const plane = row * grid[1];
    parallel(plane * grid[2], 1, [=](std::size_t begin, std::size_t end) {
      gridDim = {grid[0], grid[1], grid[2]};
      blockDim = {block[0], block[1], block[2]};
      for (std::size_t number = begin; number < end; ++number) {
        blockIdx = {static_cast<unsigned>(number % row),
                    static_cast<unsigned>(number % plane / row),
                    static_cast<unsigned>(number / plane)};
        run_block(arguments, std::index_sequence_for<Arguments...>{});
      }
    });
  }

  static bool add() {
    entries().push_back({reinterpret_cast<void const*>(Kernel),
                         {sizeof...(Arguments), sizes.data(), &run}});
    return true;
  }

 private:
  static constexpr std::array<std::size_t, sizeof...(Arguments)> sizes{sizeof(Arguments)...};

  template <std::size_t... I>
  static void run_block([[maybe_unused]] void** arguments, std::index_sequence<I...>) {
    for (unsigned z = 0; z < blockDim.z; ++z) {
      for (unsigned y = 0; y < blockDim.y; ++y) {
        for (unsigned x = 0; x < blockDim.x; ++x) {
          threadIdx = {x, y, z};
          Kernel(*static_cast<Arguments*>(arguments[I])...);
        }
      }
    }
  }
};

/// Runs `f(i)` for every i below n, whatever grid the launch asked for.
template <class F, void (*Kernel)(F, std::size_t)>
struct every_item {
  static_assert(std::is_trivially_copyable_v<F>, "a kernel's arguments are copied byte by byte");

  static void run(unsigned const[3], unsigned const[3], void** arguments) {
    F const& f = *static_cast<F*>(arguments[0]);
    std::size_t const items = *static_cast<std::size_t*>(arguments[1]);
    parallel(items, 1024, [&f](std::size_t begin, std::size_t end) {
      F mine = f;
      for (std::size_t i = begin; i < end; ++i) mine(i);
    });
  }

  static bool add() {
    entries().push_back({reinterpret_cast<void const*>(Kernel), {2, sizes.data(), &run}});
    return true;
  }

 private:
  static constexpr std::array<std::size_t, 2> sizes{sizeof(F), sizeof(std::size_t)};
};

/// The mangled name of `kernel`, or null where this library does not export it: it is hidden, or a
/// variable of the program was taken for it (of the same name), which -Bsymbolic prevents.
inline char const* exported_name(void const* kernel) {
  Dl_info symbol{};
  Dl_info here{};
  bool const found = dladdr(kernel, &symbol) != 0 &&
                     dladdr(reinterpret_cast<void const*>(&exported_name), &here) != 0 &&
                     symbol.dli_fbase == here.dli_fbase && symbol.dli_saddr == kernel;
  return found ? symbol.dli_sname : nullptr;
}

#pragma GCC visibility pop

}  // namespace roc::twin

extern "C" [[gnu::used, gnu::visibility("default")]] inline void rocarray_register_host_stubs(
    add_host_stub* add) {
  for (roc::twin::entry const& entry : roc::twin::entries()) {
    if (char const* name = roc::twin::exported_name(entry.kernel)) {
      add(name, &entry.twin);
    } else {
      std::fputs("rocarray: a kernel twin has no exported name (build it with default visibility "
                 "and link with -Bsymbolic)\n",
                 stderr);
    }
  }
}

#define ROCARRAY_HOST_STUB_JOIN_(a, b) a##b
#define ROCARRAY_HOST_STUB_NAME_(number) ROCARRAY_HOST_STUB_JOIN_(rocarray_host_stub_added_, number)
#define ROCARRAY_HOST_STUB_ADD_(...)                                                      \
  namespace {                                                                   \
  [[maybe_unused]] bool const ROCARRAY_HOST_STUB_NAME_(__COUNTER__) = __VA_ARGS__::add(); \
  }                                                                             \
  static_assert(true)

/// Gives a kernel (a function, or an instance of a template) a twin that runs its body for every
/// thread of the grid.
#define ROCARRAY_HOST_STUB(...) ROCARRAY_HOST_STUB_ADD_(::roc::twin::every_thread<__VA_ARGS__>)

/// Gives `elementwise<F>`, found from where this stands, a twin that calls `f(i)` for i < n.
#define ROCARRAY_ELEMENTWISE_HOST_STUB(...) \
  ROCARRAY_HOST_STUB_ADD_(::roc::twin::every_item<__VA_ARGS__, elementwise<__VA_ARGS__>>)

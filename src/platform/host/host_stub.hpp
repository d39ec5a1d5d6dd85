// SPDX-License-Identifier: MIT
// Host stubs: kernels compiled for the CPU. The fake HIP runtime (test/fake_runtime) runs them in
// place of the device code.
//
// A host stub library is built from the same .hip files: a host compiler compiles them as C++ with
// -DROCARRAY_KERNEL_HOST_STUB=1 and links them as a shared object (rocarray_add_kernel_host_stubs()
// of test/fake_runtime/host_stubs.cmake). One line after a kernel, in the kernel's namespace,
// defines the stub of each function or template instance that is launched:
//
//   template <class T> __global__ void scale(T* data, T factor, std::size_t n) { ... }
//   ROCARRAY_HOST_STUB(scale<float>);
//   ROCARRAY_HOST_STUB(scale<double>);
//
//   template <class F> __global__ void elementwise(F f, std::size_t n) { ... f(i) for i < n ... }
//   ROCARRAY_ELEMENTWISE_HOST_STUB(fill_functor<4>);
//
// Without ROCARRAY_KERNEL_HOST_STUB the macros expand to nothing. Requirements on the kernel:
// - It has external linkage (not static, no anonymous namespace, no lambda type among its template
//   arguments) and no requires-clause. Only then do the compilers agree on its mangled name, by
//   which a launch finds the stub.
// - Every argument is trivially copyable.
// - It uses no __syncthreads, __shared__, wavefront operations or device atomics: the threads of a
//   block run one after another, while blocks run concurrently on several threads.
// - Launches (<<<>>>) are excluded from compilation with ROCARRAY_KERNEL_HOST_STUB.
#pragma once

#if !defined(ROCARRAY_KERNEL_HOST_STUB) || !ROCARRAY_KERNEL_HOST_STUB

#define ROCARRAY_HOST_STUB(...) static_assert(true)
#define ROCARRAY_ELEMENTWISE_HOST_STUB(...) static_assert(true)

#else

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <type_traits>
#include <utility>

#include "platform/host/host_stub_abi.hpp"

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

// Weak, so that a host stub library can also be loaded without the fake HIP runtime. Its kernels
// then run on one thread.
extern "C" [[gnu::weak]] void rocarray_host_stub_parallel_for(
    std::size_t, std::size_t, void (*)(void*, std::size_t, std::size_t), void*);

namespace roc::host_stubs {

/// The type of the built-in variables of kernels.
struct index {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;
};

}  // namespace roc::host_stubs

// Everything below has hidden visibility, because several host stub libraries may be loaded, each
// with its own list. An inline variable of default visibility would be shared by the whole process,
// also with RTLD_LOCAL.

[[gnu::visibility("hidden")]] inline thread_local roc::host_stubs::index threadIdx;
[[gnu::visibility("hidden")]] inline thread_local roc::host_stubs::index blockIdx;
[[gnu::visibility("hidden")]] inline thread_local roc::host_stubs::index blockDim;
[[gnu::visibility("hidden")]] inline thread_local roc::host_stubs::index gridDim;

namespace roc::host_stubs {

#pragma GCC visibility push(hidden)

struct entry {
  void const* kernel;
  host_stub stub;
  entry* next;
};

/// The stubs of this library, the last one added first. Needs no memory: when a library is loaded,
/// nothing could report that there is none.
inline constinit entry* first_entry = nullptr;

/// Adds the stub of a kernel. Called once for each `Owner`, when its library is loaded.
template <class Owner>
bool add_entry(void const* kernel, host_stub stub) {
  static entry added;
  added = {kernel, stub, first_entry};
  first_entry = &added;
  return true;
}

/// Calls `f(begin, end)` for parts of [0, items), on the threads of the fake HIP runtime if it is
/// loaded. Blocks until all parts are done.
template <class F>
void parallel_for(std::size_t items, std::size_t grain, F f) {
  if (&rocarray_host_stub_parallel_for == nullptr) {
    f(std::size_t{0}, items);
    return;
  }
  rocarray_host_stub_parallel_for(
      items, grain,
      [](void* closure, std::size_t begin, std::size_t end) {
        (*static_cast<F*>(closure))(begin, end);
      },
      &f);
}

/// The stub that runs a kernel's body once for every thread of the grid.
template <auto Kernel>
struct grid_stub;

template <class... Arguments, void (*Kernel)(Arguments...)>
struct grid_stub<Kernel> {
  static_assert((std::is_trivially_copyable_v<Arguments> && ...),
                "a kernel's arguments are copied byte by byte");

  static void run(unsigned const grid[3], unsigned const block[3], void** arguments) {
    std::size_t const row = grid[0];
    std::size_t const plane = row * grid[1];
    parallel_for(plane * grid[2], 1, [=](std::size_t begin, std::size_t end) {
      gridDim = {grid[0], grid[1], grid[2]};
      blockDim = {block[0], block[1], block[2]};
      for (std::size_t i = begin; i < end; ++i) {
        blockIdx = {static_cast<unsigned>(i % row),
                    static_cast<unsigned>(i % plane / row),
                    static_cast<unsigned>(i / plane)};
        run_block(arguments, std::index_sequence_for<Arguments...>{});
      }
    });
  }

  static bool add() {
    return add_entry<grid_stub>(reinterpret_cast<void const*>(Kernel),
                                {sizeof...(Arguments), sizes.data(), &run});
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

/// The stub of `elementwise(f, n)`: calls `f(i)` for all i < n and ignores the grid of the launch.
template <class F, void (*Kernel)(F, std::size_t)>
struct elementwise_stub {
  static_assert(std::is_trivially_copyable_v<F>, "a kernel's arguments are copied byte by byte");

  static void run(unsigned const[3], unsigned const[3], void** arguments) {
    F const& f = *static_cast<F*>(arguments[0]);
    std::size_t const items = *static_cast<std::size_t*>(arguments[1]);
    parallel_for(items, 1024, [&f](std::size_t begin, std::size_t end) {
      F copy = f;
      for (std::size_t i = begin; i < end; ++i) copy(i);
    });
  }

  static bool add() {
    return add_entry<elementwise_stub>(reinterpret_cast<void const*>(Kernel),
                                       {2, sizes.data(), &run});
  }

 private:
  static constexpr std::array<std::size_t, 2> sizes{sizeof(F), sizeof(std::size_t)};
};

/// Returns the mangled name of a kernel, or null if this library does not export it. This happens
/// if the kernel is hidden, or if the dynamic linker resolved it to a variable of the program that
/// has the same name, which -Bsymbolic prevents.
inline char const* exported_name(void const* kernel) {
  Dl_info symbol{};
  Dl_info here{};
  bool const is_exported = dladdr(kernel, &symbol) != 0 &&
                           dladdr(reinterpret_cast<void const*>(&exported_name), &here) != 0 &&
                           symbol.dli_fbase == here.dli_fbase && symbol.dli_saddr == kernel;
  return is_exported ? symbol.dli_sname : nullptr;
}

#pragma GCC visibility pop

}  // namespace roc::host_stubs

extern "C" [[gnu::used, gnu::visibility("default")]] inline void rocarray_register_host_stubs(
    add_host_stub* add) {
  for (auto const* entry = roc::host_stubs::first_entry; entry != nullptr; entry = entry->next) {
    if (char const* name = roc::host_stubs::exported_name(entry->kernel)) {
      add(name, &entry->stub);
    } else {
      std::fputs(
          "rocarray: the kernel of a host stub has no exported name; compile it with default "
          "visibility and link with -Bsymbolic\n",
          stderr);
    }
  }
}

#define ROCARRAY_HOST_STUB_JOIN_(a, b) a##b
#define ROCARRAY_HOST_STUB_NAME_(number) ROCARRAY_HOST_STUB_JOIN_(rocarray_host_stub_added_, number)
#define ROCARRAY_HOST_STUB_ADD_(...)                                                      \
  namespace {                                                                             \
  [[maybe_unused]] bool const ROCARRAY_HOST_STUB_NAME_(__COUNTER__) = __VA_ARGS__::add(); \
  }                                                                                       \
  static_assert(true)

/// Defines the host stub of a kernel, which is a function or an instance of a function template.
/// The stub runs the kernel's body for every thread of the grid.
#define ROCARRAY_HOST_STUB(...) ROCARRAY_HOST_STUB_ADD_(::roc::host_stubs::grid_stub<__VA_ARGS__>)

/// Defines the host stub of `elementwise<F>`, which is looked up in the enclosing namespace. The
/// stub calls `f(i)` for all i < n.
#define ROCARRAY_ELEMENTWISE_HOST_STUB(...) \
  ROCARRAY_HOST_STUB_ADD_(                  \
      ::roc::host_stubs::elementwise_stub<__VA_ARGS__, elementwise<__VA_ARGS__>>)

#endif

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
// ROCARRAY_FOR_EACH_HOST_STUB(2, scale_functor) defines that of roc::for_each with default blocks
// for indices of two axes; <roc/native/for_each_kernel.hpp> declares the kernel.
//
// Without ROCARRAY_KERNEL_HOST_STUB the macros expand to nothing. Requirements on the kernel:
// - It has external linkage (not static, no anonymous namespace, no lambda type among its template
//   arguments) and no requires-clause. Only then do the compilers agree on its mangled name, by
//   which a launch finds the stub.
// - Every argument is trivially copyable.
// - It uses the language of roc/native/host_kernel_language.hpp: instead of `extern __shared__`,
//   roc::dynamic_shared.
// - Launches (<<<>>>, roc::launch) are excluded from compilation with ROCARRAY_KERNEL_HOST_STUB.
#pragma once

#if !defined(ROCARRAY_KERNEL_HOST_STUB) || !ROCARRAY_KERNEL_HOST_STUB

#define ROCARRAY_HOST_STUB(...) static_assert(true)
#define ROCARRAY_ELEMENTWISE_HOST_STUB(...) static_assert(true)
#define ROCARRAY_FOR_EACH_HOST_STUB(rank, ...) static_assert(true)

#else

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <type_traits>
#include <utility>

#include <roc/kernel.hpp>

#include "platform/host/host_stub_abi.hpp"

// Everything below has hidden visibility, because several host stub libraries may be loaded, each
// with its own list. An inline variable of default visibility would be shared by the whole process,
// also with RTLD_LOCAL.

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

/// The stub that runs a kernel's body once for every thread of the grid.
template <auto Kernel>
struct grid_stub;

template <class... Arguments, void (*Kernel)(Arguments...)>
struct grid_stub<Kernel> {
  static_assert((std::is_trivially_copyable_v<Arguments> && ...),
                "a kernel's arguments are copied byte by byte");

  static bool add() {
    void const* const kernel = reinterpret_cast<void const*>(Kernel);
    return add_entry<grid_stub>(kernel, {sizeof...(Arguments),
                                         sizes.data(),
                                         {kernel, &host_kernels::variables_of_object,
                                          [](void* arguments) {
                                            call(static_cast<void**>(arguments),
                                                 std::index_sequence_for<Arguments...>{});
                                          }},
                                         nullptr,
                                         nullptr});
  }

 private:
  static constexpr std::array<std::size_t, sizeof...(Arguments)> sizes{sizeof(Arguments)...};

  template <std::size_t... I>
  static void call([[maybe_unused]] void** arguments, std::index_sequence<I...>) {
    Kernel(*static_cast<Arguments*>(arguments[I])...);
  }
};

/// The stub of `elementwise(f, n)`: calls `f(i)` for all i < n and ignores the grid of the launch.
template <class F, void (*Kernel)(F, std::size_t)>
struct elementwise_stub {
  static_assert(std::is_trivially_copyable_v<F>, "a kernel's arguments are copied byte by byte");

  static void run(void** arguments, std::size_t begin, std::size_t end) {
    F copy = *static_cast<F const*>(arguments[0]);
    for (std::size_t i = begin; i < end; ++i) copy(i);
  }

  static bool add() {
    return add_entry<elementwise_stub>(reinterpret_cast<void const*>(Kernel),
                                       {2, sizes.data(), {}, &run, [](void** arguments) {
                                          return *static_cast<std::size_t const*>(arguments[1]);
                                        }});
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

/// Defines the host stub of roc::for_each with default blocks for a functor of `rank` indices. The
/// stub runs the kernel for every thread of the grid.
#define ROCARRAY_FOR_EACH_HOST_STUB(rank, ...) \
  ROCARRAY_HOST_STUB(                          \
      ::roc::native_detail::for_each_index<::roc::detail::default_block, rank, __VA_ARGS__>)

#endif

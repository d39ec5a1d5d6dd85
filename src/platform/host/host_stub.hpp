// SPDX-License-Identifier: MIT
// Kernel twins: kernels compiled for the CPU, which the CPU double of libamdhip64 (test/fake_runtime)
// runs where the real library would run the device's code.
//
// A twin library is made of the same .hip files, compiled by a host compiler as C++ with
// -DROCARRAY_KERNEL_HOST_STUB=1 and linked as a shared object by rocarray_add_kernel_host_stubs() of
// test/fake_runtime/host_stubs.cmake. Below a kernel, in the namespace it is declared in, stands one line for
// each function or template instance that is launched:
//
//   template <class T> __global__ void scale(T* data, T factor, std::size_t n) { ... }
//   ROCARRAY_HOST_STUB(scale<float>);
//   ROCARRAY_HOST_STUB(scale<double>);
//
//   template <class F> __global__ void elementwise(F f, std::size_t n) { ... f(i) for i < n ... }
//   ROCARRAY_ELEMENTWISE_HOST_STUB(fill_functor<4>);
//
// Other compilers see nothing there. What a twin can be:
// - the kernel has external linkage (no static, no anonymous namespace, no lambda type among its
//   template arguments) and no requires-clause: compilers then agree on its mangled name, by which
//   a launch finds the twin;
// - every argument is trivially copyable;
// - no __syncthreads, __shared__, wavefront operations or device atomics: the threads of a block
//   run one after the other, blocks side by side on the double's threads;
// - the launch itself (<<<>>>) is outside what is compiled with ROCARRAY_KERNEL_HOST_STUB.
#pragma once

#include <cstddef>

extern "C" {

/// The twin of one kernel. `run` runs the whole grid and returns when that is done; `arguments`
/// points to one pointer per argument. `argument_sizes` are bytes.
struct host_stub {
  std::size_t argument_count;
  std::size_t const* argument_sizes;
  void (*run)(unsigned const grid[3], unsigned const block[3], void** arguments);
};

/// What a twin library exports: calls `add` once for each of its twins. Names and twins must stay
/// valid while the library is loaded, which it stays.
using add_host_stub = void(char const* mangled, host_stub const* twin);
void rocarray_register_host_stubs(add_host_stub* add);

/// What the double exports to twins: runs `run(closure, begin, end)` over [0, items) in parts, of
/// `grain` items at least, on its threads and returns when all are done. Only from within
/// `host_stub::run`.
void rocarray_host_stub_parallel(std::size_t items, std::size_t grain,
                       void (*run)(void* closure, std::size_t begin, std::size_t end),
                       void* closure);

}  // extern "C"

#if defined(ROCARRAY_KERNEL_HOST_STUB) && ROCARRAY_KERNEL_HOST_STUB
#include "platform/host/host_stub_library.hpp"
#else
#define ROCARRAY_HOST_STUB(...) static_assert(true)
#define ROCARRAY_ELEMENTWISE_HOST_STUB(...) static_assert(true)
#endif

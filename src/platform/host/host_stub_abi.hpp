// SPDX-License-Identifier: MIT
// The C interface between the fake HIP runtime (test/fake_runtime) and a host stub library, a
// shared object of kernels compiled for the CPU (platform/host/host_stub.hpp).
#pragma once

#include <cstddef>

extern "C" {

/// A kernel compiled for the CPU. `run` runs the whole grid and returns after it is done;
/// `arguments` points to one pointer per argument. `argument_sizes` are in bytes.
struct host_stub {
  std::size_t argument_count;
  std::size_t const* argument_sizes;
  void (*run)(unsigned const grid[3], unsigned const block[3], void** arguments);
};

/// Receives a host stub and the mangled name of its kernel. Both must stay valid until the process
/// ends: the library is never unloaded.
using add_host_stub = void(char const* mangled, host_stub const* stub);

/// Exported by every host stub library: calls `add` once for each of its stubs.
void rocarray_register_host_stubs(add_host_stub* add);

/// Exported by the fake HIP runtime: calls run(closure, begin, end) for parts of [0, items), each
/// of at least `grain` items, on several threads, and returns after all are done. Must be called
/// only by host_stub::run.
void rocarray_host_stub_parallel_for(std::size_t items, std::size_t grain,
                                     void (*run)(void* closure, std::size_t begin, std::size_t end),
                                     void* closure);

}  // extern "C"

// SPDX-License-Identifier: MIT
// The C interface between the fake HIP runtime (test/fake_runtime) and a host stub library, a
// shared object of kernels compiled for the CPU (platform/host/host_stub.hpp).
#pragma once

#include <cstddef>

#include <roc/native/host_block.hpp>

extern "C" {

/// A kernel compiled for the CPU. `arguments` points to one pointer per argument; the sizes of the
/// arguments are in bytes.
struct host_stub {
  std::size_t argument_count;
  std::size_t const* argument_sizes;
  /// Runs for each thread of the grid; its arguments are the array of pointers. Its function is
  /// null if `run_items` is set.
  roc::host_kernels::host_kernel kernel;
  /// Runs for ranges that together cover [0, item_count(arguments)), whatever the grid.
  void (*run_items)(void** arguments, std::size_t begin, std::size_t end);
  std::size_t (*item_count)(void** arguments);
};

/// Receives a host stub and the mangled name of its kernel. Both must stay valid until the process
/// ends: the library is never unloaded.
using add_host_stub = void(char const* mangled, host_stub const* stub);

/// Exported by every host stub library: calls `add` once for each of its stubs.
void rocarray_register_host_stubs(add_host_stub* add);

}  // extern "C"

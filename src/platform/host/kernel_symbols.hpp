// SPDX-License-Identifier: MIT
// What the symbol table of a shared object says about its kernels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace roc::host_hip {

/// A range of bytes, relative to the thread-local memory of a shared object.
struct thread_local_range {
  std::size_t offset;
  std::size_t bytes;
};

/// A kernel's name and its `__shared__` variables, which are variables of the thread of the system.
/// Those of functions that the kernel calls are not found, and nothing if the object is stripped.
struct kernel_symbols {
  std::string name;  // demangled; empty if it is not known
  std::vector<thread_local_range> shared_variables;
  std::size_t shared_bytes = 0;  // of all of them
};

/// Returns the symbols of a kernel, which stay valid. The first call for a kernel reads the file of
/// its shared object. Throws std::bad_alloc.
kernel_symbols const& symbols_of(void const* kernel);

/// Returns the address of the shared object, or of the program, that defines a function; null if it
/// is not known. Throws std::bad_alloc.
void const* defining_object(void const* function);

/// Returns the thread-local memory of the kernel's shared object for the calling thread of the
/// system; null if the thread has not accessed it.
std::byte* thread_local_memory_of(void const* kernel) noexcept;

}  // namespace roc::host_hip

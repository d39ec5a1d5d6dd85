// SPDX-License-Identifier: MIT
// What the symbol table of a shared object says about its kernels.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace roc::host_hip {

/// A `__shared__` variable of a kernel: a variable of the thread of the system.
struct shared_variable {
  std::string name;
  std::size_t offset;  // in the thread-local memory of the shared object
  std::size_t bytes;
  std::size_t unused_bytes;  // which follow it and belong to no variable
};

/// A kernel's name and its `__shared__` variables, in the order of their addresses. The variables
/// of functions that the kernel calls are not found. Nothing is found if the object is stripped.
struct kernel_symbols {
  std::string name;  // demangled; empty if it was not found
  std::vector<shared_variable> shared_variables;
  std::size_t shared_bytes = 0;        // of all of them
  void const* object = nullptr;        // the address at which the shared object is loaded
  std::string path;                    // of the object's file
  bool is_program = false;             // whether it is the program, not a shared object
  std::size_t thread_local_bytes = 0;  // of all thread-local variables of the object
};

/// Returns the symbols of a kernel. The first call for a kernel reads the file of its shared
/// object. Throws std::bad_alloc.
std::shared_ptr<kernel_symbols const> symbols_of(void const* kernel);

/// Returns the kernel's name, or where it is defined. Throws std::bad_alloc.
std::string kernel_name(void const* kernel);

/// Returns the symbols of the other kernels of the kernel's shared object that were launched
/// before. Throws std::bad_alloc.
std::vector<std::shared_ptr<kernel_symbols const>> symbols_of_other_kernels(void const* kernel);

/// Returns the address of the shared object, or of the program, that defines a function; null if it
/// was not found. Throws std::bad_alloc.
void const* defining_object(void const* function);

/// Returns the thread-local memory of the kernel's shared object for the calling thread of the
/// system; null if the thread has not accessed it.
std::byte* thread_local_memory_of(void const* kernel) noexcept;

/// Returns the size of the thread-local variables of all loaded shared objects. glibc takes those
/// of the objects that are loaded when the process starts from the stack of each thread.
std::size_t thread_local_bytes_of_process() noexcept;

}  // namespace roc::host_hip

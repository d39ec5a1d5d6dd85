// SPDX-License-Identifier: MIT
// Places in the program, for the reports of the access checker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace roc::host_hip {

/// A place in the program: the location that a public function of the library was given, or a call
/// stack.
struct code_place {
  char const* file = nullptr;  // null if only the stack is known
  unsigned line = 0;
  std::array<std::uintptr_t, 24> frames{};  // addresses of instructions, innermost first
  std::size_t frame_count = 0;

  /// Returns a hash that is equal for equal places.
  std::uint64_t hash() const noexcept;
};

/// Returns the place of the call of HIP or of the library that the calling thread is in. Resolves
/// no symbols.
code_place place_of_call() noexcept;
/// Returns the place of the instruction at `instruction`, whose signal the calling thread handles.
code_place place_of_signal(std::uintptr_t instruction) noexcept;

/// Finds the program that resolves addresses in PATH: addr2line, llvm-addr2line, llvm-symbolizer or
/// eu-addr2line. describe() cannot, because it must not read memory that the program may change.
void find_symbolizer() noexcept;
/// Writes "file:line" of the innermost function that is neither the library's nor the C++ library's
/// to `text`, and ends it with a null character. Writes "module+0xoffset", which addr2line takes,
/// if there is no debug information or no program that reads it. Starts that program and waits for
/// it. Allocates no memory, so that signal handlers can use it.
void describe(code_place const& place, char* text, std::size_t size) noexcept;

}  // namespace roc::host_hip

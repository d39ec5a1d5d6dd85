// SPDX-License-Identifier: MIT
// Functors compiled by a host compiler, handed to the library without their type.
#pragma once

#include <cstddef>
#include <new>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// A functor on the heap, and what runs and destroys it.
struct host_kernel {
  void* functor;
  void (*run)(void* functor, std::size_t begin, std::size_t end);
  void (*destroy)(void* functor);
};

/// Runs the kernel over [0, count) in the order of the stream, on the host platform; elsewhere the
/// code is that of hipErrorNotSupported. Takes the functor in any case. The number of a hipError_t.
ROCARRAY_API int launch_host_kernel(host_kernel kernel, std::size_t count, native_stream* stream);

template <class F>
int launch_on_host(F const& f, std::size_t count, native_stream* stream) {
  // What escapes a kernel ends the process, as a fault in one does on a device.
  constexpr auto run = [](void* functor, std::size_t begin, std::size_t end) noexcept {
    F const& g = *static_cast<F const*>(functor);
    for (std::size_t i = begin; i < end; ++i) g(i);
  };
  constexpr auto destroy = [](void* functor) { delete static_cast<F*>(functor); };
  return launch_host_kernel({new F(f), run, destroy}, count, stream);
}

}  // namespace roc::detail

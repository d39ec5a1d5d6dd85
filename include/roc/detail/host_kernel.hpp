// SPDX-License-Identifier: MIT
// Enqueues a functor on the host platform, where the library runs it on the CPU.
#pragma once

#include <cstddef>
#include <new>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// A functor on the heap without its type, and the functions that run and delete it.
struct host_kernel {
  void* functor;
  void (*run)(void* functor, std::size_t begin, std::size_t end);
  void (*destroy)(void* functor);
};

/// Enqueues the kernel over [0, count) on the host platform, and returns the value of a hipError_t.
/// On other platforms it returns hipErrorNotSupported. Takes ownership of the functor in any case.
ROCARRAY_API int launch_host_kernel(host_kernel kernel, std::size_t count, native_stream* stream);

/// Enqueues f over [0, count) on the host platform; see launch_host_kernel.
template <class F>
int launch_on_host(F const& f, std::size_t count, native_stream* stream) {
  // noexcept: an exception that leaves a kernel ends the process, as a fault on a device does.
  constexpr auto run = [](void* functor, std::size_t begin, std::size_t end) noexcept {
    F const& g = *static_cast<F const*>(functor);
    for (std::size_t i = begin; i < end; ++i) g(i);
  };
  constexpr auto destroy = [](void* functor) { delete static_cast<F*>(functor); };
  return launch_host_kernel({new F(f), run, destroy}, count, stream);
}

}  // namespace roc::detail

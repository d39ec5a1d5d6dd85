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

/// Enqueues calls range(begin, end) on the host platform, whose ranges together are [0, count); see
/// launch_host_kernel.
template <class R>
int launch_range_on_host(R const& range, std::size_t count, native_stream* stream) {
  // noexcept: an exception that leaves a kernel ends the process, as a fault on a device does.
  constexpr auto run = [](void* functor, std::size_t begin, std::size_t end) noexcept {
    (*static_cast<R const*>(functor))(begin, end);
  };
  constexpr auto destroy = [](void* functor) { delete static_cast<R*>(functor); };
  return launch_host_kernel({new R(range), run, destroy}, count, stream);
}

/// Enqueues f(i) for i in [0, count) on the host platform; see launch_host_kernel.
template <class F>
int launch_on_host(F const& f, std::size_t count, native_stream* stream) {
  auto const range = [f](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) f(i);
  };
  return launch_range_on_host(range, count, stream);
}

}  // namespace roc::detail

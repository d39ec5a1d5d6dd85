// SPDX-License-Identifier: MIT
// Enqueues a functor over a box of indices, and records what kernels use, from a file of a device
// compiler or of a host compiler.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/host_kernel.hpp>
#include <roc/detail/index_grid.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

#if defined(__CUDACC__) || defined(__HIP__)
#include <roc/native/for_each_kernel.hpp>
#endif

namespace roc::detail {

/// True if a functor may be copied to the device byte by byte.
#if defined(__CUDACC_EXTENDED_LAMBDA__)
// nvcc wraps lambdas for host and device in a type of its own, which hides that property.
template <class F>
inline constexpr bool is_device_functor =
    std::is_trivially_copyable_v<F> || __nv_is_extended_device_lambda_closure_type(F) ||
    __nv_is_extended_host_device_lambda_closure_type(F);
#else
template <class F>
inline constexpr bool is_device_functor = std::is_trivially_copyable_v<F>;
#endif

/// What a kernel needs and allows on a device.
struct kernel_limits {
  std::size_t static_bytes = 0;  ///< static shared memory of a block
  std::ptrdiff_t threads = 0;    ///< the largest block, by its registers and __launch_bounds__
};

/// A kernel, and functions of the shared object that launches it. These return the value of a
/// hipError_t. The device of the launch is current.
struct launched_kernel {
  void const* function;
  /// Queries the limits.
  int (*query)(void const* function, kernel_limits* limits);
  /// Allows blocks with `bytes` of dynamic shared memory. Null if the platform needs no call for
  /// more than 48 KiB.
  int (*allow_dynamic_bytes)(void const* function, std::size_t bytes);
};

/// Throws shape_error unless the stream's device and the kernel allow the extents and the shared
/// memory, static and `dynamic_bytes`; allows the kernel to use it. Returns false if the grid has
/// no blocks. Throws also lifetime_error and roc::error.
ROCARRAY_API bool check_launch(stream_ref stream, launched_kernel const& kernel,
                               std::array<std::ptrdiff_t, 3> const& grid,
                               std::array<std::ptrdiff_t, 3> const& block,
                               std::size_t dynamic_bytes);

/// Throws roc::error (std::errc::invalid_argument) unless both are the same stream. `argument` is
/// the number of the argument of the launch that is bound to `bound`.
ROCARRAY_API void check_bound_stream(stream_ref stream, stream_ref bound, std::size_t argument);

/// Makes the device of a stream current for a scope, and records the work that is enqueued in it.
class ROCARRAY_API launch_scope {
 public:
  /// Records the use of every allocation whose address is among the bytes of the functor or of the
  /// kernel's arguments, which their views contain. Throws roc::error, lifetime_error.
  launch_scope(stream_ref stream, void const* arguments, std::size_t bytes);
  /// Ends the recording if `check` was not called or has failed.
  ~launch_scope();
  launch_scope(launch_scope const&) = delete;
  launch_scope& operator=(launch_scope const&) = delete;

  /// Ends the recording after the launch returned `code`, the value of a hipError_t. Throws
  /// roc::error if `code` is an error, with the name `kernel`, a literal; and if the recording
  /// fails: it then blocks until the kernel has finished.
  void check(int code, char const* kernel);

 private:
  stream_ref stream_;
  int previous_device_;
  void const* arguments_;
  std::size_t bytes_;
  bool is_finished_ = false;
};

/// Enqueues f(i, j, …) for the indices of a box on `stream`. The product of the extents is at most
/// PTRDIFF_MAX. Throws roc::error, lifetime_error.
template <class Block, class F, std::size_t N>
void launch(F const& f, shape<N> const& begin, shape<N> const& extents, stream_ref stream) {
  if (layout::element_count(extents) == 0) {
    launch_scope const check_stream(stream, nullptr, 0);
    return;
  }
  launch_scope scope(stream, &f, sizeof f);
#if defined(__CUDACC__) || defined(__HIP__)
  scope.check(native_detail::launch_for_each<Block>(f, begin, extents, native(stream)),
              "for_each kernel");
#else
  scope.check(launch_range_on_host(index_range_functor<F, N>{f, begin, extents},
                                   layout::element_count(extents), stream.handle()),
              "for_each kernel");
#endif
}

}  // namespace roc::detail

// SPDX-License-Identifier: MIT
// Launches kernels, on all platforms. For files with kernels: see roc/kernel.hpp.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <roc/bound_view.hpp>
#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/launch.hpp>
#include <roc/kernel.hpp>
#include <roc/native.hpp>
#include <roc/stream.hpp>

namespace roc {

/// The number of blocks of a grid, or of threads of a block, along x, y and z. Made implicitly from
/// one to three integers, also in braces, and from dim3.
class launch_extent {
 public:
  /// Sets the numbers, which roc::launch checks.
  template <std::integral X, std::integral Y = int, std::integral Z = int>
  constexpr launch_extent(X x, Y y = 1, Z z = 1) noexcept
      : values_{static_cast<std::ptrdiff_t>(x), static_cast<std::ptrdiff_t>(y),
                static_cast<std::ptrdiff_t>(z)} {}
  /// Converts HIP's type.
  launch_extent(dim3 const& extent) noexcept : launch_extent(extent.x, extent.y, extent.z) {}

  /// Returns the numbers: x, y, z.
  constexpr std::array<std::ptrdiff_t, 3> const& values() const noexcept { return values_; }
  /// Returns the numbers as HIP's type, which they must fit.
  dim3 native() const noexcept {
    return dim3(static_cast<unsigned>(values_[0]), static_cast<unsigned>(values_[1]),
                static_cast<unsigned>(values_[2]));
  }

 private:
  std::array<std::ptrdiff_t, 3> values_;
};

namespace detail {

/// The stream of a launch and the place of the call. A parameter pack follows, so that a last
/// parameter with a default is not possible.
struct launch_stream {
  launch_stream(std::source_location place = std::source_location::current()) noexcept
      : at(place) {}
  template <std::derived_from<stream_ref> S>
  launch_stream(S const& source,
                std::source_location place = std::source_location::current()) noexcept
      : stream(source), at(place) {}

  stream_ref stream;
  std::source_location at;
};

/// The value that the kernel gets for an argument of launch: the view of a bound view.
template <class T>
T const& kernel_argument(T const& argument) noexcept {
  return argument;
}
template <class T, std::size_t N>
device_view<T, N> kernel_argument(bound_view<T, N> const& argument) {
  return argument.view();
}
template <class A>
using kernel_argument_type =
    std::remove_cvref_t<decltype(kernel_argument(std::declval<A const&>()))>;

/// Throws roc::error if an argument is bound to another stream.
template <class A>
void check_argument_stream(stream_ref, A const&, std::size_t) {}
template <class T, std::size_t N>
void check_argument_stream(stream_ref stream, bound_view<T, N> const& argument, std::size_t index) {
  check_bound_stream(stream, argument.stream(), index);
}

/// True if each argument converts to the parameter at its position.
template <class Parameters, class... Arguments>
inline constexpr bool are_convertible = false;
template <class... P, class... A>
  requires(sizeof...(P) == sizeof...(A))
inline constexpr bool are_convertible<std::tuple<P...>, A...> =
    (std::is_convertible_v<A, P> && ...);

// A shared object must not launch its kernels with a function of another one, which on NVIDIA calls
// the other's CUDA runtime, and on the host platform sets the other's threadIdx. So the functions
// that begin a launch are hidden.
#pragma GCC visibility push(hidden)

/// Queries the limits of a kernel: see launched_kernel.
inline int query_kernel(void const* kernel, kernel_limits* limits) {
#if defined(__CUDACC__) || defined(__HIP__)
  return native_detail::query_kernel(kernel, &limits->static_bytes, &limits->threads);
#elif ROCARRAY_PLATFORM_HOST
  limits->threads = host_kernels::max_block_threads;
  return host_kernels::static_shared_bytes(kernel, &limits->static_bytes);
#else
  return hipErrorNotSupported;
#endif
}

/// Returns a kernel and the functions of this shared object that prepare its launch.
inline launched_kernel prepared_kernel(void const* kernel) {
#if ROCARRAY_PLATFORM_NVIDIA && defined(__CUDACC__)
  constexpr auto allow = [](void const* function, std::size_t bytes) -> int {
    return native_detail::allow_dynamic_bytes(function, bytes);
  };
  return {kernel, &query_kernel, allow};
#else
  return {kernel, &query_kernel, nullptr};
#endif
}

/// Enqueues the kernel, which copies its arguments.
template <class... P>
hipError_t enqueue_kernel(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
                          hipStream_t stream, std::tuple<P...>& arguments) {
#if defined(__CUDACC__) || defined(__HIP__)
  return std::apply(
      [&](P&... values) {
        void* addresses[] = {const_cast<void*>(static_cast<void const*>(std::addressof(values)))...,
                             nullptr};
        return native_detail::launch_kernel(reinterpret_cast<void const*>(kernel), grid, block,
                                            addresses, shared_bytes, stream);
      },
      arguments);
#elif ROCARRAY_PLATFORM_HOST
  struct call {
    void (*kernel)(P...);
    std::tuple<P...> arguments;
  };
  constexpr auto run_thread = [](void* closure) {
    auto const& self = *static_cast<call const*>(closure);
    std::apply(self.kernel, self.arguments);
  };
  constexpr auto destroy = [](void* closure) { delete static_cast<call*>(closure); };
  host_kernels::host_kernel const compiled{reinterpret_cast<void const*>(kernel),
                                           &host_kernels::variables_of_object, run_thread};
  return host_kernels::launch_host_grid(stream, compiled, grid, block, shared_bytes,
                                        new call{kernel, arguments}, destroy);
#else  // a host stub: its file launches nothing
  return hipErrorNotSupported;
#endif
}

}  // namespace detail

/// Enqueues a kernel, a `__global__` function, on the device of `stream`:
///
///     roc::launch(transpose, {columns / 32, rows / 32}, {32, 8}, 0, stream, in.view(),
///     out.view());
///
/// The same source runs on AMD, NVIDIA and the host platform. (`kernel<<<grid, block, shared_bytes,
/// stream>>>(arguments...)`, hipLaunchKernel; numba: `kernel[grid, block, stream](arguments...)`)
///
/// @param kernel the kernel; of a template, an instance: scale<float>
/// @param grid blocks along x, y and z. If one of them is 0, nothing is enqueued
/// @param block threads of a block along x, y and z
/// @param shared_bytes dynamic shared memory of a block (roc::dynamic_shared). On NVIDIA the kernel
///   opts in to more than 48 KiB if it needs that
/// @param stream the stream
/// @param arguments one for each parameter of the kernel: views, bound views, and other values that
///   are trivially copyable, all of which convert to the parameters
/// @throws shape_error if the device does not allow the grid, the block or the shared memory, or
///   the kernel does not allow the block (its registers, __launch_bounds__); the host platform
///   ignores __launch_bounds__
/// @throws roc::error the error of the launch; std::errc::invalid_argument if a bound view is bound
///   to another stream
/// @throws lifetime_error if the stream was moved from
///
/// *Synchronization:* asynchronous, in the order of the stream.
///
/// *Lifetime:* the arguments are copied. The memory of arrays whose views are among them is not
/// reused before the kernel has finished, so the arrays may be destroyed after the call.
template <class... P, class... A>
void launch(void (*kernel)(P...), launch_extent const& grid, launch_extent const& block,
            std::size_t shared_bytes, detail::launch_stream stream, A const&... arguments) {
  detail::call_scope const call(__func__, stream.at);
  static_assert(sizeof...(P) == sizeof...(A),
                "rocarray: launch needs one argument for each parameter of the kernel");
  constexpr bool parameters_are_values = (!std::is_reference_v<P> && ...);
  static_assert(parameters_are_values,
                "rocarray: the parameters of a kernel are values, no references");
  static_assert(!parameters_are_values || (detail::is_device_functor<P> && ...),
                "rocarray: the parameters of a kernel are copied to the device byte by byte: use "
                "views and trivially copyable values");
  static_assert((!std::is_array_v<A> && ...),
                "rocarray: an array or a string literal is passed as a pointer to host memory: "
                "pass a view of a device array");
  constexpr bool arguments_are_copyable =
      (detail::is_device_functor<detail::kernel_argument_type<A>> && ...);
  static_assert(arguments_are_copyable,
                "rocarray: the arguments of a kernel are views and trivially copyable values; of "
                "an array, pass array.view()");
  constexpr bool arguments_convert =
      sizeof...(P) != sizeof...(A) || !arguments_are_copyable ||
      detail::are_convertible<std::tuple<P...>, detail::kernel_argument_type<A>...>;
  static_assert(arguments_convert,
                "rocarray: an argument of launch does not convert to the kernel's parameter");
  if constexpr (sizeof...(P) == sizeof...(A) && arguments_are_copyable && arguments_convert &&
                parameters_are_values) {
    bool const has_blocks = detail::check_launch(
        stream.stream, detail::prepared_kernel(reinterpret_cast<void const*>(kernel)),
        grid.values(), block.values(), shared_bytes);
    [[maybe_unused]] std::size_t index = 0;
    (detail::check_argument_stream(stream.stream, arguments, index++), ...);
    if (!has_blocks) return;
    std::tuple<P...> values(static_cast<P>(detail::kernel_argument(arguments))...);
    detail::launch_scope scope(stream.stream, &values, sizeof values);
    scope.check(detail::enqueue_kernel(kernel, grid.native(), block.native(), shared_bytes,
                                       native(stream.stream), values),
                "kernel");
  }
}

#pragma GCC visibility pop

}  // namespace roc

// SPDX-License-Identifier: MIT
// Enqueues a functor over a linear range, with whatever compiler is at work.
#pragma once

#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/host_launch.hpp>
#include <roc/stream.hpp>

#if defined(__CUDACC__) || defined(__HIP__)
#include <roc/native/elementwise.hpp>
#endif

namespace roc::detail {

/// Whether a functor may be copied to the device byte by byte.
#if defined(__CUDACC_EXTENDED_LAMBDA__)
// nvcc wraps lambdas for host and device in a type of its own, which hides what it is.
template <class F>
inline constexpr bool is_device_functor = std::is_trivially_copyable_v<F> ||
                                          __nv_is_extended_device_lambda_closure_type(F) ||
                                          __nv_is_extended_host_device_lambda_closure_type(F);
#else
template <class F>
inline constexpr bool is_device_functor = std::is_trivially_copyable_v<F>;
#endif

/// Makes the device of a stream current for a scope, and notes the work enqueued in it.
class ROCARRAY_API launch_scope {
 public:
  /// The work uses what the addresses among the functor's bytes point to: its views.
  launch_scope(stream_ref stream, void const* functor, std::size_t bytes);
  ~launch_scope();
  launch_scope(launch_scope const&) = delete;
  launch_scope& operator=(launch_scope const&) = delete;

  /// Throws roc::error for a launch that failed; `code` is the number of a hipError_t.
  void check(int code) const;

 private:
  stream_ref stream_;
  int before_;
  void const* functor_;
  std::size_t bytes_;
};

template <class F>
void launch(F const& f, std::size_t count, stream_ref stream) {
  launch_scope const scope(stream, &f, sizeof f);
#if defined(__CUDACC__) || defined(__HIP__)
  scope.check(native_detail::launch_elementwise(f, count, native(stream)));
#else
  scope.check(launch_on_host(f, count, stream.handle()));
#endif
}

}  // namespace roc::detail

// SPDX-License-Identifier: MIT
// A function of the host in the order of a stream, its type erased.
#pragma once

#include <type_traits>
#include <utility>

#include <roc/config.hpp>

namespace roc {

class stream_ref;

namespace detail {

/// What `run` and `destroy` are called with is `closure`: each once, on a thread of the runtime.
struct host_function {
  void (*run)(void* closure);
  void (*destroy)(void* closure) noexcept;
  void* closure;
};

template <class F>
host_function make_host_function(F&& function) {
  using held = std::decay_t<F>;
  static_assert(std::is_invocable_v<held&>, "a host function takes no arguments");
  return {[](void* closure) { (*static_cast<held*>(closure))(); },
          [](void* closure) noexcept { delete static_cast<held*>(closure); },
          new held(std::forward<F>(function))};
}

/// Owns the function from here on, also if this throws.
ROCARRAY_API void launch_host_function(stream_ref stream, host_function function);

}  // namespace detail
}  // namespace roc

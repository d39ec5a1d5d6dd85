// SPDX-License-Identifier: MIT
// A parallel loop on the threads that kernels and large copies share.
#pragma once

#include <cstddef>

namespace roc::host_hip {

/// Calls run(closure, begin, end) for consecutive parts of [0, items) on the calling thread and on
/// the shared threads (ROCARRAY_HOST_THREADS), and returns after all parts are done. Parts begin at
/// multiples of `grain`. If another loop uses the shared threads, the calling thread runs all parts
/// itself. The first call that needs the threads starts them.
void parallel_for(std::size_t items, void (*run)(void* closure, std::size_t begin, std::size_t end),
                  void* closure, std::size_t grain = 1024);

/// As above, with `f(begin, end)`.
template <class F>
void parallel_for(std::size_t items, F const& f, std::size_t grain) {
  parallel_for(
      items,
      [](void* closure, std::size_t begin, std::size_t end) {
        (*static_cast<F const*>(closure))(begin, end);
      },
      const_cast<F*>(&f), grain);
}

}  // namespace roc::host_hip

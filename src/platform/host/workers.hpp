// SPDX-License-Identifier: MIT
// Threads that kernels and large copies share.
#pragma once

#include <cstddef>

namespace roc::host_hip {

/// Calls run(closure, begin, end) over parts of [0, items), on the calling thread and others, and
/// returns when all are done. Parts begin at multiples of `grain`.
void run_parallel(std::size_t items, void (*run)(void* closure, std::size_t begin, std::size_t end),
                  void* closure, std::size_t grain = 1024);

template <class F>
void run_parallel(std::size_t items, F const& f, std::size_t grain) {
  run_parallel(
      items,
      [](void* closure, std::size_t begin, std::size_t end) {
        (*static_cast<F const*>(closure))(begin, end);
      },
      const_cast<F*>(&f), grain);
}

}  // namespace roc::host_hip

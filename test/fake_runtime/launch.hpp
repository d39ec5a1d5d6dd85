// SPDX-License-Identifier: MIT
// One launch of a kernel's twin, with its own copy of the arguments.
#pragma once

#include <cstddef>
#include <vector>

#include "platform/host/host_stub.hpp"

namespace roc::hip_double {

struct extent {
  unsigned sizes[3];

  std::size_t count() const { return std::size_t{1} * sizes[0] * sizes[1] * sizes[2]; }
};

class launch {
 public:
  /// Copies the arguments: a launch returns before the kernel runs, and its caller's stack unwinds.
  launch(host_stub const& twin, extent grid, extent block, void* const* arguments);

  void run();

 private:
  /// The unit of storage: every argument begins at a multiple of what any type is aligned to.
  struct alignas(64) chunk {
    std::byte bytes[64];
  };

  host_stub const& twin_;
  extent grid_;
  extent block_;
  std::vector<chunk> storage_;
  std::vector<std::size_t> first_chunks_;
};

}  // namespace roc::hip_double

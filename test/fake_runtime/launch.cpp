// SPDX-License-Identifier: MIT
#include "launch.hpp"

#include <cstring>

namespace roc::hip_double {

launch::launch(host_stub const& twin, extent grid, extent block, void* const* arguments)
    : twin_(twin), grid_(grid), block_(block) {
  std::size_t chunks = 0;
  for (std::size_t i = 0; i < twin.argument_count; ++i) {
    first_chunks_.push_back(chunks);
    chunks += (twin.argument_sizes[i] + sizeof(chunk) - 1) / sizeof(chunk);
  }
  storage_.resize(chunks);
  for (std::size_t i = 0; i < twin.argument_count; ++i) {
    std::memcpy(&storage_[first_chunks_[i]], arguments[i], twin.argument_sizes[i]);
  }
}

void launch::run() {
  std::vector<void*> arguments;
  for (std::size_t const first : first_chunks_) arguments.push_back(&storage_[first]);
  twin_.run(grid_.sizes, block_.sizes, arguments.data());
}

}  // namespace roc::hip_double

// SPDX-License-Identifier: MIT
#include <roc/copy_path.hpp>

namespace roc {

char const* to_string(copy_path path) noexcept {
  switch (path) {
    case copy_path::none: return "none";
    case copy_path::dma: return "dma";
    case copy_path::dma_2d: return "dma_2d";
    case copy_path::dma_3d: return "dma_3d";
    case copy_path::staged: return "staged";
    case copy_path::packed: return "packed";
    case copy_path::kernel: return "kernel";
    case copy_path::host: return "host";
  }
  return "unknown";
}

}  // namespace roc

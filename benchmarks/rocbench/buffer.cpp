// SPDX-License-Identifier: MIT
#include "buffer.hpp"

namespace rocbench {

guarded_buffer::guarded_buffer(memory_kind kind, std::size_t bytes) : kind_(kind), bytes_(bytes) {
  roc::shape<1> const shape{whole_bytes()};
  if (on_device()) {
    device_ = roc::device_array<std::byte>(shape);
    return;
  }
  bool const pinned = kind == memory_kind::pinned;
  host_ = roc::host_array<std::byte>(
      shape, roc::order::c, pinned ? roc::host_memory::pinned : roc::host_memory::pageable);
  if (kind == memory_kind::registered) registration_ = roc::register_host(host_);
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "memory/device/idle_memory.hpp"

#include <roc/stream.hpp>

#include "runtime/current_device.hpp"

namespace roc::memory {

int device_of(memory_resource const& resource) {
  int const device = resource.device_ordinal();
  return device >= 0 ? device : runtime::current_device();
}

detail::resource_block allocate_idle(memory_resource& resource, std::size_t bytes) {
  detail::resource_block const block = resource.allocate_block(bytes, {});
  if (block.data == nullptr || !block.has_prior_work) return block;
  try {
    detail::wait_for_stream({}, device_of(resource));
  } catch (...) {
    resource.deallocate_block(block, bytes, {});
    throw;
  }
  return block;
}

}  // namespace roc::memory

// SPDX-License-Identifier: MIT
#include "memory/device/idle_memory.hpp"

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::memory {

int device_of(memory_resource const& resource) {
  int const device = resource.device_ordinal();
  return device >= 0 ? device : runtime::current_device();
}

detail::resource_block allocate_idle(memory_resource& resource, std::size_t bytes) {
  detail::resource_block const block = resource.allocate_block(bytes, {});
  if (block.data == nullptr || !block.has_prior_work) return block;
  try {
    wait_for_stream({}, device_of(resource));
  } catch (...) {
    resource.deallocate_block(block, bytes, {});
    throw;
  }
  return block;
}

void wait_for_stream(stream_ref stream, int device) {
  if (runtime::is_handle_destroyed(stream.handle())) return runtime::synchronize_all_devices();
  runtime::on_device const guard(runtime::device_of(stream, device));
  hipStream_t const native = runtime::handle(stream);
  ROCARRAY_HIP(hipStreamSynchronize, native);
}

}  // namespace roc::memory

// SPDX-License-Identifier: MIT
#include <roc/memory/hip_host_resources.hpp>

#include <roc/stream.hpp>

#include "memory/debug/leaks.hpp"
#include "memory/host/managed.hpp"
#include "memory/host/pinned_flags.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"

namespace roc {
namespace {

// Blocks until the work enqueued on `stream` so far has finished. Logs errors. Returns false if
// work may still be pending.
bool wait_for(stream_ref stream, int device) noexcept {
  return platform::log_if_throws([&] { detail::wait_for_stream(stream, device); }) ||
         runtime::synchronize_all_devices_quietly();
}

}  // namespace

hip_pinned_memory_resource::hip_pinned_memory_resource(host_flags flags, int device,
                                                       detail::caller at)
    : device_(
          (detail::call_scope("hip_pinned_memory_resource", at), runtime::checked_device(device))),
      flags_(flags) {
  detail::call_scope const call(__func__, at);
  static_cast<void>(memory::native_flags(flags));
}

void* hip_pinned_memory_resource::do_allocate(std::size_t bytes, stream_ref) {
  runtime::on_device const guard(device_);
  void* data = nullptr;
  ROCARRAY_HIP(hipHostMalloc, &data, bytes, memory::native_flags(flags_));
  return data;
}

detail::resource_block hip_pinned_memory_resource::do_allocate_block(std::size_t bytes,
                                                                     stream_ref stream) {
  return {do_allocate(bytes, stream), nullptr, false};
}

void hip_pinned_memory_resource::do_deallocate(void* data, std::size_t bytes,
                                               stream_ref stream) noexcept {
  do_deallocate_block({data}, bytes, stream);
}

void hip_pinned_memory_resource::do_deallocate_block(detail::resource_block const& block,
                                                     std::size_t bytes,
                                                     stream_ref stream) noexcept {
  // Portable memory may be in use on another device, for which hipHostFree need not wait.
  if (block.has_prior_work && !wait_for(stream, device_)) {
    return memory::log_leaked_host_memory(block.data, bytes);
  }
  platform::retry_then_log([&] {
    runtime::on_device const guard(device_);
    ROCARRAY_HIP(hipHostFree, block.data);
  });
}

bool hip_pinned_memory_resource::do_is_equal(memory_resource const& other) const noexcept {
  auto const* const same = dynamic_cast<hip_pinned_memory_resource const*>(&other);
  return same != nullptr && same->device_ == device_ && same->flags_ == flags_;
}

int hip_pinned_memory_resource::do_device_ordinal() const noexcept { return device_; }

std::optional<host_memory> hip_pinned_memory_resource::do_host_kind() const noexcept {
  return has(flags_, host_flags::mapped) ? host_memory::mapped : host_memory::pinned;
}

hip_managed_memory_resource::hip_managed_memory_resource(int device, detail::caller at)
    : device_((detail::call_scope("hip_managed_memory_resource", at),
               runtime::checked_device(device))) {
  detail::call_scope const call(__func__, at);
  runtime::on_device const guard(device_);
  memory::check_managed();
}

void* hip_managed_memory_resource::do_allocate(std::size_t bytes, stream_ref) {
  runtime::on_device const guard(device_);
  void* data = nullptr;
  ROCARRAY_HIP(hipMallocManaged, &data, bytes, hipMemAttachGlobal);
  return data;
}

detail::resource_block hip_managed_memory_resource::do_allocate_block(std::size_t bytes,
                                                                      stream_ref stream) {
  return {do_allocate(bytes, stream), nullptr, false, true};
}

bool hip_managed_memory_resource::do_can_release() const noexcept { return true; }

void hip_managed_memory_resource::do_deallocate(void* data, std::size_t bytes,
                                                stream_ref stream) noexcept {
  do_deallocate_block({data}, bytes, stream);
}

void hip_managed_memory_resource::do_deallocate_block(detail::resource_block const& block,
                                                      std::size_t bytes,
                                                      stream_ref stream) noexcept {
  // The memory may be in use on another device, for which hipFree need not wait.
  if (block.has_prior_work && !wait_for(stream, device_)) {
    return memory::log_leaked_host_memory(block.data, bytes);
  }
  platform::retry_then_log([&] {
    runtime::on_device const guard(device_);
    ROCARRAY_HIP(hipFree, block.data);
  });
}

bool hip_managed_memory_resource::do_is_equal(memory_resource const& other) const noexcept {
  auto const* const same = dynamic_cast<hip_managed_memory_resource const*>(&other);
  return same != nullptr && same->device_ == device_;
}

int hip_managed_memory_resource::do_device_ordinal() const noexcept { return device_; }

std::optional<host_memory> hip_managed_memory_resource::do_host_kind() const noexcept {
  return host_memory::managed;
}

}  // namespace roc

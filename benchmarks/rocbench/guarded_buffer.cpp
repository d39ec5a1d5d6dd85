// SPDX-License-Identifier: MIT
#include "guarded_buffer.hpp"

#include "platform/call.hpp"

namespace rocbench {
namespace {

roc::host_memory host_memory_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::pinned:
    case memory_kind::write_combined: return roc::host_memory::pinned;
    case memory_kind::mapped: return roc::host_memory::mapped;
    case memory_kind::managed: return roc::host_memory::managed;
    default: return roc::host_memory::pageable;
  }
}

}  // namespace

char const* to_string(memory_kind kind) noexcept {
  switch (kind) {
    case memory_kind::device: return "device";
    case memory_kind::pinned: return "pinned";
    case memory_kind::pageable: return "pageable";
    case memory_kind::registered: return "registered";
    case memory_kind::write_combined: return "wc";
    case memory_kind::mapped: return "mapped";
    case memory_kind::managed: return "managed";
  }
  return "";
}

void guarded_buffer::hip_unregister::operator()(void* allocation) const noexcept {
  ROCARRAY_HIP_QUIET(hipHostUnregister, allocation);
}

guarded_buffer::guarded_buffer(memory_kind kind, std::size_t bytes, api_kind registration_api)
    : kind_(kind), bytes_(bytes) {
  roc::shape<1> const shape{allocation_bytes()};
  if (is_device_memory()) {
    device_ = roc::device_array<std::byte>(shape);
    return;
  }
  bool const is_write_combined = kind == memory_kind::write_combined;
  host_ = roc::host_array<std::byte>(
      shape, roc::order::c, host_memory_of(kind),
      is_write_combined ? roc::host_flags::portable | roc::host_flags::write_combined
                        : roc::host_flags::portable);
  if (kind != memory_kind::registered) return;
  if (registration_api == api_kind::library) {
    registration_ = roc::register_host(host_);
  } else {
    ROCARRAY_HIP(hipHostRegister, host_.data(), allocation_bytes(), 0u);
    hip_registration_.reset(host_.data());
  }
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "buffer.hpp"

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

void guarded_buffer::unregister::operator()(void* whole) const noexcept {
  ROCARRAY_HIP_QUIET(hipHostUnregister, whole);
}

guarded_buffer::guarded_buffer(memory_kind kind, std::size_t bytes, caller registers)
    : kind_(kind), bytes_(bytes) {
  roc::shape<1> const shape{whole_bytes()};
  if (on_device()) {
    device_ = roc::device_array<std::byte>(shape);
    return;
  }
  bool const combined = kind == memory_kind::write_combined;
  host_ = roc::host_array<std::byte>(
      shape, roc::order::c, host_memory_of(kind),
      combined ? roc::host_flags::portable | roc::host_flags::write_combined
               : roc::host_flags::portable);
  if (kind != memory_kind::registered) return;
  if (registers == caller::library) {
    registration_ = roc::register_host(host_);
  } else {
    ROCARRAY_HIP(hipHostRegister, host_.data(), whole_bytes(), 0u);
    registered_whole_.reset(host_.data());
  }
}

}  // namespace rocbench

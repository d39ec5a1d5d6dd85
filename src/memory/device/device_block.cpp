// SPDX-License-Identifier: MIT
#include <atomic>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>

#include <roc/detail/device_storage.hpp>
#include <roc/error.hpp>

#include "platform/log_if_throws.hpp"
#include "platform/call.hpp"
#include "base/error.hpp"
#include "runtime/stream.hpp"

namespace roc::detail {
namespace {

using native_detail::memory_kind;

// AMD's runtime reports an address that it does not know as an error, NVIDIA's as a kind.
int device_of(void const* data) {
  hipPointerAttribute_t attributes{};
  bool const known = ROCARRAY_HIP_CODE(hipPointerGetAttributes, &attributes, data) == hipSuccess;
  auto const kind = known ? native_detail::kind_of(attributes) : memory_kind::unregistered;
  if (kind == memory_kind::device || kind == memory_kind::managed) return attributes.device;
  char place[32];
  std::snprintf(place, sizeof place, "%p", data);
  char const* const what = kind == memory_kind::host ? "pinned or registered host memory"
                                                     : "memory that the runtime does not know";
  throw error(std::make_error_code(std::errc::invalid_argument),
              std::string("adoption of ") + place + ", " + what + ": adopt memory of a device");
}

}  // namespace

device_block::device_block(device_memory own) : own_(std::move(own)), device_(own_.device()) {}

device_block::device_block(void* foreign) : foreign_(foreign), device_(device_of(foreign)) {}

device_block::~device_block() = default;

void device_block::give_back(void*) {}

void device_block::add_owner() noexcept {
  std::atomic_ref(owners_).fetch_add(1, std::memory_order_relaxed);
}

bool device_block::has_one_owner() const noexcept {
  return std::atomic_ref(const_cast<std::size_t&>(owners_)).load(std::memory_order_acquire) == 1;
}

void device_block::drop_owner() noexcept {
  if (std::atomic_ref(owners_).fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (foreign_ != nullptr) {
    // Kernels on non-blocking streams too, of which nobody told, and copies of other devices.
    platform::log_if_throws(runtime::wait_for_devices);
    try {
      give_back(foreign_);
    } catch (std::exception const& late) {
      base::log(std::string("the finaliser of adopted memory threw: ") + late.what());
    } catch (...) {
      base::log("the finaliser of adopted memory threw what is no std::exception");
    }
  }
  delete this;
}

}  // namespace roc::detail

// SPDX-License-Identifier: MIT
#include "platform/pointer.hpp"

#include <source_location>

#include "platform/call.hpp"

namespace roc::platform {

pointer_information query_pointer(void const* data) {
  hipPointerAttribute_t attributes{};
  hipError_t const result = ROCARRAY_HIP_CODE(hipPointerGetAttributes, &attributes, data);
  // Unknown memory is hipErrorInvalidValue for ROCm before version 6, and a kind for the others.
  if (means_no_device(result)) return {};
  if (result == hipErrorInvalidValue) return {.is_rejected = true};
  if (result != hipSuccess) {
    detail::fail(call::call_hipPointerGetAttributes, result, std::source_location::current());
  }
  return {.kind = native_detail::kind_of(attributes),
          .device = attributes.device,
          .device_address = reinterpret_cast<std::uintptr_t>(attributes.devicePointer),
          .host_address = reinterpret_cast<std::uintptr_t>(attributes.hostPointer)};
}

}  // namespace roc::platform

// SPDX-License-Identifier: MIT
// What HIP's versions and providers spell or number differently, read in one way.
// Included by roc/native/hip.hpp only.
#pragma once

#include <roc/native/hip.hpp>

// Old headers of HIP lack the flag's name. (On AMD its bit also asks for coarse-grained coherence.)
#if defined(HIP_VERSION) && !defined(hipHostRegisterReadOnly)
inline constexpr unsigned hipHostRegisterReadOnly = 0x08;
#endif

// HIP's headers for NVIDIA have the names of the other two flags only.
#if defined(HIP_VERSION) && !defined(hipMemAttachGlobal)
inline constexpr unsigned hipMemAttachGlobal = 0x01;
#endif

namespace roc::native_detail {

/// hipMemPoolAttrReleaseThreshold, which HIP's headers for NVIDIA do not name; CUDA's number too.
inline constexpr auto release_threshold = static_cast<hipMemPoolAttr>(4);

enum class memory_kind { unregistered, host, device, managed };

/// Where memory lies, from what hipPointerGetAttributes says: HIP 6 renamed the member, renumbered
/// the enumeration, and gave it a value for memory that the runtime does not know.
template <class Attributes>
constexpr memory_kind kind_of(Attributes const& attributes) {
  constexpr auto type_of = [](Attributes const& a) {
    if constexpr (requires { a.type; }) {
      return a.type;
    } else {
      return a.memoryType;
    }
  };
  auto const type = type_of(attributes);
  if (attributes.isManaged != 0) return memory_kind::managed;
  if (type == hipMemoryTypeHost) return memory_kind::host;
  if (type == hipMemoryTypeDevice) return memory_kind::device;
  // Before HIP 6 the value 0 was Host, caught above.
  return type == hipMemoryType{} ? memory_kind::unregistered : memory_kind::managed;
}

/// hipDeviceAttributeHostRegisterSupported where the header knows it, else an attribute that every
/// provider answers with hipErrorInvalidValue.
template <class Attribute = hipDeviceAttribute_t>
constexpr Attribute host_register_supported() {
  if constexpr (requires { Attribute::hipDeviceAttributeHostRegisterSupported; }) {
    return Attribute::hipDeviceAttributeHostRegisterSupported;
  } else {
    return Attribute::hipDeviceAttributeCudaCompatibleEnd;
  }
}

}  // namespace roc::native_detail

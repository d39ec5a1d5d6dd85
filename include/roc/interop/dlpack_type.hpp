// SPDX-License-Identifier: MIT
// What a DLPack tensor says of its elements and its device. Part of roc/interop/dlpack.hpp.
#pragma once

#include <dlpack/dlpack.h>

#include <complex>
#include <cstdint>
#include <string>
#include <system_error>
#include <type_traits>

#include <roc/error.hpp>

#if ROCARRAY_PLATFORM_HOST + ROCARRAY_PLATFORM_AMD + ROCARRAY_PLATFORM_NVIDIA != 1
#error \
    "rocarray: roc/interop/dlpack.hpp names the platform's devices: link rocarray::rocarray, \
whose target says which it is, or define one of ROCARRAY_PLATFORM_HOST, ROCARRAY_PLATFORM_AMD, \
ROCARRAY_PLATFORM_NVIDIA as 1"
#endif

#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION >= 1
#define ROCARRAY_DLPACK_VERSIONED 1
#else
#define ROCARRAY_DLPACK_VERSIONED 0  // before 1.0, tensors cannot say that they are read-only
#endif

namespace roc {

/// A DLPack tensor that cannot be used as what was asked for: of another device, of another element
/// type, read-only, of a later major version. Its code is std::errc::invalid_argument.
class dlpack_error : public error {
 public:
  /// With the whole message.
  explicit dlpack_error(std::string const& problem)
      : error(std::make_error_code(std::errc::invalid_argument), problem) {}
};

/// DLPack's word for elements of type T: defined for integers, bool, floating point and
/// std::complex. Specialise it for types of yours, such as half:
///   template <> inline constexpr DLDataType roc::dlpack_type<__half> = {kDLFloat, 16, 1};
template <class T>
inline constexpr DLDataType dlpack_type = [] {
  constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(T));
  if constexpr (std::is_same_v<T, bool>) {
    return DLDataType{6, 8, 1};  // kDLBool, which headers before 0.8 do not name
  } else if constexpr (std::is_integral_v<T>) {
    return DLDataType{std::is_signed_v<T> ? kDLInt : kDLUInt, bits, 1};
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return DLDataType{kDLFloat, bits, 1};
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    return DLDataType{kDLComplex, bits, 1};
  } else {
    static_assert(sizeof(T) == 0, "rocarray: specialise roc::dlpack_type for this element type");
  }
}();

/// What DLPack calls device memory of this platform: kDLROCM, kDLCUDA, and on the host platform
/// kDLExtDev, because its device memory is ordered by streams and may be closed to the CPU: code
/// that takes it for kDLCPU must not run there unnoticed.
#if ROCARRAY_PLATFORM_AMD
inline constexpr DLDeviceType dlpack_device = kDLROCM;
inline constexpr DLDeviceType dlpack_pinned = kDLROCMHost;
#elif ROCARRAY_PLATFORM_NVIDIA
inline constexpr DLDeviceType dlpack_device = kDLCUDA;
inline constexpr DLDeviceType dlpack_pinned = kDLCUDAHost;
#else
inline constexpr DLDeviceType dlpack_device = kDLExtDev;
/// What it calls pinned host memory of this platform.
inline constexpr DLDeviceType dlpack_pinned = kDLCPU;
#endif

namespace detail {

inline std::string dlpack_words(DLDataType type) {
  static char const* const codes[] = {"int",    "uint",    "float", "handle",
                                      "bfloat", "complex", "bool"};
  std::string const code =
      type.code < 7 ? codes[type.code] : "code " + std::to_string(type.code) + " ";
  std::string const lanes = type.lanes == 1 ? "" : " x " + std::to_string(type.lanes);
  return code + std::to_string(type.bits) + lanes;
}

inline std::string dlpack_words(DLDevice device) {
  std::string const number = std::to_string(static_cast<int>(device.device_type));
  switch (static_cast<int>(device.device_type)) {
    case kDLCPU: return "the CPU";
    case kDLCUDA: return "CUDA device " + std::to_string(device.device_id);
    case kDLCUDAHost: return "pinned CUDA memory";
    case kDLROCM: return "ROCm device " + std::to_string(device.device_id);
    case kDLROCMHost: return "pinned ROCm memory";
    case kDLCUDAManaged: return "managed CUDA memory";
    default: return "a device of type " + number;
  }
}

}  // namespace detail
}  // namespace roc

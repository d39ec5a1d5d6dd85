// SPDX-License-Identifier: MIT
// Functions with the driver's parameters, which the fake HIP runtime does not support. Part of the
// preloaded tool of fake_hip_tool.cpp. They copy by other functions of the runtime.
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#include <cstddef>

namespace {

using copy_rows = hipError_t(void*, std::size_t, void const*, std::size_t, std::size_t, std::size_t,
                             hipMemcpyKind);
using copy_rows_on_stream = hipError_t(void*, std::size_t, void const*, std::size_t, std::size_t,
                                       std::size_t, hipMemcpyKind, hipStream_t);

char* begin_of(hipMemoryType type, void const* host, hipDeviceptr_t device) {
  return static_cast<char*>(type == hipMemoryTypeHost ? const_cast<void*>(host) : device);
}

// `stream` is null for a synchronous copy.
hipError_t copy(HIP_MEMCPY3D const& p, hipStream_t const* stream) {
  for (hipMemoryType const type : {p.srcMemoryType, p.dstMemoryType}) {
    if (type == hipMemoryTypeArray) return hipErrorNotSupported;
    if (type != hipMemoryTypeHost && type != hipMemoryTypeDevice && type != hipMemoryTypeUnified) {
      return hipErrorInvalidValue;
    }
  }
  char const* const from = begin_of(p.srcMemoryType, p.srcHost, p.srcDevice);
  char* const to = begin_of(p.dstMemoryType, p.dstHost, p.dstDevice);
  hipError_t code = hipSuccess;
  for (std::size_t z = 0; z != p.Depth && code == hipSuccess; ++z) {
    std::size_t const source = ((p.srcZ + z) * p.srcHeight + p.srcY) * p.srcPitch + p.srcXInBytes;
    std::size_t const destination =
        ((p.dstZ + z) * p.dstHeight + p.dstY) * p.dstPitch + p.dstXInBytes;
    if (stream == nullptr) {
      code = reinterpret_cast<copy_rows*>(dlsym(RTLD_NEXT, "hipMemcpy2D"))(
          to + destination, p.dstPitch, from + source, p.srcPitch, p.WidthInBytes, p.Height,
          hipMemcpyDefault);
    } else {
      code = reinterpret_cast<copy_rows_on_stream*>(dlsym(RTLD_NEXT, "hipMemcpy2DAsync"))(
          to + destination, p.dstPitch, from + source, p.srcPitch, p.WidthInBytes, p.Height,
          hipMemcpyDefault, *stream);
    }
  }
  return code;
}

HIP_MEMCPY3D with_one_slice(hip_Memcpy2D const& p) {
  HIP_MEMCPY3D result{};
  result.srcMemoryType = p.srcMemoryType;
  result.srcHost = p.srcHost;
  result.srcDevice = p.srcDevice;
  result.srcXInBytes = static_cast<unsigned>(p.srcXInBytes);
  result.srcY = static_cast<unsigned>(p.srcY);
  result.srcPitch = static_cast<unsigned>(p.srcPitch);
  result.dstMemoryType = p.dstMemoryType;
  result.dstHost = p.dstHost;
  result.dstDevice = p.dstDevice;
  result.dstXInBytes = static_cast<unsigned>(p.dstXInBytes);
  result.dstY = static_cast<unsigned>(p.dstY);
  result.dstPitch = static_cast<unsigned>(p.dstPitch);
  result.WidthInBytes = static_cast<unsigned>(p.WidthInBytes);
  result.Height = static_cast<unsigned>(p.Height);
  result.Depth = 1;
  return result;
}

}  // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT hipError_t hipDrvMemcpy3D(HIP_MEMCPY3D const* p) {
  return p == nullptr ? hipErrorInvalidValue : copy(*p, nullptr);
}
EXPORT hipError_t hipDrvMemcpy3DAsync(HIP_MEMCPY3D const* p, hipStream_t stream) {
  return p == nullptr ? hipErrorInvalidValue : copy(*p, &stream);
}
EXPORT hipError_t hipMemcpyParam2D(hip_Memcpy2D const* p) {
  return p == nullptr ? hipErrorInvalidValue : copy(with_one_slice(*p), nullptr);
}
EXPORT hipError_t hipMemcpyParam2DAsync(hip_Memcpy2D const* p, hipStream_t stream) {
  return p == nullptr ? hipErrorInvalidValue : copy(with_one_slice(*p), &stream);
}
EXPORT hipError_t hipDrvMemcpy2DUnaligned(hip_Memcpy2D const* p) {
  return p == nullptr ? hipErrorInvalidValue : copy(with_one_slice(*p), nullptr);
}

// SPDX-License-Identifier: MIT
// A plain HIP program that copies by the functions with the driver's parameters. Prints every
// result, so that two runs can be compared. A preloaded tool may have the functions. Exits with 77
// if there is no device, or if a function is missing.
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using bytes = std::vector<unsigned char>;

constexpr std::size_t host_pitch = 1000;
constexpr std::size_t device_pitch = 1024;
constexpr std::size_t rows = 900;
constexpr std::size_t width = 770;

template <class... Arguments>
void call(char const* name, Arguments... arguments) {
  auto* const function = reinterpret_cast<hipError_t (*)(Arguments...)>(dlsym(RTLD_DEFAULT, name));
  if (function == nullptr) std::exit(77);
  int const code = function(arguments...);
  std::printf("%s: %d, last error %d\n", name, code, hipGetLastError());
}

bytes pattern(std::size_t count, std::uint32_t state) {
  bytes result(count);
  for (unsigned char& value : result) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<unsigned char>(state >> 24);
  }
  return result;
}

void report_bytes(char const* what, bytes const& data) {
  std::uint64_t hash = 1469598103934665603u;
  for (unsigned char const value : data) hash = (hash ^ value) * 1099511628211u;
  std::printf("%s: %zu bytes, %016llx\n", what, data.size(), static_cast<unsigned long long>(hash));
}

void report_device(void const* memory) {
  bytes all(device_pitch * rows);
  int const code = hipMemcpy(all.data(), memory, all.size(), hipMemcpyDeviceToHost);
  std::printf("to the host: %d\n", code);
  report_bytes("device", all);
}

hipMemoryType unknown_type() {
  hipMemoryType result;
  int const number = 99;
  std::memcpy(&result, &number, sizeof result);
  return result;
}

void copy_rows(void* memory, hipStream_t stream) {
  bytes const source = pattern(host_pitch * rows, 1);
  bytes gaps(host_pitch * rows, 0x22);
  hip_Memcpy2D up{};
  up.srcMemoryType = hipMemoryTypeHost;
  up.srcHost = source.data();
  up.srcPitch = host_pitch;
  up.srcXInBytes = 3;
  up.srcY = 1;
  up.dstMemoryType = hipMemoryTypeDevice;
  up.dstDevice = memory;
  up.dstPitch = device_pitch;
  up.dstXInBytes = 7;
  up.WidthInBytes = width;
  up.Height = rows - 1;
  hip_Memcpy2D down{};
  down.srcMemoryType = hipMemoryTypeUnified;
  down.srcDevice = memory;
  down.srcPitch = device_pitch;
  down.srcXInBytes = 7;
  down.dstMemoryType = hipMemoryTypeUnified;
  down.dstDevice = gaps.data();
  down.dstPitch = host_pitch;
  down.dstY = 1;
  down.WidthInBytes = width;
  down.Height = rows - 1;
  call("hipMemcpyParam2D", static_cast<hip_Memcpy2D const*>(&up));
  report_device(memory);
  call("hipDrvMemcpy2DUnaligned", static_cast<hip_Memcpy2D const*>(&down));
  report_bytes("rows", gaps);
  up.dstXInBytes = 8;
  call("hipMemcpyParam2DAsync", static_cast<hip_Memcpy2D const*>(&up), stream);
  std::printf("synchronize: %d\n", hipStreamSynchronize(stream));
  report_device(memory);

  call("hipMemcpyParam2D", static_cast<hip_Memcpy2D const*>(nullptr));
  down.dstPitch = width - 1;
  call("hipMemcpyParam2D", static_cast<hip_Memcpy2D const*>(&down));
  up.dstMemoryType = hipMemoryTypeArray;
  call("hipMemcpyParam2D", static_cast<hip_Memcpy2D const*>(&up));
  up.dstMemoryType = unknown_type();
  call("hipMemcpyParam2D", static_cast<hip_Memcpy2D const*>(&up));
}

void copy_slices(void* memory, hipStream_t stream) {
  bytes const source = pattern(host_pitch * rows, 2);
  HIP_MEMCPY3D box{};
  box.srcMemoryType = hipMemoryTypeHost;
  box.srcHost = source.data();
  box.srcPitch = host_pitch;
  box.srcHeight = 100;
  box.srcXInBytes = 5;
  box.srcY = 3;
  box.dstMemoryType = hipMemoryTypeDevice;
  box.dstDevice = memory;
  box.dstPitch = device_pitch;
  box.dstHeight = 100;
  box.dstY = 10;
  box.dstZ = 1;
  box.WidthInBytes = width;
  box.Height = 90;
  box.Depth = 8;
  call("hipDrvMemcpy3D", static_cast<HIP_MEMCPY3D const*>(&box));
  report_device(memory);
  box.srcZ = 1;
  box.dstZ = 0;
  call("hipDrvMemcpy3DAsync", static_cast<HIP_MEMCPY3D const*>(&box), stream);
  std::printf("synchronize: %d\n", hipStreamSynchronize(stream));
  report_device(memory);

  call("hipDrvMemcpy3D", static_cast<HIP_MEMCPY3D const*>(nullptr));
  box.srcLOD = 1;
  call("hipDrvMemcpy3D", static_cast<HIP_MEMCPY3D const*>(&box));
  report_device(memory);
  box.srcMemoryType = hipMemoryTypeArray;
  call("hipDrvMemcpy3DAsync", static_cast<HIP_MEMCPY3D const*>(&box), stream);
}

}  // namespace

int main() {
  void* memory = nullptr;
  hipStream_t stream = nullptr;
  if (hipMalloc(&memory, device_pitch * rows) != hipSuccess) return 77;
  std::printf("stream: %d\n", hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  std::printf("clear: %d\n", hipMemset(memory, 0x11, device_pitch * rows));
  copy_rows(memory, stream);
  copy_slices(memory, stream);
  std::printf("destroy: %d\n", hipStreamDestroy(stream));
  std::printf("free: %d\n", hipFree(memory));
}

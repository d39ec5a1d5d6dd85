// SPDX-License-Identifier: MIT
// A CUDA driver without a device, as far as driver_program.cpp uses one: device memory is memory of
// the host, streams run at once. Its functions call each other through the loader, so that the
// calls reach a preloaded object.
#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#define EXPORT extern "C" [[gnu::visibility("default")]]

struct CUctx_st {};
struct CUstream_st {
  CUcontext context;
};

namespace {

CUctx_st primary;
thread_local CUcontext current = &primary;

std::mutex mutex;
std::set<CUstream> captured;  // protected by the mutex

thread_local CUstream_st* stream_of_thread = nullptr;

template <class Pointer>
char* to_address(Pointer value) {
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(value));
}
char* to_address(CUdeviceptr value) { return reinterpret_cast<char*>(value); }

char* begin_of(CUmemorytype type, void const* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? to_address(host) : to_address(device);
}

// Returns the stream that a handle means.
CUstream find_stream(CUstream handle) {
  if (handle != CU_STREAM_PER_THREAD) return handle;
  if (stream_of_thread == nullptr) stream_of_thread = new CUstream_st{&primary};
  return stream_of_thread;
}
CUstream per_thread(CUstream handle) { return handle == nullptr ? CU_STREAM_PER_THREAD : handle; }

void end_captures_in(CUcontext context) {
  std::lock_guard const lock(mutex);
  std::erase_if(captured, [&](CUstream stream) { return stream->context == context; });
}

}  // namespace

EXPORT CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = &primary;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* is_active) {
  pthread_testcancel();  // as in cuStreamGetCtx
  *flags = 0;
  *is_active = 1;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  end_captures_in(&primary);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice) {
  *context = current = new CUctx_st;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  if (context == nullptr || context == &primary) return CUDA_ERROR_INVALID_CONTEXT;
  end_captures_in(context);
  if (current == context) current = nullptr;
  delete context;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = 0;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* memory, std::size_t bytes) {
  *memory = reinterpret_cast<CUdeviceptr>(std::calloc(bytes, 1));
  return *memory == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr memory) {
  std::free(to_address(memory));
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned) {
  *stream = new CUstream_st{current};
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  {
    std::lock_guard const lock(mutex);
    captured.erase(stream);
  }
  delete stream;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  // The vendor's functions may contain cancellation points.
  pthread_testcancel();
  *context = find_stream(stream)->context;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  std::lock_guard const lock(mutex);
  *status = captured.count(find_stream(stream)) != 0 ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                     : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode) {
  if (stream == nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  std::lock_guard const lock(mutex);
  return captured.insert(find_stream(stream)).second ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}
EXPORT CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode) {
  return cuStreamBeginCapture_v2(per_thread(stream), mode);
}
EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  *graph = nullptr;
  std::lock_guard const lock(mutex);
  return captured.erase(find_stream(stream)) != 0 ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}
EXPORT CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph* graph) {
  return cuStreamEndCapture(per_thread(stream), graph);
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (to == 0 || from == 0) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(to_address(to), to_address(from), bytes);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return cuMemcpyAsync(to, from, bytes, nullptr);
}
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, void const* from, std::size_t bytes,
                                     CUstream stream) {
  return cuMemcpyAsync(to, reinterpret_cast<CUdeviceptr>(from), bytes, stream);
}
EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                     CUstream stream) {
  return cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to), from, bytes, stream);
}
EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, void const* from, std::size_t bytes) {
  return cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr);
}
EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr);
}
EXPORT CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, void const* from, std::size_t bytes) {
  return cuMemcpyHtoD_v2(to, from, bytes);
}
EXPORT CUresult cuMemcpy3D_v2(CUDA_MEMCPY3D const* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (p->srcMemoryType == CU_MEMORYTYPE_ARRAY || p->dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  char* const from = begin_of(p->srcMemoryType, p->srcHost, p->srcDevice);
  char* const to = begin_of(p->dstMemoryType, p->dstHost, p->dstDevice);
  for (std::size_t z = 0; z != p->Depth; ++z) {
    for (std::size_t y = 0; y != p->Height; ++y) {
      std::size_t const source =
          ((p->srcZ + z) * p->srcHeight + p->srcY + y) * p->srcPitch + p->srcXInBytes;
      std::size_t const destination =
          ((p->dstZ + z) * p->dstHeight + p->dstY + y) * p->dstPitch + p->dstXInBytes;
      std::memcpy(to + destination, from + source, p->WidthInBytes);
    }
  }
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpy3DAsync_v2(CUDA_MEMCPY3D const* p, CUstream) { return cuMemcpy3D_v2(p); }
EXPORT CUresult cuMemcpy2D_v2(CUDA_MEMCPY2D const* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = p->srcMemoryType;
  box.srcHost = p->srcHost;
  box.srcDevice = p->srcDevice;
  box.srcXInBytes = p->srcXInBytes;
  box.srcY = p->srcY;
  box.srcPitch = p->srcPitch;
  box.dstMemoryType = p->dstMemoryType;
  box.dstHost = p->dstHost;
  box.dstDevice = p->dstDevice;
  box.dstXInBytes = p->dstXInBytes;
  box.dstY = p->dstY;
  box.dstPitch = p->dstPitch;
  box.WidthInBytes = p->WidthInBytes;
  box.Height = p->Height;
  box.Depth = 1;
  return cuMemcpy3D_v2(&box);
}
EXPORT CUresult cuMemcpy2DUnaligned_v2(CUDA_MEMCPY2D const* p) { return cuMemcpy2D_v2(p); }
EXPORT CUresult cuMemcpy2DAsync_v2(CUDA_MEMCPY2D const* p, CUstream) { return cuMemcpy2D_v2(p); }

// Returns 0 if all arguments have the values that driver_program.cpp passes.
EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z,
                               unsigned threads_x, unsigned threads_y, unsigned threads_z,
                               unsigned shared, CUstream stream, void** parameters, void** extra) {
  bool const is_good =
      function == reinterpret_cast<CUfunction>(1) && x == 2 && y == 3 && z == 4 && threads_x == 5 &&
      threads_y == 6 && threads_z == 7 && shared == 8 && stream == reinterpret_cast<CUstream>(9) &&
      parameters == reinterpret_cast<void**>(10) && extra == reinterpret_cast<void**>(11);
  return is_good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuTexRefSetMipmapLevelClamp(CUtexref texture, float least, float most) {
  bool const is_good =
      texture == reinterpret_cast<CUtexref>(1) && least == 0.25f && most == 1024.5f;
  return is_good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// A function that the toolkit does not know.
EXPORT CUresult cuOfLaterDriver(int* value) {
  *value = 42;
  return CUDA_SUCCESS;
}

EXPORT CUresult cuGetProcAddress_v2(char const* name, void** function, int, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult* status) {
  std::string const exact = name;
  *function = nullptr;
  if (exact == "cuNull") return CUDA_SUCCESS;
  Dl_info info;
  dladdr(reinterpret_cast<void*>(&captured), &info);
  void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  bool const per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  for (std::string const suffix : {"_v2", ""}) {
    for (std::string const of_thread : {"_ptds", "_ptsz", ""}) {
      if (!of_thread.empty() && !per_thread) continue;
      if (*function == nullptr) *function = dlsym(library, (exact + suffix + of_thread).c_str());
    }
  }
  dlclose(library);
  bool const is_found = *function != nullptr;
  if (status != nullptr) {
    *status = is_found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return is_found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
EXPORT CUresult cuGetProcAddress(char const* name, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

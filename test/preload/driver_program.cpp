// SPDX-License-Identifier: MIT
// driver_program CASE ACCESS: a plain program of the CUDA driver's interface. Prints every result,
// so that two runs can be compared: with and without the preloaded object. ACCESS is how it gets
// the driver's functions: the name by which it loads the driver (libcuda.so.1, libcuda.so), "table"
// for cuGetProcAddress, or "linked", if it is built with DRIVER_IS_LINKED. With NAMES_ARE_EXPORTED,
// the program exports a variable and a function of its own under names of the driver's functions.
// Exits with 77 if there is no driver or no device.
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#if defined(NAMES_ARE_EXPORTED)
// As programs do that load the driver's functions into variables of the same names, or wrap them.
extern "C" {
extern void* exported_variable __asm__("cuMemcpyDtoH_v2");
void* exported_variable = nullptr;
int exported_function() __asm__("cuMemcpy");
int exported_function() { std::abort(); }
}
#endif

namespace {

using bytes = std::vector<unsigned char>;

// Finds functions by their exported names, or by those that cuGetProcAddress takes.
class driver_library {
 public:
  explicit driver_library(std::string_view access) : is_table_(access == "table") {
    handle_ = access == "linked"
                  ? dlopen(nullptr, RTLD_NOW)
                  : dlopen(is_table_ ? "libcuda.so.1" : std::string(access).c_str(), RTLD_NOW);
    if (handle_ == nullptr) std::exit(77);
    if (is_table_) get_ = reinterpret_cast<look_up*>(dlsym(handle_, "cuGetProcAddress_v2"));
    if (is_table_ && get_ == nullptr) std::exit(77);
  }
  void* find(std::string_view exported, bool per_thread = false) const {
    if (!is_table_) return dlsym(handle_, std::string(exported).c_str());
    std::string const name(exported.substr(0, exported.find("_v2")));
    void* function = nullptr;
    cuuint64_t const flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                        : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    CUdriverProcAddressQueryResult status;
    return get_(name.c_str(), &function, CUDA_VERSION, flags, &status) == CUDA_SUCCESS ? function
                                                                                       : nullptr;
  }

 private:
  using look_up = CUresult(char const*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  bool is_table_;
  void* handle_ = nullptr;
  look_up* get_ = nullptr;
};

driver_library const* driver = nullptr;

// Calls a function of the driver. The linked program calls by the names that the linker resolves.
#if defined(DRIVER_IS_LINKED)
#define CALL(name, ...) name(__VA_ARGS__)
#else
#define EXPORTED_NAME(name) #name
#define CALL(name, ...) \
  reinterpret_cast<decltype(&name)>(find_or_exit(EXPORTED_NAME(name)))(__VA_ARGS__)
void* find_or_exit(char const* name) {
  void* const function = driver->find(name);
  if (function != nullptr) return function;
  std::printf("%s was not found\n", name);
  std::exit(1);
}
#endif

void report(char const* what, CUresult code) { std::printf("%s: %d\n", what, code); }

bytes pattern(std::size_t count, unsigned seed) {
  bytes result(count);
  std::uint32_t state = seed * 2654435761u + 1;
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

void begin() {
  int count = 0;
  if (CALL(cuInit, 0) != CUDA_SUCCESS || CALL(cuDeviceGetCount, &count) != CUDA_SUCCESS ||
      count == 0) {
    std::exit(77);
  }
  CUcontext context = nullptr;
  report("retain", CALL(cuDevicePrimaryCtxRetain, &context, 0));
  report("current", CALL(cuCtxSetCurrent, context));
}

constexpr std::size_t mebi = 1024 * 1024;

void contiguous() {
  begin();
  for (std::size_t const count : {std::size_t{100}, mebi, 3 * mebi + 5}) {
    CUdeviceptr memory = 0;
    report("alloc", CALL(cuMemAlloc_v2, &memory, count));
    bytes const source = pattern(count, 1);
    bytes const other = pattern(count, 2);
    bytes back(count);
    report("HtoD", CALL(cuMemcpyHtoD_v2, memory, source.data(), count));
    report("DtoH", CALL(cuMemcpyDtoH_v2, back.data(), memory, count));
    report_bytes("bytes", back);
    CUstream stream = nullptr;
    report("stream", CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING));
    report("HtoDAsync", CALL(cuMemcpyHtoDAsync_v2, memory, other.data(), count, stream));
    report("DtoHAsync", CALL(cuMemcpyDtoHAsync_v2, back.data(), memory, count, stream));
    report("synchronize", CALL(cuStreamSynchronize, stream));
    report_bytes("bytes", back);
    auto const address = [](void const* data) { return reinterpret_cast<CUdeviceptr>(data); };
    report("unified", CALL(cuMemcpy, memory, address(source.data()), count));
    // The stream does not wait for the default stream, on which small copies may be pending.
    report("synchronize", CALL(cuCtxSynchronize));
    report("unified async", CALL(cuMemcpyAsync, address(back.data()), memory, count, stream));
    report("synchronize", CALL(cuStreamSynchronize, stream));
    report_bytes("bytes", back);
    if (void* const found = driver->find("cuMemcpyHtoD_v2", true); found != nullptr) {
      auto* const copy = reinterpret_cast<decltype(&cuMemcpyHtoD_v2)>(found);
      report("per thread", copy(memory, other.data(), count));
      report("DtoH", CALL(cuMemcpyDtoH_v2, back.data(), memory, count));
      report_bytes("bytes", back);
    }
    report("null", CALL(cuMemcpyHtoD_v2, memory, nullptr, count));
    report("destroy", CALL(cuStreamDestroy_v2, stream));
    report("free", CALL(cuMemFree_v2, memory));
  }
}

void strided() {
  begin();
  constexpr std::size_t host_pitch = 1000;
  constexpr std::size_t device_pitch = 1024;
  constexpr std::size_t rows = 900;
  constexpr std::size_t width = 770;
  CUdeviceptr memory = 0;
  report("alloc", CALL(cuMemAlloc_v2, &memory, device_pitch * rows));
  bytes const source = pattern(host_pitch * rows, 3);
  bytes const zeros(device_pitch * rows);
  CUDA_MEMCPY2D up{};
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.srcHost = source.data();
  up.srcPitch = host_pitch;
  up.srcXInBytes = 3;
  up.srcY = 1;
  up.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  up.dstDevice = memory;
  up.dstPitch = device_pitch;
  up.dstXInBytes = 7;
  up.WidthInBytes = width;
  up.Height = rows - 1;
  CUDA_MEMCPY2D down{};
  bytes gaps(host_pitch * rows, 0x22);
  down.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  down.srcDevice = memory;
  down.srcPitch = device_pitch;
  down.srcXInBytes = 7;
  down.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  down.dstDevice = reinterpret_cast<CUdeviceptr>(gaps.data());
  down.dstPitch = host_pitch;
  down.dstY = 1;
  down.WidthInBytes = width;
  down.Height = rows - 1;
  report("clear", CALL(cuMemcpyHtoD_v2, memory, zeros.data(), zeros.size()));
  report("2D", CALL(cuMemcpy2D_v2, &up));
  report("2D unaligned", CALL(cuMemcpy2DUnaligned_v2, &down));
  report_bytes("rows", gaps);
  bytes all(zeros.size());
  report("DtoH", CALL(cuMemcpyDtoH_v2, all.data(), memory, all.size()));
  report_bytes("device", all);
  report("2D async", CALL(cuMemcpy2DAsync_v2, &up, nullptr));
  report("synchronize", CALL(cuStreamSynchronize, nullptr));

  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = source.data();
  box.srcPitch = host_pitch;
  box.srcHeight = 100;
  box.srcXInBytes = 5;
  box.srcY = 3;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = memory;
  box.dstPitch = device_pitch;
  box.dstHeight = 100;
  box.dstY = 10;
  box.dstZ = 1;
  box.WidthInBytes = width;
  box.Height = 90;
  box.Depth = 8;
  report("3D", CALL(cuMemcpy3D_v2, &box));
  report("DtoH", CALL(cuMemcpyDtoH_v2, all.data(), memory, all.size()));
  report_bytes("device", all);
  box.srcZ = 1;
  box.dstZ = 0;
  report("3D async", CALL(cuMemcpy3DAsync_v2, &box, nullptr));
  report("synchronize", CALL(cuStreamSynchronize, nullptr));
  report("DtoH", CALL(cuMemcpyDtoH_v2, all.data(), memory, all.size()));
  report_bytes("device", all);
  report("null", CALL(cuMemcpy2D_v2, nullptr));
  report("null", CALL(cuMemcpy3D_v2, nullptr));
  report("free", CALL(cuMemFree_v2, memory));
}

bool round_trip(std::size_t count) {
  CUdeviceptr memory = 0;
  bytes const source = pattern(count, 4);
  bytes back(count);
  return CALL(cuMemAlloc_v2, &memory, count) == CUDA_SUCCESS &&
         CALL(cuMemcpyHtoD_v2, memory, source.data(), count) == CUDA_SUCCESS &&
         CALL(cuMemcpyDtoH_v2, back.data(), memory, count) == CUDA_SUCCESS &&
         CALL(cuMemFree_v2, memory) == CUDA_SUCCESS && back == source;
}

// While a stream is being captured, no copy is served on any stream.
void capture() {
  begin();
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  report("stream", CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING));
  report("begin", CALL(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  std::printf("captured: %d\n", round_trip(mebi));
  report("end", CALL(cuStreamEndCapture, stream, &graph));
  report("end", CALL(cuStreamEndCapture, stream, &graph));
  std::printf("after: %d\n", round_trip(mebi));
  report("destroy", CALL(cuStreamDestroy_v2, stream));
}

// Captures end because the stream or the context is destroyed, or because the device is reset. The
// copies after each of them are served. The last capture goes on, because the destruction of its
// stream fails.
void abandoned_captures() {
  auto const begin_capture = [](CUstream captured) {
    report("begin", CALL(cuStreamBeginCapture_v2, captured, CU_STREAM_CAPTURE_MODE_RELAXED));
  };
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  begin();
  report("stream", CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING));
  begin_capture(stream);
  report("reset", CALL(cuDevicePrimaryCtxReset_v2, 0));
  begin();
  std::printf("after the reset: %d\n", round_trip(mebi));

  report("stream", CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING));
  begin_capture(stream);
  report("destroy", CALL(cuStreamDestroy_v2, stream));
  std::printf("after the stream: %d\n", round_trip(mebi));

  using create_context = CUresult(CUcontext*, unsigned, CUdevice);
  auto* const create = reinterpret_cast<create_context*>(driver->find("cuCtxCreate_v2"));
  if (create == nullptr) std::exit(77);
  CUcontext other = nullptr;
  report("create", create(&other, 0, 0));
  report("stream", CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING));
  begin();
  begin_capture(stream);
  report("destroy", CALL(cuCtxDestroy_v2, other));
  std::printf("after the context: %d\n", round_trip(mebi));

  report("stream", CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING));
  begin_capture(stream);
  report("current", CALL(cuCtxSetCurrent, nullptr));
  report("destroy", CALL(cuStreamDestroy_v2, stream));
  begin();
  std::printf("captured: %d\n", round_trip(mebi));
  report("end", CALL(cuStreamEndCapture, stream, &graph));
  std::printf("after the end: %d\n", round_trip(mebi));
}

// The default streams of two threads, which have one handle, are captured at once.
void captures_of_threads() {
  begin();
  auto const begin_capture = [] {
    report("begin",
           CALL(cuStreamBeginCapture_v2, CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
  };
  auto const end_capture = [] {
    CUgraph graph = nullptr;
    report("end", CALL(cuStreamEndCapture, CU_STREAM_PER_THREAD, &graph));
  };
  begin_capture();
  std::thread([&] {
    begin_capture();
    end_capture();
  }).join();
  std::printf("captured: %d\n", round_trip(mebi));
  end_capture();
  std::printf("after: %d\n", round_trip(mebi));
  // By the functions of programs whose default stream is that of the thread.
  void* const begin_function = driver->find("cuStreamBeginCapture_v2", true);
  void* const end_function = driver->find("cuStreamEndCapture", true);
  if (begin_function == nullptr || end_function == nullptr) std::exit(77);
  report("begin", reinterpret_cast<decltype(&cuStreamBeginCapture_v2)>(begin_function)(
                      nullptr, CU_STREAM_CAPTURE_MODE_RELAXED));
  std::printf("captured: %d\n", round_trip(mebi));
  CUgraph graph = nullptr;
  report("end", reinterpret_cast<decltype(&cuStreamEndCapture)>(end_function)(nullptr, &graph));
  std::printf("after: %d\n", round_trip(mebi));
}

// More captures at once than the library keeps handles of.
void many_captures() {
  begin();
  std::vector<CUstream> streams(100);
  CUgraph graph = nullptr;
  for (CUstream& stream : streams) {
    report("stream", CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING));
    report("begin", CALL(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  }
  for (std::size_t i = 0; i != streams.size(); ++i) {
    if (i + 1 == streams.size()) std::printf("captured: %d\n", round_trip(mebi));
    report("end", CALL(cuStreamEndCapture, streams[i], &graph));
  }
  std::printf("after: %d\n", round_trip(mebi));
}

// A thread that is to be cancelled captures, and resets a device that does not exist. It ends at
// its next cancellation point, and not in the driver's functions that only the library calls.
void cancel() {
  begin();
  static bool has_captured = false;
  static bool has_reset = true;
  static CUstream stream = nullptr;
  report("stream", CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING));
  auto const capture = [](void*) -> void* {
    CUgraph graph = nullptr;
    pthread_cancel(pthread_self());
    has_captured =
        CALL(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS &&
        CALL(cuStreamEndCapture, stream, &graph) == CUDA_SUCCESS;
    has_reset = CALL(cuDevicePrimaryCtxReset_v2, 999) == CUDA_SUCCESS;
    pthread_testcancel();
    return nullptr;
  };
  pthread_t thread{};
  void* result = nullptr;
  bool const is_joined =
      pthread_create(&thread, nullptr, capture, nullptr) == 0 && pthread_join(thread, &result) == 0;
  std::printf("captured: %d, reset: %d, cancelled: %d\n", has_captured, has_reset,
              is_joined && result == PTHREAD_CANCELED);
  std::printf("after: %d\n", round_trip(mebi));
}

// Resets that end nothing: before the first copy, and of a device that does not exist.
void reset_of_unused_device() {
  begin();
  report("reset", CALL(cuDevicePrimaryCtxReset_v2, 0));
  begin();
  std::printf("after a reset: %d\n", round_trip(mebi));
  report("reset", CALL(cuDevicePrimaryCtxReset_v2, 999));
  std::printf("after a reset that failed: %d\n", round_trip(mebi));
}

void reset() {
  begin();
  std::printf("before: %d\n", round_trip(mebi));
  report("reset", CALL(cuDevicePrimaryCtxReset_v2, 0));
  begin();
  std::printf("after: %d\n", round_trip(mebi));
}

// The copy without a current context fails.
void without_context() {
  begin();
  report("current", CALL(cuCtxSetCurrent, nullptr));
  bytes const source = pattern(mebi, 6);
  report("HtoD", CALL(cuMemcpyHtoD_v2, 1, source.data(), source.size()));
  begin();
  std::printf("with a context: %d\n", round_trip(mebi));
}

// Prints the file of the driver.
void file() {
  Dl_info info;
  bool const is_found = dladdr(driver->find("cuDeviceGetCount"), &info) != 0;
  std::printf("driver: %s\n", is_found ? info.dli_fname : "not found");
}

// Both processes load the driver; the parent had not called it before.
void fork_before_first_use() {
  std::fflush(stdout);
  pid_t const child = fork();
  begin();
  bool const ok = round_trip(mebi);
  if (child == 0) {
    std::fflush(nullptr);
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::printf("parent %d, child %d\n", ok, status);
}

// For the fake driver: its functions return 0 if they get these arguments. The first one loads it.
CUresult pass_integers() {
  return CALL(cuLaunchKernel, reinterpret_cast<CUfunction>(1), 2, 3, 4, 5, 6, 7, 8,
              reinterpret_cast<CUstream>(9), reinterpret_cast<void**>(10),
              reinterpret_cast<void**>(11));
}
CUresult pass_floats() {
  return CALL(cuTexRefSetMipmapLevelClamp, reinterpret_cast<CUtexref>(1), 0.25f, 1024.5f);
}
void integers() {
  for (int i = 0; i != 2; ++i) report("integers", pass_integers());
}
void floats() {
  for (int i = 0; i != 2; ++i) report("floats", pass_floats());
}
void threads() {
  constexpr int count = 16;
  std::vector<std::thread> running;
  std::vector<int> codes(count, -1);
  for (int i = 0; i != count; ++i) {
    running.emplace_back([i, &code = codes[static_cast<std::size_t>(i)]] {
      code = i % 2 == 0 ? pass_integers() : pass_floats();
      if (!round_trip(mebi)) code = -2;
    });
  }
  for (std::thread& thread : running) thread.join();
  for (int const code : codes) std::printf("%d\n", code);
}

// Small copies from one call site.
void small() {
  begin();
  CUdeviceptr memory = 0;
  bytes const source = pattern(100, 5);
  report("alloc", CALL(cuMemAlloc_v2, &memory, source.size()));
  bool ok = true;
  for (int i = 0; i != 1500; ++i) {
    ok = ok && CALL(cuMemcpyHtoD_v2, memory, source.data(), source.size()) == CUDA_SUCCESS;
  }
  std::printf("%d\n", ok);
  report("free", CALL(cuMemFree_v2, memory));
}

// Many copies of one size to the device, whose bytes are compared now and then.
template <class Copy>
void repeat(Copy const& copy) {
  begin();
  CUdeviceptr memory = 0;
  bytes source = pattern(70'000, 7);
  bytes back(source.size());
  report("alloc", CALL(cuMemAlloc_v2, &memory, source.size()));
  bool ok = true;
  for (unsigned i = 1; i <= 6000; ++i) {
    source[i % source.size()] ^= 1;
    ok = ok && copy(memory, source) == CUDA_SUCCESS;
    if (i % 500 != 0) continue;
    ok = ok && CALL(cuMemcpyDtoH_v2, back.data(), memory, back.size()) == CUDA_SUCCESS;
    ok = ok && back == source;
  }
  std::printf("%d\n", ok);
  report("free", CALL(cuMemFree_v2, memory));
}
void repeated() {
  repeat([](CUdeviceptr memory, bytes const& source) {
    return CALL(cuMemcpyHtoD_v2, memory, source.data(), source.size());
  });
}
// By the function whose name does not tell the direction.
void repeated_async() {
  CUstream const stream = nullptr;
  repeat([&](CUdeviceptr memory, bytes const& source) {
    auto const address = reinterpret_cast<CUdeviceptr>(source.data());
    CUresult const code = CALL(cuMemcpyAsync, memory, address, source.size(), stream);
    return code == CUDA_SUCCESS ? CALL(cuStreamSynchronize, stream) : code;
  });
}

// A variable in device memory, and a kernel that writes to address 0.
CUmodule load_module() {
  constexpr char text[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 16 .b8 symbol[2097152];
.visible .entry fault() {
  .reg .b64 %address;
  .reg .b32 %value;
  mov.u64 %address, 0;
  mov.u32 %value, 1;
  st.global.u32 [%address], %value;
  ret;
}
)";
  auto* const load =
      reinterpret_cast<decltype(&cuModuleLoadData)>(driver->find("cuModuleLoadData"));
  CUmodule module = nullptr;
  if (load == nullptr || load(&module, text) != CUDA_SUCCESS) std::exit(77);
  return module;
}

// Variables of modules are copied by the same functions: all of one, and from its middle on.
void symbols() {
  begin();
  CUmodule const module = load_module();
  CUdeviceptr symbol = 0;
  std::size_t size = 0;
  report("global", CALL(cuModuleGetGlobal_v2, &symbol, &size, module, "symbol"));
  for (std::size_t const offset : {std::size_t{0}, mebi}) {
    bytes const source = pattern(size - offset, 8);
    bytes back(size);
    report("HtoD", CALL(cuMemcpyHtoD_v2, symbol + offset, source.data(), source.size()));
    report("DtoH", CALL(cuMemcpyDtoH_v2, back.data(), symbol, back.size()));
    report_bytes("bytes", back);
  }
  report("unload", CALL(cuModuleUnload, module));
}

// Copies in a context that is not the primary one, of its memory and of the primary one's.
void contexts() {
  begin();
  using create_context = CUresult(CUcontext*, unsigned, CUdevice);
  auto* const create = reinterpret_cast<create_context*>(driver->find("cuCtxCreate_v2"));
  if (create == nullptr) std::exit(77);
  std::printf("primary: %d\n", round_trip(mebi));
  CUdeviceptr of_primary = 0;
  report("alloc", CALL(cuMemAlloc_v2, &of_primary, mebi));
  CUcontext other = nullptr;
  report("create", create(&other, 0, 0));
  std::printf("other: %d\n", round_trip(mebi));
  CUdeviceptr memory = 0;
  report("alloc", CALL(cuMemAlloc_v2, &memory, mebi));
  bytes const source = pattern(mebi, 9);
  report("HtoD", CALL(cuMemcpyHtoD_v2, memory, source.data(), source.size()));
  report("HtoD", CALL(cuMemcpyHtoD_v2, of_primary, source.data(), source.size()));
  bytes back(mebi);
  report("DtoH", CALL(cuMemcpyDtoH_v2, back.data(), memory, back.size()));
  report_bytes("bytes", back);
  report("destroy", CALL(cuCtxDestroy_v2, other));
  begin();
  std::printf("primary: %d\n", round_trip(mebi));
}

// A kernel fails, and with it all later calls.
void sticky_error() {
  begin();
  CUmodule const module = load_module();
  CUdeviceptr memory = 0;
  bytes const source = pattern(mebi, 10);
  report("alloc", CALL(cuMemAlloc_v2, &memory, mebi));
  report("HtoD", CALL(cuMemcpyHtoD_v2, memory, source.data(), source.size()));
  CUfunction kernel = nullptr;
  report("function", CALL(cuModuleGetFunction, &kernel, module, "fault"));
  report("launch", CALL(cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  report("synchronize", CALL(cuCtxSynchronize));
  report("HtoD", CALL(cuMemcpyHtoD_v2, memory, source.data(), source.size()));
  report("HtoDAsync", CALL(cuMemcpyHtoDAsync_v2, memory, source.data(), source.size(), nullptr));
  bytes back(mebi, 3);
  report("DtoH", CALL(cuMemcpyDtoH_v2, back.data(), memory, back.size()));
  report_bytes("bytes", back);
}

// Functions that the toolkit's stub of the driver, or the fake driver, lacks.
void unknown() {
  void* const later = driver->find("cuOfLaterDriver");
  std::printf("later: %s\n", later == nullptr ? "not found" : "found");
  int value = 0;
  if (later != nullptr) {
    std::printf("%d", reinterpret_cast<int (*)(int*)>(later)(&value));
    std::printf(" %d\n", value);
  }
  std::printf("null: %s\n", driver->find("cuNull") == nullptr ? "not found" : "found");
  void* const earlier = driver->find("cuMemGetInfo_v2");
  std::printf("earlier: %s\n", earlier == nullptr ? "not found" : "found");
  std::size_t memory[2] = {};
  if (earlier != nullptr) {
    std::printf("%d\n", reinterpret_cast<decltype(&cuMemGetInfo_v2)>(earlier)(memory, memory + 1));
  }
  // One that the library replaces.
  void* const replaced = driver->find("cuStreamBeginCaptureToGraph");
  if (replaced == nullptr) {
    std::puts("replaced: not found");
  } else {
    using function = int (*)(void*, void*, void const*, void const*, std::size_t, int);
    int const code = reinterpret_cast<function>(replaced)(nullptr, nullptr, nullptr, nullptr, 0, 0);
    std::printf("replaced: %d\n", code);
  }
}

// Runs before main, and before the constructors of the preloaded object.
#if defined(DRIVER_IS_LINKED)
[[gnu::constructor(101)]] void copy_before_main() {
  if (std::getenv("TEST_BEFORE_MAIN") == nullptr) return;
  static driver_library const library("linked");
  driver = &library;
  begin();
  std::printf("before main: %d\n", round_trip(mebi));
}
#endif

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  driver_library const library(arguments[2]);
  driver = &library;
  struct test {
    std::string_view name;
    void (*run)();
  };
  test const tests[] = {{"contiguous", contiguous},
                        {"strided", strided},
                        {"capture", capture},
                        {"abandoned_captures", abandoned_captures},
                        {"captures_of_threads", captures_of_threads},
                        {"many_captures", many_captures},
                        {"cancel", cancel},
                        {"reset", reset},
                        {"reset_of_unused_device", reset_of_unused_device},
                        {"without_context", without_context},
                        {"file", file},
                        {"fork", fork_before_first_use},
                        {"integers", integers},
                        {"floats", floats},
                        {"threads", threads},
                        {"small", small},
                        {"symbols", symbols},
                        {"contexts", contexts},
                        {"sticky_error", sticky_error},
                        {"repeated", repeated},
                        {"repeated_async", repeated_async},
                        {"unknown", unknown}};
  for (test const& entry : tests) {
    if (entry.name != arguments[1]) continue;
    entry.run();
    return 0;
  }
  return 2;
}

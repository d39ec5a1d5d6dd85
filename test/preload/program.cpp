// SPDX-License-Identifier: MIT
// program CASE: a plain HIP or CUDA program that knows nothing of rocarray. Prints every result, so
// that two runs can be compared: with and without the preloaded object. Exits with 77 if there is
// no device, or not enough of them.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu.hpp"

namespace {

using bytes = std::vector<unsigned char>;

constexpr std::size_t kibi = 1024;
constexpr std::size_t mebi = kibi * kibi;
constexpr auto up = GPU(MemcpyHostToDevice);
constexpr auto down = GPU(MemcpyDeviceToHost);

// Prints the code of a call.
template <class Code>
bool report(char const* what, Code code) {
  std::printf("%s: %d\n", what, static_cast<int>(code));
  return static_cast<int>(code) == 0;
}

// Prints the code of a call, and the error that the runtime then holds.
template <class Code>
void report_with_error(char const* what, Code code) {
  std::printf("%s: %d", what, static_cast<int>(code));
  std::printf(", last error %d\n", static_cast<int>(GPU(GetLastError)()));
}

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

class device_memory {
 public:
  explicit device_memory(std::size_t count) {
    if (GPU(Malloc)(&data_, count) != GPU(Success)) std::exit(77);
  }
  ~device_memory() { static_cast<void>(GPU(Free)(data_)); }
  unsigned char* get() const { return static_cast<unsigned char*>(data_); }

 private:
  void* data_ = nullptr;
};

struct stream {
  GPU(Stream_t) handle = nullptr;
  explicit stream(unsigned flags) {
    report("create stream", GPU(StreamCreateWithFlags)(&handle, flags));
  }
  ~stream() { report("destroy stream", GPU(StreamDestroy)(handle)); }
};

// All forms of contiguous copies, of several sizes.
void contiguous() {
  for (std::size_t const count : {std::size_t{1}, 4 * kibi, mebi, 3 * mebi + 5, 9 * mebi + 1}) {
    device_memory const memory(count);
    bytes const source = pattern(count, 1);
    bytes back(count);
    report("to the device", GPU(Memcpy)(memory.get(), source.data(), count, up));
    report("to the host", GPU(Memcpy)(back.data(), memory.get(), count, down));
    report_bytes("bytes", back);
    stream const ordered(GPU(StreamNonBlocking));
    bytes const other = pattern(count, 2);
    report("to the device",
           GPU(MemcpyAsync)(memory.get(), other.data(), count, up, ordered.handle));
    report("to the host", GPU(MemcpyAsync)(back.data(), memory.get(), count, down, ordered.handle));
    report("synchronize", GPU(StreamSynchronize)(ordered.handle));
    report_bytes("bytes", back);
    report("default kind", GPU(Memcpy)(memory.get(), source.data(), count, GPU(MemcpyDefault)));
    report("default kind", GPU(Memcpy)(back.data(), memory.get(), count, GPU(MemcpyDefault)));
    report_bytes("bytes", back);
    report("per thread",
           GPU(MemcpyAsync)(memory.get(), other.data(), count, up, GPU(StreamPerThread)));
    report("per thread",
           GPU(MemcpyAsync)(back.data(), memory.get(), count, down, GPU(StreamPerThread)));
    report("synchronize", GPU(StreamSynchronize)(GPU(StreamPerThread)));
    report_bytes("bytes", back);
#if defined(__HIP_PLATFORM_AMD__)
    void* const from = const_cast<unsigned char*>(source.data());
    report("with stream", hipMemcpyWithStream(memory.get(), from, count, up, ordered.handle));
    report("DtoH", hipMemcpyDtoH(back.data(), memory.get(), count));
    report_bytes("bytes", back);
    report("HtoDAsync", hipMemcpyHtoDAsync(memory.get(), from, count, ordered.handle));
    report("DtoHAsync", hipMemcpyDtoHAsync(back.data(), memory.get(), count, ordered.handle));
    report("synchronize", hipStreamSynchronize(ordered.handle));
    report_bytes("bytes", back);
    report("HtoD", hipMemcpyHtoD(memory.get(), from, count));
    report("spt", hipMemcpy_spt(back.data(), memory.get(), count, down));
    report_bytes("bytes", back);
    report("async spt", hipMemcpyAsync_spt(memory.get(), other.data(), count, up, nullptr));
    report("async spt", hipMemcpyAsync_spt(back.data(), memory.get(), count, down, nullptr));
    report("synchronize", hipStreamSynchronize(hipStreamPerThread));
    report_bytes("bytes", back);
#endif
  }
}

// Returns slices of 100 rows of `pitch` bytes.
GPU(PitchedPtr) pitched(void const* data, std::size_t pitch) {
  GPU(PitchedPtr) result;
  result.ptr = const_cast<void*>(data);
  result.pitch = pitch;
  result.xsize = pitch;
  result.ysize = 100;
  return result;
}

// Rows and slices with gaps on both sides, which keep their bytes.
void strided() {
  constexpr std::size_t host_pitch = 1000;
  constexpr std::size_t device_pitch = 1024;
  constexpr std::size_t rows = 900;
  for (std::size_t const width : {std::size_t{4}, std::size_t{63}, std::size_t{770}}) {
    bytes const source = pattern(host_pitch * rows, 3);
    device_memory const memory(device_pitch * rows);
    report("clear", GPU(Memset)(memory.get(), 0x11, device_pitch * rows));
    report("2D", GPU(Memcpy2D)(memory.get() + 7, device_pitch, source.data() + 3, host_pitch, width,
                               rows - 1, up));
    bytes back(device_pitch * rows);
    report("all", GPU(Memcpy)(back.data(), memory.get(), back.size(), down));
    report_bytes("device", back);
    bytes gaps(host_pitch * rows, 0x22);
    stream const ordered(GPU(StreamDefault));
    report("2D async", GPU(Memcpy2DAsync)(gaps.data() + 1, host_pitch, memory.get() + 7,
                                          device_pitch, width, rows - 1, down, ordered.handle));
    report("synchronize", GPU(StreamSynchronize)(ordered.handle));
    report_bytes("host", gaps);

    // 9 slices of 90 rows; positions in front of both boxes.
    GPU(Memcpy3DParms) box{};
    box.srcPtr = pitched(source.data(), host_pitch);
    box.dstPtr = pitched(memory.get(), device_pitch);
    box.srcPos.x = 5;
    box.srcPos.y = 3;
    box.dstPos.y = 10;
    box.extent.width = width;
    box.extent.height = 90;
    box.extent.depth = 9;
    box.kind = up;
    report("3D", GPU(Memcpy3D)(&box));
    std::swap(box.srcPtr, box.dstPtr);
    std::swap(box.srcPos, box.dstPos);
    box.dstPtr.ptr = gaps.data();
    box.kind = down;
    report("3D async", GPU(Memcpy3DAsync)(&box, ordered.handle));
    report("synchronize", GPU(StreamSynchronize)(ordered.handle));
    report_bytes("host", gaps);
    // Pinned rows that the copy engines copy slowly.
    void* pinned = nullptr;
    report("pinned", hipHostMalloc(&pinned, gaps.size(), hipHostMallocDefault));
    std::memcpy(pinned, source.data(), gaps.size());
    report("2D pinned",
           GPU(Memcpy2D)(memory.get(), device_pitch, pinned, host_pitch, width, rows, up));
    report("all", GPU(Memcpy)(back.data(), memory.get(), back.size(), down));
    report_bytes("device", back);
    report("free", hipHostFree(pinned));
  }
}

// Rows of pinned memory: short ones, which the copy engines copy slowly, and longer ones. All
// strided copies of this case are of pinned memory.
void strided_pinned() {
  constexpr std::size_t host_pitch = 1000;
  constexpr std::size_t device_pitch = 1024;
  constexpr std::size_t rows = 900;
  constexpr std::size_t count = host_pitch * rows;
  device_memory const memory(device_pitch * rows);
  bytes const source = pattern(count, 16);
  bytes const zeros(device_pitch * rows);
  bytes all(device_pitch * rows);
  stream const ordered(GPU(StreamNonBlocking));
  void* pinned = nullptr;
  report("pinned", hipHostMalloc(&pinned, count, hipHostMallocDefault));
  auto const up_2d = [&](std::size_t width) {
    std::memcpy(pinned, source.data(), count);
    report("zeros", GPU(Memcpy)(memory.get(), zeros.data(), zeros.size(), up));
    return GPU(Memcpy2D)(memory.get() + 8, device_pitch, pinned, host_pitch, width, rows - 1, up);
  };
  auto const report_memory = [&] {
    report("all", GPU(Memcpy)(all.data(), memory.get(), all.size(), down));
    report_bytes("device", all);
    auto const* const begin = static_cast<unsigned char const*>(pinned);
    report_bytes("host", bytes(begin, begin + count));
  };
  for (std::size_t const width : {std::size_t{4}, std::size_t{63}, std::size_t{770}}) {
    report("2D", up_2d(width));
    std::memset(pinned, 0x22, count);
    report("2D", GPU(Memcpy2D)(pinned, host_pitch, memory.get() + 8, device_pitch, width, rows - 1,
                               down));
    report_memory();
  }
  report("2D async", GPU(Memcpy2DAsync)(pinned, host_pitch, memory.get() + 8, device_pitch, 4,
                                        rows - 1, down, ordered.handle));
  report("synchronize", GPU(StreamSynchronize)(ordered.handle));
  report_memory();
  report("free", hipHostFree(pinned));
}

// Rows and slices that are copied within the device: short and long rows, at odd addresses, between
// columns of one matrix, in the order of streams, and with arguments that are errors.
void within_device() {
  constexpr auto on_device = GPU(MemcpyDeviceToDevice);
  constexpr std::size_t pitch = 160;
  constexpr std::size_t rows = 100'000;
  constexpr std::size_t count = pitch * rows;
  device_memory const from(count);
  device_memory const to(count);
  bytes const source = pattern(count, 18);
  bytes back(count);
  auto const show = [&](device_memory const& memory) {
    report("all", GPU(Memcpy)(back.data(), memory.get(), count, down));
    report_bytes("device", back);
  };
  stream const ordered(GPU(StreamNonBlocking));
  for (std::size_t const width : {std::size_t{4}, std::size_t{63}}) {
    report("source", GPU(Memcpy)(from.get(), source.data(), count, up));
    report("clear", GPU(Memset)(to.get(), 0x11, count));
    report("2D",
           GPU(Memcpy2D)(to.get() + 7, pitch, from.get() + 3, pitch, width, rows - 1, on_device));
    report("default kind", GPU(Memcpy2D)(to.get() + 80, pitch, from.get() + 64, pitch - 1, width,
                                         rows, GPU(MemcpyDefault)));
    show(to);
    // 999 slices of 90 rows.
    GPU(Memcpy3DParms) box{};
    box.srcPtr = pitched(from.get(), pitch);
    box.dstPtr = pitched(to.get(), pitch);
    box.srcPos.x = 5;
    box.srcPos.y = 3;
    box.dstPos.z = 1;
    box.extent.width = width;
    box.extent.height = 90;
    box.extent.depth = 999;
    box.kind = on_device;
    report("3D", GPU(Memcpy3D)(&box));
    report("synchronize", GPU(DeviceSynchronize)());
    // Between two other uses of the memory on a stream.
    report("memset", GPU(MemsetAsync)(from.get(), 0x22, count / 2, ordered.handle));
    report("2D async", GPU(Memcpy2DAsync)(to.get(), pitch, from.get(), pitch, width, rows,
                                          on_device, ordered.handle));
    report("memset", GPU(MemsetAsync)(from.get(), 0x33, count / 4, ordered.handle));
    box.dstPos.y = 10;
    report("3D async", GPU(Memcpy3DAsync)(&box, ordered.handle));
    report("synchronize", GPU(StreamSynchronize)(ordered.handle));
    show(to);
    report("columns", GPU(Memcpy2DAsync)(to.get() + width, pitch, to.get(), pitch, width, rows,
                                         on_device, GPU(StreamPerThread)));
    report("synchronize", GPU(StreamSynchronize)(GPU(StreamPerThread)));
    show(to);
  }
  report("long rows", GPU(Memcpy2D)(to.get() + 1, 6000, from.get(), 5000, 4000, 2600, on_device));
  show(to);
  report("few rows", GPU(Memcpy2D)(to.get(), pitch, from.get(), pitch, 4, 100, on_device));
  report("contiguous", GPU(Memcpy)(to.get(), from.get(), count, on_device));
  show(to);
  // The vendors do not define the bytes then.
  report("overlap", GPU(Memcpy2D)(to.get() + 32, pitch, to.get(), pitch, 63, rows, on_device));
  report_with_error("pitch", GPU(Memcpy2D)(to.get(), 99, from.get(), 100, 100, rows, on_device));
  report_with_error("kind", GPU(Memcpy2D)(to.get(), pitch, from.get(), pitch, 4, rows, up));
  report_with_error("good", GPU(Memcpy2D)(to.get(), pitch, from.get(), pitch, 4, rows, on_device));
}

// Copies come after the work that the vendor's come after, and before the work that is enqueued
// later.
void order() {
  constexpr std::size_t count = 2 * mebi;
  device_memory const memory(count);
  device_memory const other(count);
  bytes back(count);
  for (unsigned const flags : {unsigned{GPU(StreamDefault)}, unsigned{GPU(StreamNonBlocking)}}) {
    stream const ordered(flags);
    bytes const source = pattern(count, 4);
    report("memset", GPU(MemsetAsync)(memory.get(), 0x33, count, ordered.handle));
    report("async", GPU(MemcpyAsync)(back.data(), memory.get(), count, down, ordered.handle));
    report("synchronize", GPU(StreamSynchronize)(ordered.handle));
    report_bytes("after the memset", back);
    report("memset", GPU(MemsetAsync)(memory.get(), 0x44, count, ordered.handle));
    report("async", GPU(MemcpyAsync)(memory.get(), source.data(), count, up, ordered.handle));
    report("device", GPU(MemcpyAsync)(other.get(), memory.get(), count, GPU(MemcpyDeviceToDevice),
                                      ordered.handle));
    report("memset", GPU(MemsetAsync)(memory.get(), 0x55, count, ordered.handle));
    report("async", GPU(MemcpyAsync)(back.data(), other.get(), count, down, ordered.handle));
    report("synchronize", GPU(StreamSynchronize)(ordered.handle));
    report_bytes("before the memset", back);
  }
  // The legacy default stream comes after the work of blocking streams.
  {
    stream const blocking(GPU(StreamDefault));
    report("memset", GPU(MemsetAsync)(memory.get(), 0x66, count, blocking.handle));
    report("sync", GPU(Memcpy)(back.data(), memory.get(), count, down));
    report_bytes("after a blocking stream", back);
    report("memset", GPU(MemsetAsync)(memory.get(), 0x77, count, blocking.handle));
    report("null", GPU(MemcpyAsync)(back.data(), memory.get(), count, down, nullptr));
    report("synchronize", GPU(StreamSynchronize)(nullptr));
    report_bytes("after a blocking stream", back);
  }
  // The default stream of the thread.
  report("memset", GPU(MemsetAsync)(memory.get(), 0x88, count, GPU(StreamPerThread)));
  report("async", GPU(MemcpyAsync)(back.data(), memory.get(), count, down, GPU(StreamPerThread)));
  report("synchronize", GPU(StreamSynchronize)(GPU(StreamPerThread)));
  report_bytes("after the stream of the thread", back);
#if defined(__HIP_PLATFORM_AMD__)
  // The null handle of a per-thread call means the stream of the thread.
  report("memset", hipMemsetAsync(memory.get(), 0x99, count, hipStreamPerThread));
  report("async spt", hipMemcpyAsync_spt(back.data(), memory.get(), count, down, nullptr));
  report("synchronize", hipStreamSynchronize(hipStreamPerThread));
  report_bytes("after the stream of the thread", back);
#endif
#if !defined(__HIP_PLATFORM_AMD__)
  // CUDA has read a pageable source when the call returns.
  bytes changed = pattern(count, 5);
  {
    stream const ordered(GPU(StreamNonBlocking));
    report("async", GPU(MemcpyAsync)(memory.get(), changed.data(), count, up, ordered.handle));
    std::fill(changed.begin(), changed.end(), 0);
    report("synchronize", GPU(StreamSynchronize)(ordered.handle));
  }
  report("sync", GPU(Memcpy)(back.data(), memory.get(), count, down));
  report_bytes("changed later", back);
#endif
}

// Invalid arguments, and the error that the runtime holds after every call.
void errors() {
  constexpr std::size_t count = mebi;
  device_memory const memory(count);
  bytes const source = pattern(2 * count, 6);
  bytes back(count);
  GPU(MemcpyKind) wrong_kind;
  int const number = 9;
  std::memcpy(&wrong_kind, &number, sizeof number);
  report_with_error("null source", GPU(Memcpy)(memory.get(), nullptr, count, up));
  report_with_error("null destination", GPU(Memcpy)(nullptr, source.data(), count, up));
  report_with_error("kind", GPU(Memcpy)(memory.get(), source.data(), count, wrong_kind));
  report_with_error("beyond", GPU(Memcpy)(memory.get(), source.data(), 2 * count, up));
  report_with_error("pitch",
                    GPU(Memcpy2D)(memory.get(), 100, source.data(), 99, 100, 4 * kibi, up));
  report_with_error("null box", GPU(Memcpy3D)(nullptr));
  report_with_error("nothing", GPU(Memcpy)(memory.get(), source.data(), 0, up));
  report_with_error("good", GPU(Memcpy)(memory.get(), source.data(), count, up));
  // An error that the program has not fetched.
  void* impossible = nullptr;
  report("malloc", GPU(Malloc)(&impossible, SIZE_MAX / 2));
  report_with_error("after an error", GPU(Memcpy)(back.data(), memory.get(), count, down));
  report_bytes("bytes", back);
  report_with_error("good", GPU(Memcpy)(back.data(), memory.get(), count, down));
}

// A copy that begins in one allocation and ends in the next one must not be done in part. Adjacent
// allocations are made of one block that the runtime divides; 77 if there are none.
void beyond() {
  constexpr std::size_t count = mebi / 2;
  constexpr std::size_t blocks = 16;
  std::vector<void*> memory(blocks);
  for (void*& block : memory) {
    if (GPU(Malloc)(&block, count) != GPU(Success)) std::exit(77);
  }
  std::sort(memory.begin(), memory.end());
  auto const first =
      std::adjacent_find(memory.begin(), memory.end(), [](void const* a, void const* b) {
        return static_cast<char const*>(b) - static_cast<char const*>(a) == std::ptrdiff_t{count};
      });
  if (first == memory.end()) std::exit(77);
  for (std::size_t const extra : {count, std::size_t{1}}) {
    bytes const source = pattern(count + extra, 12);
    bytes back(count);
    report("own", GPU(Memset)(first[0], 0x11, count));
    report("neighbour", GPU(Memset)(first[1], 0x22, count));
    report_with_error("to the device", GPU(Memcpy)(first[0], source.data(), source.size(), up));
    report("neighbour", GPU(Memcpy)(back.data(), first[1], count, down));
    report_bytes("neighbour", back);
    report("own", GPU(Memcpy)(back.data(), first[0], count, down));
    report_bytes("own", back);
    bytes both(count + extra);
    report_with_error("to the host", GPU(Memcpy)(both.data(), first[0], both.size(), down));
    report_bytes("both", both);
  }
  for (void* const block : memory) static_cast<void>(GPU(Free)(block));
}

// Memory that is not pageable, and directions that are not served.
void memory_kinds() {
  constexpr std::size_t count = mebi;
  device_memory const memory(count);
  device_memory const other(count);
  bytes const source = pattern(count, 7);
  bytes back(count);
  void* pinned = nullptr;
  report("pinned", hipHostMalloc(&pinned, count, hipHostMallocDefault));
  std::memcpy(pinned, source.data(), count);
  report("pinned to the device", GPU(Memcpy)(memory.get(), pinned, count, up));
  report("on the device", GPU(Memcpy)(other.get(), memory.get(), count, GPU(MemcpyDeviceToDevice)));
  report("on the device", GPU(Memcpy)(memory.get(), other.get(), count, GPU(MemcpyDefault)));
  report("on the host", GPU(Memcpy)(back.data(), source.data(), count, GPU(MemcpyHostToHost)));
  report_bytes("bytes", back);
  void* managed = nullptr;
  if (report("managed", GPU(MallocManaged)(&managed, count, hipMemAttachGlobal))) {
    report("to managed memory", GPU(Memcpy)(managed, source.data(), count, GPU(MemcpyDefault)));
    report("synchronize", GPU(DeviceSynchronize)());
    report("from managed memory", GPU(Memcpy)(back.data(), managed, count, GPU(MemcpyDefault)));
    report_bytes("bytes", back);
    report("free", GPU(Free)(managed));
  }
  // A runtime that has no arrays refuses every handle.
  constexpr std::size_t extent = 100;
  GPU(Array_t) array = nullptr;
  auto const format = GPU(CreateChannelDesc)(8, 0, 0, 0, GPU(ChannelFormatKindUnsigned));
  bool const has_arrays = report("array", GPU(MallocArray)(&array, &format, extent, extent, 0));
  GPU(Memcpy3DParms) box{};
  box.srcPtr.ptr = pinned;
  box.srcPtr.pitch = box.srcPtr.xsize = box.srcPtr.ysize = extent;
  box.dstArray = has_arrays ? array : static_cast<GPU(Array_t)>(pinned);
  box.extent.width = box.extent.height = extent;
  box.extent.depth = 1;
  box.kind = up;
  report_with_error("to an array", GPU(Memcpy3D)(&box));
  if (has_arrays) report("free", GPU(FreeArray)(array));
  report("free", hipHostFree(pinned));
}

// Many threads, with a stream each.
void threads() {
  constexpr int count = 8;
  std::vector<std::string> results(count);
  std::vector<std::thread> running;
  for (int i = 0; i != count; ++i) {
    running.emplace_back([i, &result = results[static_cast<std::size_t>(i)]] {
      std::size_t const size = mebi + static_cast<std::size_t>(i) * 1001;
      device_memory const memory(size);
      bytes const source = pattern(size, static_cast<unsigned>(i));
      GPU(Stream_t) handle = nullptr;
      bool ok = GPU(StreamCreateWithFlags)(&handle, GPU(StreamNonBlocking)) == GPU(Success);
      for (int repetition = 0; repetition != 10; ++repetition) {
        bytes back(size);
        ok = ok && GPU(MemcpyAsync)(memory.get(), source.data(), size, up, handle) == GPU(Success);
        ok = ok && GPU(MemcpyAsync)(back.data(), memory.get(), size, down, handle) == GPU(Success);
        ok = ok && GPU(StreamSynchronize)(handle) == GPU(Success) && back == source;
      }
      ok = ok && GPU(StreamDestroy)(handle) == GPU(Success);
      result = ok ? "good" : "bad";
    });
  }
  for (std::thread& thread : running) thread.join();
  for (std::string const& result : results) std::puts(result.c_str());
}

// Returns the threads of this process that take SIGUSR1.
std::set<std::string> threads_with_signals() {
  std::set<std::string> result;
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("SigBlk:", 0) != 0) continue;
      bool const is_blocked = (std::stoull(line.substr(7), nullptr, 16) >> (SIGUSR1 - 1) & 1) != 0;
      if (!is_blocked) result.insert(task.path().filename());
    }
  }
  return result;
}

bool round_trip(std::size_t count);

// The library's threads take no signal of the program. The runtime may start threads that do:
// before, by a copy that is too small to be served.
void signals() {
  std::printf("small: %d\n", round_trip(1));
  GPU(Stream_t) handle = nullptr;
  report("stream", GPU(StreamCreateWithFlags)(&handle, GPU(StreamNonBlocking)));
  report("synchronize", GPU(StreamSynchronize)(handle));
  std::set<std::string> const before = threads_with_signals();
  std::printf("large: %d\n", round_trip(8 * mebi));
  std::size_t added = 0;
  for (std::string const& thread : threads_with_signals()) added += before.count(thread) == 0;
  std::printf("further threads that take signals: %zu\n", added);
}

bool round_trip(std::size_t count) {
  device_memory const memory(count);
  bytes const source = pattern(count, 8);
  bytes back(count);
  return GPU(Memcpy)(memory.get(), source.data(), count, up) == GPU(Success) &&
         GPU(Memcpy)(back.data(), memory.get(), count, down) == GPU(Success) && back == source;
}

// The first copies of the process, in this thread and in the constructor of a library that another
// thread loads.
void while_loading() {
  std::thread loading([] {
    void* const plugin = dlopen(std::getenv("TEST_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    std::printf("loaded: %d\n", plugin != nullptr);
  });
  std::size_t const count = std::strtoul(std::getenv("TEST_CONSTRUCTOR_BYTES"), nullptr, 10);
  usleep(100'000);
  bool const ok = round_trip(count);
  loading.join();
  std::printf("round trip: %d\n", ok);
}

// Both processes copy; the parent had not copied before.
void fork_before_first_use() {
  std::fflush(stdout);
  pid_t const child = fork();
  bool const ok = round_trip(mebi);
  if (child == 0) {
    std::fflush(stdout);
    std::exit(ok ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::printf("parent %d, child %d\n", ok, status);
}

// The child is not served, since the parent has used the library. Its copies reach the runtime,
// whose errors it sees; a runtime without threads works on.
void fork_after_first_use() {
  std::printf("before: %d\n", round_trip(mebi));
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) {
    static_cast<void>(round_trip(mebi));
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::printf("child %d, after: %d\n", status, round_trip(mebi));
}

struct at_end {
  ~at_end() { std::printf("in a static destructor: %d\n", round_trip(mebi)); }
};

// Copies in exit handlers and in the destructors of static objects.
void at_exit() {
  static at_end const object;
  std::atexit([] { std::printf("in an exit handler: %d\n", round_trip(mebi)); });
  std::printf("in main: %d\n", round_trip(mebi));
}

// While a stream is being captured, no copy is served on any stream.
void capture() {
  constexpr std::size_t count = mebi;
  device_memory const memory(count);
  bytes const source = pattern(count, 9);
  bytes back(count);
  GPU(Graph_t) graph = nullptr;
  stream const captured(GPU(StreamNonBlocking));
  stream const other(GPU(StreamNonBlocking));
  report("begin", GPU(StreamBeginCapture)(captured.handle, GPU(StreamCaptureModeRelaxed)));
  report("copy", GPU(MemcpyAsync)(memory.get(), source.data(), count, up, other.handle));
  report("end", GPU(StreamEndCapture)(captured.handle, &graph));
  report("synchronize", GPU(StreamSynchronize)(other.handle));
  report("copy", GPU(MemcpyAsync)(back.data(), memory.get(), count, down, other.handle));
  report("synchronize", GPU(StreamSynchronize)(other.handle));
  report_bytes("bytes", back);
}

#if defined(__HIP_PLATFORM_AMD__)
// A capture that has begun although the call has failed, and one whose stream is destroyed, by the
// functions of fake_hip_tool.cpp.
void abandoned_captures() {
  constexpr std::size_t count = mebi;
  device_memory const memory(count);
  bytes const source = pattern(count, 13);
  stream const other(hipStreamNonBlocking);
  auto const copy = [&] {
    report("copy", hipMemcpyAsync(memory.get(), source.data(), count, up, other.handle));
    report("synchronize", hipStreamSynchronize(other.handle));
  };
  using function = int(hipStream_t, void*, void const*, void const*, std::size_t, int);
  auto* const begin =
      reinterpret_cast<function*>(dlsym(RTLD_DEFAULT, "hipStreamBeginCaptureToGraph"));
  if (begin == nullptr) std::exit(77);
  hipGraph_t graph = nullptr;
  {
    stream const captured(hipStreamNonBlocking);
    report_with_error(
        "begin", begin(captured.handle, nullptr, nullptr, nullptr, 0, hipStreamCaptureModeRelaxed));
    copy();
    report("end", hipStreamEndCapture(captured.handle, &graph));
    copy();
    report("begin", hipStreamBeginCapture(captured.handle, hipStreamCaptureModeRelaxed));
  }
  copy();
}
#endif

#if defined(__HIP_PLATFORM_AMD__)
// Returns a function that not every version of the runtime has. Exits with 77 if it is missing.
template <class Function>
Function* find_function(char const* name) {
  auto* const function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  if (function == nullptr) std::exit(77);
  return function;
}

// A stream with pending work that ends when the object is destroyed.
class busy_stream {
 public:
  busy_stream() {
    auto const wait = [](hipStream_t, hipError_t, void* ended) {
      while (!static_cast<std::atomic<bool>*>(ended)->load()) usleep(100);
    };
    report("callback", hipStreamAddCallback(stream_.handle, wait, &is_ended_, 0));
  }
  ~busy_stream() {
    is_ended_ = true;
    report("synchronize", hipStreamSynchronize(stream_.handle));
  }
  busy_stream(busy_stream const&) = delete;
  busy_stream& operator=(busy_stream const&) = delete;

 private:
  std::atomic<bool> is_ended_ = false;
  stream stream_{hipStreamDefault};
};

constexpr std::size_t spt_pitch = 1000;
constexpr std::size_t spt_rows = 900;

// Returns a box of 8 slices of 90 rows.
hipMemcpy3DParms spt_box(void* to, void const* from, hipMemcpyKind kind) {
  hipMemcpy3DParms box{};
  box.srcPtr = {const_cast<void*>(from), spt_pitch, spt_pitch, 100};
  box.dstPtr = {to, spt_pitch, spt_pitch, 100};
  box.srcPos = {1, 2, 0};
  box.dstPos = {4, 0, 1};
  box.extent = {770, 90, 8};
  box.kind = kind;
  return box;
}

// Strided copies on the stream of the thread. They come after its work, and do not wait for a
// blocking stream, as copies on the legacy default stream would.
void strided_per_thread() {
  constexpr std::size_t count = spt_pitch * spt_rows;
  device_memory const memory(count);
  bytes const source = pattern(count, 14);
  bytes back(count);
  busy_stream const busy;
  auto const clear = [&](int value) {
    report("memset", hipMemsetAsync(memory.get(), value, count, hipStreamPerThread));
  };
  clear(0x11);
  report("2D spt", hipMemcpy2D_spt(memory.get() + 7, spt_pitch, source.data() + 3, spt_pitch, 770,
                                   spt_rows - 1, up));
  report("2D spt",
         hipMemcpy2D_spt(back.data(), spt_pitch, memory.get(), spt_pitch, 900, spt_rows, down));
  report_bytes("bytes", back);
  clear(0x22);
  hipMemcpy3DParms const to_device = spt_box(memory.get(), source.data(), up);
  hipMemcpy3DParms const to_host = spt_box(back.data(), memory.get(), down);
  report("3D spt", hipMemcpy3D_spt(&to_device));
  report("3D spt", hipMemcpy3D_spt(&to_host));
  report_bytes("bytes", back);
}

// The same with the asynchronous functions.
void strided_per_thread_async() {
  auto* const copy_2d = find_function<decltype(hipMemcpy2DAsync)>("hipMemcpy2DAsync_spt");
  auto* const copy_3d = find_function<decltype(hipMemcpy3DAsync)>("hipMemcpy3DAsync_spt");
  constexpr std::size_t count = spt_pitch * spt_rows;
  device_memory const memory(count);
  bytes const source = pattern(count, 15);
  bytes back(count);
  // To be destroyed after the busy one, for which the destruction would wait.
  stream const other(hipStreamNonBlocking);
  busy_stream const busy;
  for (hipStream_t const handle : {hipStream_t{}, other.handle}) {
    hipStream_t const used = handle == nullptr ? hipStreamPerThread : handle;
    report("memset", hipMemsetAsync(memory.get(), 0x33, count, used));
    report("2D async spt", copy_2d(memory.get() + 7, spt_pitch, source.data() + 3, spt_pitch, 770,
                                   spt_rows - 1, up, handle));
    report("2D async spt",
           copy_2d(back.data(), spt_pitch, memory.get(), spt_pitch, 900, spt_rows, down, handle));
    report("synchronize", hipStreamSynchronize(used));
    report_bytes("bytes", back);
    report("memset", hipMemsetAsync(memory.get(), 0x44, count, used));
    hipMemcpy3DParms const to_device = spt_box(memory.get(), source.data(), up);
    hipMemcpy3DParms const to_host = spt_box(back.data(), memory.get(), down);
    report("3D async spt", copy_3d(&to_device, handle));
    report("3D async spt", copy_3d(&to_host, handle));
    report("synchronize", hipStreamSynchronize(used));
    report_bytes("bytes", back);
  }
}

// A null handle means the stream of the thread also for the capture that a per-thread call begins
// or ends, which the other calls begin and end as hipStreamPerThread.
void capture_per_thread() {
  auto* const begin = find_function<decltype(hipStreamBeginCapture)>("hipStreamBeginCapture_spt");
  auto* const end = find_function<decltype(hipStreamEndCapture)>("hipStreamEndCapture_spt");
  constexpr std::size_t count = mebi;
  device_memory const memory(count);
  bytes const source = pattern(count, 16);
  stream const other(hipStreamNonBlocking);
  auto const copy = [&] {
    report("copy", hipMemcpyAsync(memory.get(), source.data(), count, up, other.handle));
    report("synchronize", hipStreamSynchronize(other.handle));
  };
  hipGraph_t graph = nullptr;
  report("begin", begin(nullptr, hipStreamCaptureModeRelaxed));
  copy();
  report("end", hipStreamEndCapture(hipStreamPerThread, &graph));
  copy();
  report("begin", hipStreamBeginCapture(hipStreamPerThread, hipStreamCaptureModeRelaxed));
  copy();
  report("end", end(nullptr, &graph));
  copy();
}
#endif

// Copies that are passed on: small ones, and those of pinned memory.
void passed_on() {
  constexpr std::size_t count = mebi;
  device_memory const memory(count);
  bytes const source = pattern(count, 17);
  bytes back(count);
  void* pinned = nullptr;
  report("pinned", hipHostMalloc(&pinned, count, hipHostMallocDefault));
  std::memcpy(pinned, source.data(), count);
  stream const ordered(GPU(StreamNonBlocking));
  report("pinned", GPU(Memcpy)(memory.get(), pinned, count, up));
  report("pinned", GPU(MemcpyAsync)(memory.get(), pinned, count, up, ordered.handle));
  for (std::size_t i = 0; i != 100; ++i) {
    report("small", GPU(Memcpy)(back.data() + 100 * i, memory.get() + 100 * i, 100, down));
    report("small", GPU(MemcpyAsync)(memory.get() + 100 * i, source.data() + 50 * i, 100, up,
                                     ordered.handle));
  }
  report("pinned", GPU(MemcpyAsync)(pinned, memory.get(), count, down, ordered.handle));
  report("synchronize", GPU(StreamSynchronize)(ordered.handle));
  std::memcpy(back.data() + count / 2, pinned, count / 2);
  report_bytes("bytes", back);
  report("free", hipHostFree(pinned));
}

// Memory and streams of a device that is not the current one.
void devices() {
  int count = 0;
  if (GPU(GetDeviceCount)(&count) != GPU(Success) || count < 2) std::exit(77);
  report("device 1", GPU(SetDevice)(1));
  device_memory const memory(mebi);
  bytes const source = pattern(mebi, 10);
  bytes back(mebi);
  report("to device 1", GPU(Memcpy)(memory.get(), source.data(), mebi, up));
  report("device 0", GPU(SetDevice)(0));
  report("from device 1", GPU(Memcpy)(back.data(), memory.get(), mebi, down));
  report_bytes("bytes", back);
  int current = -1;
  {
    device_memory const own(mebi);
    report("device 1", GPU(SetDevice)(1));
    stream const other(GPU(StreamNonBlocking));
    report("device 0", GPU(SetDevice)(0));
    report("own", GPU(MemcpyAsync)(own.get(), source.data(), mebi, up, other.handle));
    report("within", GPU(Memcpy2DAsync)(own.get() + 4, 8, own.get(), 8, 4, mebi / 8,
                                        GPU(MemcpyDeviceToDevice), other.handle));
    report("synchronize", GPU(StreamSynchronize)(other.handle));
    std::fill(back.begin(), back.end(), 0);
    report("own", GPU(Memcpy)(back.data(), own.get(), mebi, down));
    report_bytes("bytes", back);
  }
  report("current", GPU(GetDevice)(&current));
  std::printf("%d\n", current);
}

// Copies after the device was reset: allocated before, they are not served.
void reset() {
  std::printf("before: %d\n", round_trip(mebi));
  static_cast<void>(GPU(DeviceReset)());
  std::printf("after: %d\n", round_trip(mebi));
}

// Resets before the first copy, and of a device of which no copy was made, end nothing.
void reset_of_unused_device() {
  int count = 0;
  static_cast<void>(GPU(DeviceReset)());
  std::printf("after a reset: %d\n", round_trip(mebi));
  if (GPU(GetDeviceCount)(&count) == GPU(Success) && count > 1) {
    report("device 1", GPU(SetDevice)(1));
    static_cast<void>(GPU(DeviceReset)());
    report("device 0", GPU(SetDevice)(0));
  }
  std::printf("after a reset of device 1: %d\n", round_trip(mebi));
}

// A thread that is cancelled completes its copies, and ends at the next cancellation point. The
// runtime's own functions must contain none.
void cancel() {
  bool is_good = false;
  pthread_t thread;
  auto const copy = [](void* result) -> void* {
    pthread_cancel(pthread_self());
    *static_cast<bool*>(result) = round_trip(mebi);
    pthread_testcancel();
    return nullptr;
  };
  report("create thread", pthread_create(&thread, nullptr, copy, &is_good));
  void* ended = nullptr;
  report("join", pthread_join(thread, &ended));
  std::printf("round trip: %d, cancelled: %d\n", is_good, ended == PTHREAD_CANCELED);
  std::printf("round trip: %d\n", round_trip(mebi));
}

#if !defined(__HIP_PLATFORM_AMD__)
// A reset by the driver's own function, which is not replaced: by its name, libcuda.so.1, the
// loader finds the preloaded object.
void reset_by_driver() {
  std::printf("before: %d\n", round_trip(mebi));
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        if (std::strstr(info->dlpi_name, "/libcuda.so") != nullptr) {
          *static_cast<std::string*>(found) = info->dlpi_name;
        }
        return 0;
      },
      &path);
  void* const driver = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (path.empty() || driver == nullptr) std::exit(77);
  auto* const reset_context =
      reinterpret_cast<int (*)(int)>(dlsym(driver, "cuDevicePrimaryCtxReset_v2"));
  if (reset_context == nullptr) std::exit(77);
  report("reset", reset_context(0));
  std::printf("after: %d\n", round_trip(mebi));
}
#endif

// Few large copies and many small ones from the same call sites.
void repeated() {
  constexpr std::size_t count = 4 * mebi;
  device_memory const memory(count);
  bytes source = pattern(count, 11);
  bool ok = true;
  for (int i = 0; i != 8; ++i) {
    ok = ok && GPU(Memcpy)(memory.get(), source.data(), count, up) == GPU(Success);
    ok = ok && GPU(Memcpy)(source.data(), memory.get(), count, down) == GPU(Success);
  }
  for (int i = 0; i != 1500; ++i) {
    ok = ok && GPU(Memcpy)(memory.get(), source.data(), 100, up) == GPU(Success);
  }
  std::printf("%d\n", ok && source == pattern(count, 11));
}

}  // namespace

int main(int, char** arguments) {
  std::map<std::string, void (*)()> const cases = {
      {"contiguous", contiguous},
      {"signals", signals},
      {"strided", strided},
      {"within_device", within_device},
      {"strided_pinned", strided_pinned},
      {"order", order},
      {"errors", errors},
      {"beyond", beyond},
      {"memory", memory_kinds},
      {"threads", threads},
      {"while_loading", while_loading},
      {"fork", fork_before_first_use},
      {"fork_after", fork_after_first_use},
      {"exit", at_exit},
      {"capture", capture},
#if defined(__HIP_PLATFORM_AMD__)
      {"abandoned_captures", abandoned_captures},
      {"strided_per_thread", strided_per_thread},
      {"strided_per_thread_async", strided_per_thread_async},
      {"capture_per_thread", capture_per_thread},
#endif
      {"passed_on", passed_on},
      {"devices", devices},
      {"reset", reset},
      {"reset_of_unused_device", reset_of_unused_device},
      {"cancel", cancel},
#if !defined(__HIP_PLATFORM_AMD__)
      {"reset_by_driver", reset_by_driver},
#endif
      {"repeated", repeated}};
  auto const found = cases.find(arguments[1] == nullptr ? "" : arguments[1]);
  if (found == cases.end()) return 2;
  // Not before the fork: a child must not use a runtime that its parent has initialized.
  int count = 0;
  if (found->first != "fork" && (GPU(GetDeviceCount)(&count) != GPU(Success) || count == 0)) {
    return 77;
  }
  found->second();
}

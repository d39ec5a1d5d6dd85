// SPDX-License-Identifier: MIT
// A preloaded tool that traces calls of hipMemcpy and hipHostMalloc: it exports the functions, and
// calls the next ones in the search order. Prints the number of calls when the process ends. It
// also adds behavior of AMD's runtime that the fake HIP runtime lacks: its functions begin and end
// captures as AMD's do, and it exports functions that only later versions of the runtime have.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdio>

namespace {

std::atomic<int> calls = 0;
std::atomic<int> allocations = 0;
std::atomic<std::size_t> allocated_bytes = 0;

[[gnu::destructor]] void print_calls() {
  if (calls != 0) std::fprintf(stderr, "tool: %d calls of hipMemcpy\n", calls.load());
  if (calls != 0 || allocations != 0) {
    std::fprintf(stderr, "tool: %zu bytes of pinned memory in %d allocations\n",
                 allocated_bytes.load(), allocations.load());
  }
}

template <class... Arguments>
int call_next(char const* name, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(dlsym(RTLD_NEXT, name))(arguments...);
}

// Returns the stream that a null handle means for a call of the per-thread default stream.
void* per_thread(void* stream) {
  return stream == nullptr ? reinterpret_cast<void*>(2) : stream;  // hipStreamPerThread
}

}  // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT int hipMemcpy(void* to, void const* from, std::size_t bytes, int kind) {
  ++calls;
  return call_next("hipMemcpy", to, from, bytes, kind);
}

// By the program and by the library.
EXPORT int hipHostMalloc(void** data, std::size_t bytes, unsigned flags) {
  ++allocations;
  allocated_bytes += bytes;
  return call_next("hipHostMalloc", data, bytes, flags);
}

EXPORT int hipMemcpy2DAsync_spt(void* to, std::size_t to_pitch, void const* from,
                                std::size_t from_pitch, std::size_t width, std::size_t height,
                                int kind, void* stream) {
  return call_next("hipMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind,
                   per_thread(stream));
}

EXPORT int hipMemcpy3DAsync_spt(void const* parameters, void* stream) {
  return call_next("hipMemcpy3DAsync", parameters, per_thread(stream));
}

EXPORT int hipStreamBeginCapture_spt(void* stream, int mode) {
  return call_next("hipStreamBeginCapture", per_thread(stream), mode);
}

EXPORT int hipStreamEndCapture_spt(void* stream, void** graph) {
  return call_next("hipStreamEndCapture", per_thread(stream), graph);
}

// Begins the capture, and then fails because of the dependencies.
EXPORT int hipStreamBeginCaptureToGraph(void* stream, void*, void const*, void const*, std::size_t,
                                        int mode) {
  int const code = call_next("hipStreamBeginCapture", stream, mode);
  return code != 0 ? code : call_next("hipGetDevice", static_cast<int*>(nullptr));
}

// Ends a capture of the stream.
EXPORT int hipStreamDestroy(void* stream) {
  int status = 0;
  void* graph = nullptr;
  if (call_next("hipStreamIsCapturing", stream, &status) == 0 && status != 0) {
    static_cast<void>(call_next("hipStreamEndCapture", stream, &graph));
  }
  return call_next("hipStreamDestroy", stream);
}

// SPDX-License-Identifier: MIT
// A preloaded tool that traces calls of hipMemcpy: it exports the function, and calls the next one
// in the search order. Prints the number of calls when the process ends. It also adds behavior of
// AMD's runtime that the fake HIP runtime lacks: its functions begin and end captures as AMD's do.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdio>

namespace {

std::atomic<int> calls = 0;

[[gnu::destructor]] void print_calls() {
  if (calls != 0) std::fprintf(stderr, "tool: %d calls of hipMemcpy\n", calls.load());
}

template <class... Arguments>
int call_next(char const* name, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(dlsym(RTLD_NEXT, name))(arguments...);
}

}  // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT int hipMemcpy(void* to, void const* from, std::size_t bytes, int kind) {
  ++calls;
  return call_next("hipMemcpy", to, from, bytes, kind);
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

// SPDX-License-Identifier: MIT
// A profiler library with the two functions of roctx, which records their calls.
#include <string>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

thread_local std::string record;

}  // namespace

EXPORTED int roctxRangePushA(char const* name) {
  record += std::string("[") + name;
  return 0;
}

EXPORTED int roctxRangePop() {
  record += "]";
  return 0;
}

/// Returns the ranges of the calling thread since the last call, in the form "[outer[inner]]". The
/// text is valid until the thread's next call.
EXPORTED char const* fake_profiler_record() {
  thread_local std::string last;
  last = record;
  record.clear();
  return last.c_str();
}

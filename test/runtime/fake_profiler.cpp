// SPDX-License-Identifier: MIT
// The two functions of roctx, and what they were called with.
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

/// "[outer[inner]]" of the calling thread; forgets it.
EXPORTED char const* fake_profiler_record() {
  thread_local std::string last;
  last = record;
  record.clear();
  return last.c_str();
}

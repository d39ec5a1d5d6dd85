// SPDX-License-Identifier: MIT
#include "base/call_site.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define ROCARRAY_HAS_BACKTRACE 1
#endif

namespace roc::base {
namespace {

std::string demangle(char const* name) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

std::string describe_call(void* return_address) {
  // A return address follows the call and may belong to another line or function: step back into
  // the call instruction.
  auto const address = reinterpret_cast<std::uintptr_t>(return_address) - 1;
  Dl_info info{};
  char text[32];
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0) {
    std::snprintf(text, sizeof text, "%p", return_address);
    return text;
  }
  std::snprintf(
      text, sizeof text, " 0x%zx",
      static_cast<std::size_t>(address - reinterpret_cast<std::uintptr_t>(info.dli_fbase)));
  std::string const function =
      info.dli_sname != nullptr ? demangle(info.dli_sname) + " in " : std::string();
  return function + info.dli_fname + text;
}

}  // namespace

[[gnu::noinline]] call_site call_site::here() noexcept {
  call_site result;
#if ROCARRAY_HAS_BACKTRACE
  constexpr int skipped = 2;  // the frames of this function and of its caller
  std::array<void*, std::tuple_size_v<decltype(result.calls_)> + skipped> stack;
  int const frames = backtrace(stack.data(), static_cast<int>(stack.size()));
  result.count_ = std::max(frames - skipped, 0);
  std::copy_n(std::next(stack.begin(), skipped), result.count_, result.calls_.begin());
#endif
  return result;
}

std::string call_site::describe() const {
  std::string lines;
  for (int i = 0; i < count_; ++i) {
    lines += "    " + describe_call(calls_[static_cast<std::size_t>(i)]) + '\n';
  }
  return lines;
}

}  // namespace roc::base

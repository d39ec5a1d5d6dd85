// SPDX-License-Identifier: MIT
// Counts and lists calls of HIP by the library.
#pragma once

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "platform/call.hpp"

namespace roc::test {

/// Counts the library's calls of one function of HIP, while the object exists. One at a time.
class call_counter {
 public:
  explicit call_counter(char const* function) {
    function_ = function;
    count_ = 0;
    previous_ = platform::set_call_hook([](platform::call_record const& record) {
      if (std::strcmp(record.name, function_) == 0) ++count_;
    });
  }
  ~call_counter() { platform::set_call_hook(previous_); }
  call_counter(call_counter const&) = delete;
  call_counter& operator=(call_counter const&) = delete;

  int count() const { return count_; }

 private:
  static inline char const* function_ = nullptr;
  static inline std::atomic<int> count_ = 0;
  platform::call_hook previous_;
};

/// Returns the names of the functions of HIP that the calling thread calls in f(), in their order,
/// after two calls of f() whose first uses are not counted. One at a time.
template <class F>
std::vector<std::string> calls_of(F f) {
  static std::vector<std::string> recorded;
  static std::atomic<std::thread::id> caller;
  for (int i = 0; i < 2; ++i) f();
  recorded.clear();
  caller = std::this_thread::get_id();
  auto const previous_hook = platform::set_call_hook([](platform::call_record const& record) {
    if (std::this_thread::get_id() == caller.load()) recorded.emplace_back(record.name);
  });
  f();
  platform::set_call_hook(previous_hook);
  return recorded;
}

}  // namespace roc::test

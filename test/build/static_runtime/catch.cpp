// SPDX-License-Identifier: MIT
// Catches the shared library's exceptions by each of their base classes. The program and the
// library may each have a copy of the C++ runtime.
#include <roc/roc.hpp>

#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace {

int failures = 0;

void expect(bool condition, char const* description) {
  if (condition) return;
  std::printf("check failed: %s\n", description);
  ++failures;
}

template <class Error, class F>
bool is_caught_as(F const& f) {
  try {
    f();
  } catch (Error const&) {
    return true;
  } catch (...) {
  }
  return false;
}

// Throws within the library, not within a template that the program instantiates.
void allocate_too_much() { roc::device_array<char, 1> const array({std::size_t{1} << 40}); }

void copy_into_another_shape() {
  std::vector<int> const two(2);
  std::vector<int> const three(3);
  auto const array = roc::to_device(two);
  roc::copy(roc::host_view<int const>(three.data(), {3}), array.view());
}

}  // namespace

int main() {
  expect(is_caught_as<roc::out_of_memory>(allocate_too_much), "roc::out_of_memory is caught");
  expect(is_caught_as<roc::error>(allocate_too_much), "it is caught as roc::error");
  expect(is_caught_as<std::system_error>(allocate_too_much), "it is caught as std::system_error");
  expect(!is_caught_as<roc::shape_error>(allocate_too_much),
         "it is not caught as roc::shape_error");
  expect(is_caught_as<roc::shape_error>(copy_into_another_shape), "roc::shape_error is caught");
  expect(is_caught_as<std::exception>(copy_into_another_shape), "it is caught as std::exception");

  // The contents of an error that is rethrown, and passed to another thread.
  std::exception_ptr stored;
  try {
    try {
      allocate_too_much();
    } catch (roc::error const& error) {
      expect(std::strcmp(error.code().category().name(), "hip") == 0, "its category is HIP's");
      expect(std::strstr(error.what(), "memory") != nullptr, "its message names the memory");
      throw;
    }
  } catch (...) {
    stored = std::current_exception();
  }
  bool caught = false;
  std::thread([&] {
    try {
      std::rethrow_exception(stored);
    } catch (roc::out_of_memory const&) {
      caught = true;
    }
  }).join();
  expect(caught, "another thread catches it");
  return failures == 0 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// Catches what the shared library throws, by every type that a program may name: the two may have a
// copy of the C++ runtime each.
#include <roc/roc.hpp>

#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace {

int failures = 0;

void expect(bool holds, char const* what) {
  if (holds) return;
  std::printf("not so: %s\n", what);
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

// The library's own, thrown in it and not in a template of the program.
void ask_for_too_much() { roc::device_array<char, 1> const array({std::size_t{1} << 40}); }

void copy_into_another_shape() {
  std::vector<int> const two(2);
  std::vector<int> const three(3);
  auto const array = roc::to_device(two);
  roc::copy(roc::host_view<int const>(three.data(), {3}), array.view());
}

}  // namespace

int main() {
  expect(is_caught_as<roc::out_of_memory>(ask_for_too_much), "roc::out_of_memory is caught");
  expect(is_caught_as<roc::error>(ask_for_too_much), "it is caught as roc::error");
  expect(is_caught_as<std::system_error>(ask_for_too_much), "it is caught as std::system_error");
  expect(!is_caught_as<roc::shape_error>(ask_for_too_much), "it is no roc::shape_error");
  expect(is_caught_as<roc::shape_error>(copy_into_another_shape), "roc::shape_error is caught");
  expect(is_caught_as<std::exception>(copy_into_another_shape), "it is caught as std::exception");

  // What an error holds, thrown on, and given to another thread.
  std::exception_ptr held;
  try {
    try {
      ask_for_too_much();
    } catch (roc::error const& error) {
      expect(std::strcmp(error.code().category().name(), "hip") == 0, "its category is HIP's");
      expect(std::strstr(error.what(), "memory") != nullptr, "its message says what is short");
      throw;
    }
  } catch (...) {
    held = std::current_exception();
  }
  bool caught = false;
  std::thread([&] {
    try {
      std::rethrow_exception(held);
    } catch (roc::out_of_memory const&) {
      caught = true;
    }
  }).join();
  expect(caught, "another thread catches it");
  return failures == 0 ? 0 : 1;
}

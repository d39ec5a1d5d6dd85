// SPDX-License-Identifier: MIT
#include "support/environment.hpp"

#include <roc/device.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace roc::test {
namespace {

// Returns an environment variable, or an empty string if it is not set.
std::string_view setting(char const* name) {
  char const* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace

bool needs_device() { return setting("ROCARRAY_TEST_NO_DEVICE").empty(); }

bool on_fake_runtime() { return device().name() == "rocarray fake HIP runtime (no GPU)"; }

bool on_cpu() { return device().name().starts_with("rocarray"); }

mode run_mode() {
  if (!on_cpu()) return mode::threaded;
  auto const text = setting("ROCARRAY_HOST_MODE");
  if (text == "inline") return mode::inline_;
  return text == "deferred" ? mode::deferred : mode::threaded;
}

std::size_t scaled(std::size_t n) {
  static std::size_t const scale = std::max(
      1ul,
      std::strtoul(std::getenv("ROCARRAY_TEST_SCALE") ? std::getenv("ROCARRAY_TEST_SCALE") : "1",
                   nullptr, 10));
  return std::min(n, std::max<std::size_t>(n / scale, 1000));
}

std::mt19937_64 random_generator(char const* test) {
  auto const text = setting("ROCARRAY_TEST_SEED");
  std::uint64_t const seed =
      text.empty() ? std::random_device{}() : std::strtoull(text.data(), nullptr, 10);
  std::printf("%s: ROCARRAY_TEST_SEED=%llu\n", test, static_cast<unsigned long long>(seed));
  return std::mt19937_64(seed);
}

}  // namespace roc::test

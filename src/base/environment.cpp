// SPDX-License-Identifier: MIT
#include "base/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace roc::base {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view prefix = "ROCARRAY_";

constexpr std::array variable_names = {
    // copies and memory
    "ROCARRAY_COPY_PATH"sv,
    "ROCARRAY_COPY_THREADS"sv,
    "ROCARRAY_MEMCPY2D_MIN_ROW"sv,
    "ROCARRAY_MEMORY_RESOURCE"sv,
    "ROCARRAY_PAGEABLE_CACHE"sv,
    "ROCARRAY_PEER_ACCESS"sv,
    "ROCARRAY_PINNED_CACHE"sv,
    "ROCARRAY_REGISTER_CHUNK"sv,
    "ROCARRAY_STAGING_BLOCK"sv,
    "ROCARRAY_STAGING_CHUNK"sv,
    "ROCARRAY_STAGING_LIMIT"sv,
    "ROCARRAY_STAGING_THRESHOLD"sv,
    "ROCARRAY_STREAM_STAGING"sv,
    // diagnostics
    "ROCARRAY_INJECT_FAILURE"sv,
    "ROCARRAY_LEAK_CHECK"sv,
    "ROCARRAY_LOG"sv,
    "ROCARRAY_PRELOAD"sv,
    "ROCARRAY_PRELOAD_CACHED_DRIVER"sv,
    "ROCARRAY_PRELOAD_DRIVER"sv,
    "ROCARRAY_PRELOAD_MEASURE"sv,
    "ROCARRAY_PRELOAD_SUMMARY"sv,
    "ROCARRAY_PROFILER"sv,
    "ROCARRAY_TRACE"sv,
    // HIP on the CPU: the host platform and the fake HIP runtime
    "ROCARRAY_HOST_CHECK"sv,
    "ROCARRAY_HOST_DEVICES"sv,
    "ROCARRAY_HOST_EMULATE"sv,
    "ROCARRAY_HOST_INJECT_FAILURE"sv,
    "ROCARRAY_HOST_MANAGED"sv,
    "ROCARRAY_HOST_MEMORY"sv,
    "ROCARRAY_HOST_MODE"sv,
    "ROCARRAY_HOST_PEERS"sv,
    "ROCARRAY_HOST_POISON"sv,
    "ROCARRAY_HOST_PROTECT"sv,
    "ROCARRAY_HOST_STACK"sv,
    "ROCARRAY_HOST_STRICT"sv,
    "ROCARRAY_HOST_STUBS"sv,
    "ROCARRAY_HOST_TEXTURES"sv,
    "ROCARRAY_HOST_THREADS"sv,
    "ROCARRAY_HOST_WARP"sv,
    // tests and scripts
    "ROCARRAY_BENCH_BUILD_DIR"sv,
    "ROCARRAY_HIP_INCLUDE_DIR"sv,
    "ROCARRAY_TEST_COMPILE_PERCENT"sv,
    "ROCARRAY_TEST_GATES"sv,
    "ROCARRAY_TEST_NO_DEVICE"sv,
    "ROCARRAY_TEST_SCALE"sv,
    "ROCARRAY_TEST_SEED"sv,
};

constexpr std::size_t longest_name =
    std::max_element(variable_names.begin(), variable_names.end(),
                     [](auto a, auto b) { return a.size() < b.size(); }) -> size();

// Returns the Levenshtein distance between `name` and a known name. O(product of the sizes).
std::size_t edit_distance(std::string_view name, std::string_view known_name) noexcept {
  // row[j]: the distance between the part of `name` read so far and the first j characters of
  // `known_name`.
  std::array<std::size_t, longest_name + 1> row{};
  for (std::size_t j = 0; j <= known_name.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < name.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < known_name.size(); ++j) {
      std::size_t const substituted = diagonal + (name[i] == known_name[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[known_name.size()];
}

}  // namespace

std::span<std::string_view const> known_variables() noexcept { return variable_names; }

std::string_view nearest_known_variable(std::string_view name) noexcept {
  return *std::min_element(variable_names.begin(), variable_names.end(),
                           [&](std::string_view a, std::string_view b) {
                             return edit_distance(name, a) < edit_distance(name, b);
                           });
}

void for_each_unknown_variable(void (*report)(void const* context, std::string_view name) noexcept,
                               void const* context) noexcept {
  for (char const* const* variable = environ; variable != nullptr && *variable != nullptr;
       ++variable) {
    std::string_view const text = *variable;
    if (!text.starts_with(prefix)) continue;
    std::string_view const name = text.substr(0, text.find('='));
    if (std::find(variable_names.begin(), variable_names.end(), name) == variable_names.end()) {
      report(context, name);
    }
  }
}

}  // namespace roc::base

// SPDX-License-Identifier: MIT
#include "base/options.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "base/environment.hpp"
#include "base/log.hpp"

namespace roc::base {
namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

enum class suffix { not_allowed, allowed };

// Parses a decimal number, with a suffix K, M or G (powers of 1024) if that is allowed: "65536",
// "64K". Returns nullopt for other text and for numbers over 2^40.
std::optional<std::size_t> parse(char const* text, suffix unit_suffix) {
  if (text[0] < '0' || text[0] > '9') return std::nullopt;  // strtoull accepts signs too
  char* end = nullptr;
  unsigned long long value = std::strtoull(text, &end, 10);
  constexpr unsigned long long limit = 1ull << 40;
  if (value > limit) return std::nullopt;
  if (unit_suffix == suffix::allowed && *end != '\0') {
    char const* const letters = "KMG";
    char const* const letter = std::strchr(letters, *end);
    if (letter == nullptr) return std::nullopt;
    value <<= 10 * (letter - letters + 1);
    ++end;
  }
  if (*end != '\0' || value > limit) return std::nullopt;
  return value;
}

// Returns the number in the environment variable `name`, or `fallback` if it is not set. If it is
// not a number from `minimum` to `maximum`, logs a warning and returns `fallback`.
std::size_t number_from(char const* name, std::size_t minimum, std::size_t maximum,
                        std::size_t fallback, suffix unit_suffix) {
  char const* const text = std::getenv(name);
  if (text == nullptr) return fallback;
  auto const value = parse(text, unit_suffix);
  if (value && *value >= minimum && *value <= maximum) return *value;
  log_line(log_level::warning, "%s is not a usable number: %s; use a number from %zu to %zu%s",
           name, text, minimum, maximum,
           unit_suffix == suffix::allowed ? ", in bytes or with K, M or G" : "");
  return fallback;
}

std::size_t bytes_from(char const* name, std::size_t minimum, std::size_t fallback) {
  return number_from(name, minimum, std::size_t{1} << 40, fallback, suffix::allowed);
}

default_resource resource_from(char const* name) {
  char const* const text = std::getenv(name);
  if (text == nullptr || std::strcmp(text, "pool") == 0) return default_resource::pool;
  if (std::strcmp(text, "hip") == 0) return default_resource::hip;
  if (std::strcmp(text, "hip_async") == 0) return default_resource::hip_async;
  log_line(log_level::warning, "%s is not a memory resource: %s; use pool, hip or hip_async", name,
           text);
  return default_resource::pool;
}

copy_path path_from(char const* name) {
  char const* const text = std::getenv(name);
  if (text == nullptr) return copy_path::none;
  for (copy_path const path : {copy_path::dma, copy_path::dma_2d, copy_path::dma_3d,
                               copy_path::staged, copy_path::packed, copy_path::kernel}) {
    if (std::strcmp(text, to_string(path)) == 0) return path;
  }
  log_line(log_level::warning,
           "%s is not a copy path: %s; use dma, dma_2d, dma_3d, staged, packed or kernel", name,
           text);
  return copy_path::none;
}

std::size_t processor_count() { return std::max(1u, std::thread::hardware_concurrency()); }

// Above these sizes the library's copy threads are faster than the driver's own staging: measured
// on one H100, not on AMD. On the host platform the runtime's copy already uses all processors.
//
// The limit for enqueued copies is lower, because the HIP runtime must have read a pageable source
// when the call returns. Only CUDA promises that, and only up to 64 KiB without waiting for the
// stream.
#if ROCARRAY_PLATFORM_HOST
constexpr std::size_t default_threshold = std::size_t{1} << 40;
constexpr std::size_t enqueued_threshold = 0;
#elif ROCARRAY_PLATFORM_NVIDIA
constexpr std::size_t default_threshold = mebi / 2;
constexpr std::size_t enqueued_threshold = mebi / 16;
#else
constexpr std::size_t default_threshold = 2 * mebi;
constexpr std::size_t enqueued_threshold = 0;
#endif

library_options options_from_environment() {
  report_unknown_variables();
  library_options result{};
  result.staging_limit = bytes_from("ROCARRAY_STAGING_LIMIT", 4096, 64 * mebi);
  result.staging_block = bytes_from("ROCARRAY_STAGING_BLOCK", 4096, 4 * mebi);
  // A multiple of the widest access on the device, so that every chunk begins at one.
  constexpr std::size_t widest_access = 256;
  result.staging_chunk =
      std::min(bytes_from("ROCARRAY_STAGING_CHUNK", 4096, 4 * mebi), result.staging_block) /
      widest_access * widest_access;
  result.copy_threads =
      number_from("ROCARRAY_COPY_THREADS", 1, 256, std::min<std::size_t>(processor_count(), 12),
                  suffix::not_allowed);
  result.staging_threshold = bytes_from("ROCARRAY_STAGING_THRESHOLD", 0, default_threshold);
  result.staging_threshold_on_stream = std::min(result.staging_threshold, enqueued_threshold);
  result.pinned_cache = bytes_from("ROCARRAY_PINNED_CACHE", 0, 256 * mebi);
  result.memcpy2d_min_row = bytes_from("ROCARRAY_MEMCPY2D_MIN_ROW", 1, 64);
  result.forced_path = path_from("ROCARRAY_COPY_PATH");
  result.memory_resource = resource_from("ROCARRAY_MEMORY_RESOURCE");
  // A multiple of the largest page size in use, 64 KiB.
  constexpr std::size_t page = 64 * 1024;
  result.register_chunk =
      std::max(bytes_from("ROCARRAY_REGISTER_CHUNK", 4096, 1024 * mebi) / page, std::size_t{1}) *
      page;
  return result;
}

}  // namespace

library_options const& options() {
  static library_options const instance = options_from_environment();
  return instance;
}

}  // namespace roc::base

// SPDX-License-Identifier: MIT
#include "base/options.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "base/log.hpp"

namespace roc::base {
namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

// A number with, where `units`, K, M or G behind it: "65536", "64K". Not a number: nothing.
std::optional<std::size_t> parse(char const* text, bool units) {
  if (text[0] < '0' || text[0] > '9') return std::nullopt;  // strtoull takes signs too
  char* end = nullptr;
  unsigned long long value = std::strtoull(text, &end, 10);
  constexpr unsigned long long most = 1ull << 40;
  if (value > most) return std::nullopt;
  if (units && *end != '\0') {
    char const* const letters = "KMG";
    char const* const unit = std::strchr(letters, *end);
    if (unit == nullptr) return std::nullopt;
    value <<= 10 * (unit - letters + 1);
    ++end;
  }
  if (*end != '\0' || value > most) return std::nullopt;
  return value;
}

std::size_t number_from(char const* name, std::size_t least, std::size_t most,
                        std::size_t otherwise, bool units) {
  char const* const text = std::getenv(name);
  if (text == nullptr) return otherwise;
  auto const value = parse(text, units);
  if (value && *value >= least && *value <= most) return *value;
  log_line(log_level::warning, "%s=%s: give a number from %zu to %zu%s", name, text, least, most,
           units ? ", in bytes or with K, M or G" : "");
  return otherwise;
}

std::size_t bytes_from(char const* name, std::size_t least, std::size_t otherwise) {
  return number_from(name, least, std::size_t{1} << 40, otherwise, true);
}

default_resource resource_from(char const* name) {
  char const* const text = std::getenv(name);
  if (text == nullptr || std::strcmp(text, "pool") == 0) return default_resource::pool;
  if (std::strcmp(text, "direct") == 0) return default_resource::direct;
  if (std::strcmp(text, "driver_pool") == 0) return default_resource::driver_pool;
  log_line(log_level::warning, "%s=%s: give pool, direct or driver_pool", name, text);
  return default_resource::pool;
}

copy_path path_from(char const* name) {
  char const* const text = std::getenv(name);
  if (text == nullptr) return copy_path::none;
  for (copy_path const path : {copy_path::dma, copy_path::dma_2d, copy_path::dma_3d,
                               copy_path::staged, copy_path::packed, copy_path::kernel}) {
    if (std::strcmp(text, to_string(path)) == 0) return path;
  }
  log_line(log_level::warning, "%s=%s: give dma, dma_2d, dma_3d, staged, packed or kernel", name,
           text);
  return copy_path::none;
}

std::size_t processors() { return std::max(1u, std::thread::hardware_concurrency()); }

// From there on the workers are faster than the driver's own staging: measured on one H100, not on
// AMD. On the host platform the runtime's copy is a copy by all processors. CUDA has read an
// enqueued pageable source on return, one of 64 KiB without waiting for the stream; others promise
// neither.
#if ROCARRAY_PLATFORM_HOST
constexpr std::size_t direct = std::size_t{1} << 40;
constexpr std::size_t direct_enqueued = 0;
#elif ROCARRAY_PLATFORM_NVIDIA
constexpr std::size_t direct = mebi / 2;
constexpr std::size_t direct_enqueued = mebi / 16;
#else
constexpr std::size_t direct = 2 * mebi;
constexpr std::size_t direct_enqueued = 0;
#endif

library_options read() {
  library_options result{};
  result.staging = bytes_from("ROCARRAY_STAGING_LIMIT", 4096, 64 * mebi);
  result.staging_block = bytes_from("ROCARRAY_STAGING_BLOCK", 4096, 4 * mebi);
  // Pieces begin at multiples of the widest access on the device.
  result.chunk =
      std::min(bytes_from("ROCARRAY_STAGING_CHUNK", 4096, 4 * mebi), result.staging_block) / 256 * 256;
  result.workers =
      number_from("ROCARRAY_COPY_THREADS", 1, 256, std::min<std::size_t>(processors(), 12), false);
  result.direct = bytes_from("ROCARRAY_STAGING_THRESHOLD", 0, direct);
  result.direct_enqueued = std::min(result.direct, direct_enqueued);
  result.pinned_cache = bytes_from("ROCARRAY_PINNED_CACHE", 0, 256 * mebi);
  result.shortest_row = bytes_from("ROCARRAY_MEMCPY2D_MIN_ROW", 1, 64);
  result.path = path_from("ROCARRAY_COPY_PATH");
  result.resource = resource_from("ROCARRAY_MEMORY_RESOURCE");
  // Pieces end where pages do, those of 64 KiB too.
  constexpr std::size_t page = 64 * 1024;
  result.register_chunk =
      std::max(bytes_from("ROCARRAY_REGISTER_CHUNK", 4096, 1024 * mebi) / page, std::size_t{1}) * page;
  return result;
}

}  // namespace

library_options const& options() {
  static library_options const instance = read();
  return instance;
}

}  // namespace roc::base

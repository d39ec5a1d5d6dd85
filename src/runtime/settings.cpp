// SPDX-License-Identifier: MIT
#include "runtime/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace roc::runtime {
namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

// "65536", "64K", "64M", "1G".
std::size_t bytes_from(char const* name, std::size_t otherwise) {
  char const* const text = std::getenv(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  bool const digits = text[0] >= '0' && text[0] <= '9';  // strtoull takes signs too
  unsigned long long value = std::strtoull(text, &end, 10);
  constexpr unsigned long long most = 1ull << 40;
  if (!digits || value > most) value = 0;
  if (end != text && *end != '\0') {
    char const* const units = "KMG";
    if (char const* const unit = std::strchr(units, *end); unit != nullptr) {
      value <<= 10 * (unit - units + 1);
      ++end;
    }
  }
  if (end != text && *end == '\0' && value >= 4096 && value <= most) return value;
  std::fprintf(stderr, "rocarray: %s=%s: give a number of bytes from 4096 to 1024G, with K, M or G\n", name,
               text);
  return otherwise;
}

library_settings read() {
  library_settings result{};
  result.staging = bytes_from("ROC_STAGING", 64 * mebi);
  result.staging_block = bytes_from("ROC_STAGING_BLOCK", 4 * mebi);
  // Pieces begin at multiples of the widest access on the device.
  result.chunk = std::min(bytes_from("ROC_CHUNK", 2 * mebi), result.staging_block) / 256 * 256;
  char const* const cache = std::getenv("ROC_PINNED_CACHE");
  bool const no_cache = cache != nullptr && std::strcmp(cache, "0") == 0;
  result.pinned_cache = no_cache ? 0 : bytes_from("ROC_PINNED_CACHE", 256 * mebi);
  // Pieces end where pages do, those of 64 KiB too.
  constexpr std::size_t page = 64 * 1024;
  result.register_chunk =
      std::max(bytes_from("ROC_REGISTER_CHUNK", 1024 * mebi) / page, std::size_t{1}) * page;
  return result;
}

}  // namespace

library_settings const& settings() {
  static library_settings const instance = read();
  return instance;
}

}  // namespace roc::runtime

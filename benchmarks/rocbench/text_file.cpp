// SPDX-License-Identifier: MIT
#include "text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace rocbench {
namespace {

constexpr std::size_t max_bytes = std::size_t{64} << 20;

[[noreturn]] void throw_error(std::string const& path, std::string const& reason) {
  throw input_error(fmt::format("cannot read {}: {}", path, reason));
}

}  // namespace

std::string read_text_file(std::string const& path) {
  auto const close = [](std::FILE* file) { std::fclose(file); };
  std::unique_ptr<std::FILE, decltype(close)> const file(std::fopen(path.c_str(), "r"), close);
  if (!file) throw_error(path, std::generic_category().message(errno));
  std::string text;
  char buffer[1 << 16];
  while (std::size_t const count = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, count);
    if (text.size() > max_bytes)
      throw_error(path, "it is larger than 64 MiB, the largest result file");
  }
  if (std::ferror(file.get()) != 0) throw_error(path, std::generic_category().message(errno));
  return text;
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "json_reader.hpp"

namespace rocbench {
namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20;

[[noreturn]] void refuse(std::string const& path, std::string const& why) {
  throw input_error(fmt::format("cannot read {}: {}", path, why));
}

}  // namespace

std::string read_text_file(std::string const& path) {
  auto const close = [](std::FILE* file) { std::fclose(file); };
  std::unique_ptr<std::FILE, decltype(close)> const file(std::fopen(path.c_str(), "r"), close);
  if (!file) refuse(path, std::generic_category().message(errno));
  std::string text;
  char part[1 << 16];
  while (std::size_t const count = std::fread(part, 1, sizeof part, file.get())) {
    text.append(part, count);
    if (text.size() > largest_file) refuse(path, "it is larger than any file of rocbench's");
  }
  if (std::ferror(file.get()) != 0) refuse(path, std::generic_category().message(errno));
  return text;
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "files.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace rocbench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_bytes = std::size_t{64} << 20;

struct closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, closer>;

// Throws file_error with the system's message.
[[noreturn]] void fail_file(char const* action, std::string const& path, int error_number) {
  throw file_error(
      fmt::format("cannot {} {}: {}", action, path, std::generic_category().message(error_number)));
}

// Returns the path that is written instead: a device itself, else a temporary file.
std::string temporary_path(std::string const& path) {
  std::error_code error;
  auto const type = fs::status(path, error).type();
  if (type == fs::file_type::directory) fail_file("write", path, EISDIR);
  bool const is_regular = type == fs::file_type::not_found || type == fs::file_type::regular;
  return is_regular ? path + ".part" : path;
}

}  // namespace

std::string read_file(std::string const& path) {
  file_handle const file(std::fopen(path.c_str(), "r"));
  if (!file) fail_file("read", path, errno);
  std::string text;
  char buffer[1 << 16];
  while (std::size_t const count = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, count);
    if (text.size() > max_bytes) fail_file("read", path, EFBIG);
  }
  if (std::ferror(file.get()) != 0) fail_file("read", path, errno);
  return text;
}

void check_writable(std::string const& path) {
  if (path == "-") return;
  std::string const temporary = temporary_path(path);
  if (!file_handle(std::fopen(temporary.c_str(), "w"))) fail_file("write", path, errno);
  if (temporary != path) std::remove(temporary.c_str());
}

void write_file(std::string const& path, std::string_view text) {
  bool const to_stdout = path == "-";
  std::string const temporary = to_stdout ? path : temporary_path(path);
  file_handle const file(to_stdout ? nullptr : std::fopen(temporary.c_str(), "w"));
  std::FILE* const destination = to_stdout ? stdout : file.get();
  bool const is_complete = destination != nullptr &&
                           std::fwrite(text.data(), 1, text.size(), destination) == text.size() &&
                           std::fflush(destination) == 0;
  if (!is_complete) fail_file("write", path, errno);
  if (temporary != path && std::rename(temporary.c_str(), path.c_str()) != 0) {
    fail_file("write", path, errno);
  }
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "output_file.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace rocbench {
namespace {

[[noreturn]] void throw_error(std::string const& path, int error_number) {
  throw output_error(
      fmt::format("cannot write {}: {}", path, std::generic_category().message(error_number)));
}

}  // namespace

output_file::output_file(std::string path) : path_(std::move(path)) {
  if (path_ == "-") return;
  std::error_code error;
  auto const kind = std::filesystem::status(path_, error).type();
  if (kind == std::filesystem::file_type::directory) throw_error(path_, EISDIR);
  bool const is_device =
      kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular;
  if (!is_device) temporary_path_ = path_ + ".part";
  file_.reset(std::fopen((is_device ? path_ : temporary_path_).c_str(), "w"));
  if (!file_) throw_error(path_, errno);
}

output_file::~output_file() {
  if (file_ && !temporary_path_.empty()) std::remove(temporary_path_.c_str());
}

void output_file::write(std::string_view text) {
  std::FILE* const destination = file_ ? file_.get() : stdout;
  bool const complete = std::fwrite(text.data(), 1, text.size(), destination) == text.size();
  if (!complete || std::fflush(destination) != 0) throw_error(path_, errno);
  if (temporary_path_.empty()) return;
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) throw_error(path_, errno);
  file_.reset();
}

}  // namespace rocbench

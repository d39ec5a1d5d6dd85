// SPDX-License-Identifier: MIT
#include "output_file.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace rocbench {
namespace {

[[noreturn]] void refuse(std::string const& path, int code) {
  throw output_error(
      fmt::format("cannot write {}: {}", path, std::generic_category().message(code)));
}

}  // namespace

output_file::output_file(std::string path) : path_(std::move(path)) {
  if (path_ == "-") return;
  std::error_code none_there;
  auto const kind = std::filesystem::status(path_, none_there).type();
  if (kind == std::filesystem::file_type::directory) refuse(path_, EISDIR);
  bool const device =
      kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular;
  if (!device) written_ = path_ + ".part";
  file_.reset(std::fopen((device ? path_ : written_).c_str(), "w"));
  if (!file_) refuse(path_, errno);
}

output_file::~output_file() {
  if (file_ && !written_.empty()) std::remove(written_.c_str());
}

void output_file::write(std::string_view text) {
  std::FILE* const to = file_ ? file_.get() : stdout;
  bool const whole = std::fwrite(text.data(), 1, text.size(), to) == text.size();
  if (!whole || std::fflush(to) != 0) refuse(path_, errno);
  if (written_.empty()) return;
  if (std::rename(written_.c_str(), path_.c_str()) != 0) refuse(path_, errno);
  file_.reset();
}

}  // namespace rocbench

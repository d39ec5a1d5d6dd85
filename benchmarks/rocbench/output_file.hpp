// SPDX-License-Identifier: MIT
// A file of results: found out to be writable before measuring, whole or not there afterwards.
#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rocbench {

/// A destination that cannot be written; the text names it and says why.
struct output_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "-" is standard output. A regular file is written beside its place and then renamed, so that
/// what was there before stays until the new one is whole.
class output_file {
 public:
  /// Throws output_error.
  explicit output_file(std::string path);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  /// Writes the text and puts the file in its place; once. Throws output_error.
  void write(std::string_view text);

 private:
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::string written_;  // empty: nothing to rename
  std::unique_ptr<std::FILE, closer> file_;
};

}  // namespace rocbench

// SPDX-License-Identifier: MIT
// A result file that is checked to be writable before measuring, and replaced as a whole.
#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rocbench {

/// Thrown if a file cannot be written; what() names the file and the reason.
struct output_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A regular file is written under a temporary name and then renamed, so that an existing file
/// remains until the new one is complete. The path "-" is standard output.
class output_file {
 public:
  /// Opens the temporary file, or the device. Throws output_error.
  explicit output_file(std::string path);
  /// Removes the temporary file if write() was not called or failed.
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  /// Writes the text and renames the file. Precondition: not called before. Throws output_error.
  void write(std::string_view text);

 private:
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::string temporary_path_;  // empty: nothing to rename
  std::unique_ptr<std::FILE, closer> file_;
};

}  // namespace rocbench

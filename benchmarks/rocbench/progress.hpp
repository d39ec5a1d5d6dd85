// SPDX-License-Identifier: MIT
// Progress messages on standard error.
#pragma once

#include <cstddef>
#include <string>

namespace rocbench {

/// Prints one line for the current case. On a terminal the line is erased before results are
/// printed; otherwise it remains as a line of the log.
class progress {
 public:
  /// @param total number of begin() calls to come
  explicit progress(std::size_t total);
  ~progress();
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  /// Prints the case that starts.
  void begin(std::string const& case_name);
  /// Prints a case that is measured for longer than planned.
  void begin_extra_round(std::string const& case_name);
  /// Erases the line from a terminal.
  void clear();

 private:
  void show(std::string const& message);

  std::size_t total_;
  std::size_t begun_ = 0;
  bool is_terminal_;
};

}  // namespace rocbench

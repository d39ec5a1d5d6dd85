// SPDX-License-Identifier: MIT
// What is being done, on standard error.
#pragma once

#include <cstddef>
#include <string>

namespace rocbench {

/// One line for the case at work: on a terminal it goes before the row is printed, elsewhere it
/// stays as a line of the log.
class progress {
 public:
  explicit progress(std::size_t cases);
  ~progress();
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  void begin(std::string const& name);
  /// The same for a case that gets more time than was planned.
  void again(std::string const& name);
  /// Takes the line away.
  void clear();

 private:
  void show(std::string const& words);

  std::size_t cases_;
  std::size_t done_ = 0;
  bool terminal_;
};

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace rocbench {

progress::progress(std::size_t total) : total_(total), is_terminal_(isatty(STDERR_FILENO) == 1) {}

progress::~progress() { clear(); }

void progress::begin(std::string const& case_name) {
  ++begun_;
  show(fmt::format("{} of {}: {}", begun_, total_, case_name));
}

void progress::begin_extra_round(std::string const& case_name) {
  clear();  // the previous line may be longer
  show(fmt::format("extra round, samples disagree: {}", case_name));
}

void progress::show(std::string const& message) {
  fmt::print(stderr, "{}{}", message, is_terminal_ ? "" : "\n");
  std::fflush(stderr);
}

void progress::clear() {
  if (!is_terminal_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace rocbench

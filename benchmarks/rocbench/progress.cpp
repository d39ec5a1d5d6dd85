// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace rocbench {

progress::progress(std::size_t cases) : cases_(cases), terminal_(isatty(STDERR_FILENO) == 1) {}

progress::~progress() { clear(); }

void progress::begin(std::string const& name) {
  ++done_;
  show(fmt::format("{} of {}: {}", done_, cases_, name));
}

void progress::again(std::string const& name) {
  clear();  // the line before may be longer
  show(fmt::format("again, its samples disagree: {}", name));
}

void progress::show(std::string const& words) {
  fmt::print(stderr, "{}{}", words, terminal_ ? "" : "\n");
  std::fflush(stderr);
}

void progress::clear() {
  if (!terminal_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace rocbench

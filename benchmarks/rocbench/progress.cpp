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
  fmt::print(stderr, "{} of {}: {}{}", done_, cases_, name, terminal_ ? "" : "\n");
  std::fflush(stderr);
}

void progress::clear() {
  if (!terminal_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "base/memory_maps.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

namespace roc::base {

mapping_reader::mapping_reader() noexcept
    : file_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}

mapping_reader::~mapping_reader() {
  if (file_ >= 0) ::close(file_);
}

bool mapping_reader::refill() noexcept {
  if (file_ < 0) return false;
  size_ -= position_;
  std::memmove(buffer_.data(), buffer_.data() + position_, size_);
  position_ = 0;
  ssize_t const count = ::read(file_, buffer_.data() + size_, buffer_.size() - size_);
  if (count <= 0) return false;
  size_ += static_cast<std::size_t>(count);
  return true;
}

// A line is "begin-end rwxp offset device inode path".
bool mapping_reader::next(mapping& result) noexcept {
  for (;;) {
    std::string_view const unread(buffer_.data() + position_, size_ - position_);
    auto const line_end = unread.find('\n');
    if (line_end == std::string_view::npos) {
      if (!refill()) return false;
      continue;
    }
    std::string_view const line = unread.substr(0, line_end);
    position_ += line_end + 1;
    char const* const last = line.data() + line.size();
    auto parsed = std::from_chars(line.data(), last, result.begin, 16);
    if (parsed.ec != std::errc{} || last - parsed.ptr < 2) continue;
    parsed = std::from_chars(parsed.ptr + 1, last, result.end, 16);
    if (parsed.ec != std::errc{} || last - parsed.ptr < 5) continue;
    char const* const access = parsed.ptr + 1;
    result.protection = (access[0] == 'r' ? PROT_READ : 0) | (access[1] == 'w' ? PROT_WRITE : 0) |
                        (access[2] == 'x' ? PROT_EXEC : 0);
    auto const path = line.find_first_of("/[", static_cast<std::size_t>(access - line.data()));
    result.path = path == std::string_view::npos ? std::string_view() : line.substr(path);
    return true;
  }
}

}  // namespace roc::base

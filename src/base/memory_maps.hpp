// SPDX-License-Identifier: MIT
// The mappings of the process (/proc/self/maps).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roc::base {

struct mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  int protection = 0;     // PROT_*
  std::string_view path;  // empty for anonymous memory; valid until the next call of next()
};

/// Reads the mappings in the order of their addresses. Allocates no memory, so that signal handlers
/// can use it.
class mapping_reader {
 public:
  mapping_reader() noexcept;
  ~mapping_reader();
  mapping_reader(mapping_reader const&) = delete;
  mapping_reader& operator=(mapping_reader const&) = delete;

  /// Returns false if the list cannot be read.
  bool is_open() const noexcept { return file_ >= 0; }
  /// Sets `result` to the next mapping. Returns false after the last one.
  bool next(mapping& result) noexcept;

 private:
  /// Moves the unread bytes to the front and reads more. Returns false at the end of the file.
  bool refill() noexcept;

  int file_;
  std::size_t position_ = 0;  // of the first unread byte
  std::size_t size_ = 0;
  std::array<char, 8192> buffer_;  // longer than the longest line
};

}  // namespace roc::base

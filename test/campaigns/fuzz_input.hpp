// SPDX-License-Identifier: MIT
// Reads the bytes of a fuzzer as numbers, and reports what does not hold.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

namespace roc::fuzz {

/// The bytes of one run. Reads zeros after their end, so that shorter inputs stay valid.
class input {
 public:
  input(std::uint8_t const* data, std::size_t size) : data_(data), size_(size) {}

  bool is_at_end() const { return position_ == size_; }

  template <class T>
  T take() {
    T result{};
    std::size_t const count = sizeof(T) < size_ - position_ ? sizeof(T) : size_ - position_;
    if (count != 0) std::memcpy(&result, data_ + position_, count);
    position_ += count;
    return result;
  }

  /// Returns a number in [0, n), from one byte. `n` is 1 to 256.
  std::size_t below(std::size_t n) { return take<std::uint8_t>() % n; }
  /// Returns a number in [low, high], from one byte. There are 1 to 256 of them.
  std::ptrdiff_t between(std::ptrdiff_t low, std::ptrdiff_t high) {
    return low + static_cast<std::ptrdiff_t>(below(static_cast<std::size_t>(high - low) + 1));
  }
  bool one_in(std::size_t n) { return below(n) == 0; }

  /// Returns mostly a small number, but also any of 64 bits, and those next to the limits.
  std::int64_t hostile() {
    constexpr std::int64_t limits[] = {INT64_MIN,        INT64_MAX,        INT32_MIN, INT32_MAX,
                                       INT64_C(1) << 62, INT64_C(1) << 32, -1,        0};
    switch (below(8)) {
      case 0: return take<std::int64_t>();
      case 1: {
        auto const limit = static_cast<std::uint64_t>(limits[below(std::size(limits))]);
        return static_cast<std::int64_t>(limit + static_cast<std::uint64_t>(between(-3, 3)));
      }
      default: return between(-8, 16);
    }
  }

  /// Returns the bytes up to the next zero byte, at most `most`, as text.
  std::string text(std::size_t most) {
    std::string result;
    while (position_ != size_ && result.size() < most) {
      char const c = static_cast<char>(data_[position_++]);
      if (c == '\0') break;
      result += c;
    }
    return result;
  }

  /// Returns all bytes that are left.
  std::string_view rest() {
    std::string_view const result(reinterpret_cast<char const*>(data_) + position_,
                                  size_ - position_);
    position_ = size_;
    return size_ == 0 ? std::string_view() : result;
  }

 private:
  std::uint8_t const* data_;
  std::size_t size_;
  std::size_t position_ = 0;
};

/// Ends the process with a message unless the condition is true.
[[gnu::format(printf, 2, 3)]] inline void require(bool condition, char const* format, ...) {
  if (condition) return;
  std::va_list arguments;
  va_start(arguments, format);
  std::fputs("fuzz: ", stderr);
  std::vfprintf(stderr, format, arguments);
  std::fputs("\n", stderr);
  va_end(arguments);
  std::abort();
}

}  // namespace roc::fuzz

/// The entry point of a fuzzer. Ends the process if the library does not do what it promises.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
/// Called once before, if it is defined. Exits with status 77 where the fuzzer cannot run.
extern "C" [[gnu::weak]] int LLVMFuzzerInitialize(int* argument_count, char*** arguments);

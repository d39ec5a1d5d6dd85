// SPDX-License-Identifier: MIT
// The reports of the access checker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "platform/host/access_checker_state.hpp"

namespace roc::host_hip::access {

/// Writes a text to stderr. The caller holds report_lock.
[[gnu::format(printf, 1, 2)]] void print(char const* format, ...) noexcept;

using place_text = std::array<char, 1024>;

/// Stream handles are small numbers; null is the default stream.
struct stream_name {
  explicit stream_name(void* stream) noexcept {
    if (stream == nullptr) {
      std::snprintf(text.data(), text.size(), "the default stream");
    } else {
      std::snprintf(text.data(), text.size(), "stream %p", stream);
    }
  }
  std::array<char, 40> text;
};

/// Returns true at the first call with this pair of places; false if memory is exhausted.
bool is_first(checker& state, std::uint64_t accessed, std::uint64_t enqueued);

/// Counts a report. The caller holds report_lock.
void count_report(checker& state) noexcept;

/// Reports that the memory of pending work was unmapped. Aborts the process in mode abort.
void report_lost(checker& state, work_record const& work, work_record::use const& use) noexcept;

/// An access that must be reported, as the signal handler sees it.
struct violation {
  std::uintptr_t address = 0;
  bool is_write = false;
  int device = -1;  // -1: host memory that `work` uses
  work_record work;
  std::size_t use = 0;
};

/// Reports an access to device memory at the place `here`. The caller holds report_lock.
void report_device_access(checker& state, violation const& access, char const* here);
/// Reports an access to memory of pending work. The caller holds report_lock.
void report_pending_access(violation const& access, char const* here);

}  // namespace roc::host_hip::access

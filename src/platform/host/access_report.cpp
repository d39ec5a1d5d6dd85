// SPDX-License-Identifier: MIT
#include "platform/host/access_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <new>

#include "platform/host/settings.hpp"

namespace roc::host_hip::access {

void print(char const* format, ...) noexcept {
  static std::array<char, 4096> text;  // static, because signal handlers run on stacks of any size
  std::va_list arguments;
  va_start(arguments, format);
  int const length = std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  std::size_t const bytes = std::min(static_cast<std::size_t>(length), text.size() - 1);
  for (std::size_t written = 0; written < bytes;) {
    ssize_t const count = ::write(STDERR_FILENO, text.data() + written, bytes - written);
    if (count <= 0) return;
    written += static_cast<std::size_t>(count);
  }
}

bool is_first(checker& state, std::uint64_t accessed, std::uint64_t enqueued) {
  checker_guard const guard(state.lock);
  try {
    return state.reported.insert(accessed * 31 + enqueued).second;
  } catch (std::bad_alloc const&) {
    return false;
  }
}

void count_report(checker& state) noexcept {
  if (pid_t const process = ::getpid(); process != state.process) {
    state.process = process;
    state.reports = 0;
  }
  ++state.reports;
}

void report_lost(checker& state, work_record const& work, work_record::use const& use) noexcept {
  checker_guard const guard(state.report_lock);
  count_report(state);
  static place_text place;
  describe(work.place, place.data(), place.size());
  print(
      "rocarray: memory was freed before a %s that uses it was synchronized: %zu bytes at %p, the "
      "%s of the %s enqueued at %s on %s; synchronize the stream before the memory is freed\n",
      work.kind, use.bytes.end - use.bytes.begin, reinterpret_cast<void*>(use.bytes.begin),
      use.memory.is_written ? "destination" : "source", work.kind, place.data(),
      stream_name(work.stream).text.data());
  if (host_settings().check == check_mode::abort) std::abort();
}

void report_device_access(checker& state, violation const& access, char const* here) {
  address_range found;
  static place_text place;
  place[0] = '\0';
  code_place allocated;
  bool is_array = false;
  {
    checker_guard const guard(state.lock);
    for (auto const& [key, item] : state.device_memory) {
      address_range const range{key.first, key.first + item.bytes};
      bool const is_smaller =
          found.begin == found.end || range.end - range.begin <= found.end - found.begin;
      if (!range.contains(access.address) || !is_smaller) continue;
      found = range;
      allocated = item.place;
      is_array = !key.second;
    }
  }
  if (found.begin == found.end) {
    return print(
        "rocarray: %s %s device memory: %p is in no allocation of device %d; copy device memory to "
        "host memory, and access that\n",
        here, access.is_write ? "writes" : "reads", reinterpret_cast<void*>(access.address),
        access.device);
  }
  describe(allocated, place.data(), place.size());
  print(
      "rocarray: %s %s device memory: byte %zu of %zu bytes at %p on device %d, %s allocated at "
      "%s; "
      "copy the memory to the host and access the copy\n",
      here, access.is_write ? "writes" : "reads", access.address - found.begin,
      found.end - found.begin, reinterpret_cast<void*>(found.begin), access.device,
      is_array ? "an array" : "memory", place.data());
}

void report_pending_access(violation const& access, char const* here) {
  static place_text place;
  work_record const& work = access.work;
  work_record::use const& use = work.uses[access.use];
  describe(work.place, place.data(), place.size());
  print(
      "rocarray: %s %s memory of a pending %s: byte %zu of %zu bytes at %p, the %s of the %s "
      "enqueued at %s on %s, which has not been synchronized yet; synchronize the stream first\n",
      here, access.is_write ? "writes" : "reads", work.kind, access.address - use.bytes.begin,
      use.bytes.end - use.bytes.begin, reinterpret_cast<void*>(use.bytes.begin),
      use.memory.is_written ? "destination" : "source", work.kind, place.data(),
      stream_name(work.stream).text.data());
}

}  // namespace roc::host_hip::access

// SPDX-License-Identifier: MIT
// The identity of a process, by which other processes of the machine recognize it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace roc::base {

/// Identifies a process among all that run on any machine. A plain value without padding. A member
/// is 0 if the system does not tell it.
struct process_identity {
  std::array<std::uint64_t, 2> boot{};  ///< of the machine: differs after each start
  std::uint64_t pid_namespace = 0;      ///< in which `pid` is valid, such as that of a container
  std::uint64_t start_time = 0;         ///< tells processes apart that had the same number
  std::int64_t pid = 0;

  friend bool operator==(process_identity const&, process_identity const&) = default;
};

enum class process_state { running, ended, unknown };

namespace process_detail {

/// Reads up to N - 1 bytes of a file and ends them with a null. Returns the number of bytes; 0 if
/// the file is empty, or cannot be read for the reason in errno.
template <std::size_t N>
std::size_t read_file(char const* path, char (&text)[N]) noexcept {
  errno = 0;
  int const file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t const count = ::read(file, text, N - 1);
  int const error = errno;
  ::close(file);
  errno = error;
  std::size_t const bytes = count > 0 ? static_cast<std::size_t>(count) : 0;
  text[bytes] = '\0';
  return bytes;
}

struct process_status {
  bool is_known = false;  // false if /proc cannot be read, such as without a free descriptor
  char state = '\0';      // of the main thread, as in /proc/PID/stat; 0 if there is no such process
  long long threads = 0;
  std::uint64_t start_time = 0;
};

inline process_status read_status(std::int64_t pid) noexcept {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%lld/stat", static_cast<long long>(pid));
  char text[1024];
  process_status result;
  if (read_file(path, text) == 0) {
    result.is_known = errno == 0 || errno == ENOENT || errno == ESRCH;
    return result;
  }
  result.is_known = true;
  // The name of the program, the second field, may contain spaces and parentheses.
  char const* field = std::strrchr(text, ')');
  if (field == nullptr || field[1] != ' ') return result;
  result.state = field[2];
  field += 2;
  // The state is field 3, the number of threads field 20, and the start time field 22.
  constexpr int fields_to_threads = 17;
  for (int i = 0; i < fields_to_threads && field != nullptr; ++i) {
    field = std::strchr(field + 1, ' ');
  }
  long long threads = 0;
  unsigned long long time = 0;
  if (field != nullptr && std::sscanf(field, "%lld %*s %llu", &threads, &time) == 2) {
    result.threads = threads;
    result.start_time = time;
  }
  return result;
}

inline std::array<std::uint64_t, 2> read_boot() noexcept {
  char text[64];
  std::array<std::uint64_t, 2> result{};
  std::size_t const bytes = read_file("/proc/sys/kernel/random/boot_id", text);
  std::size_t digits = 0;
  for (char const c : std::string_view(text, bytes)) {
    bool const is_digit = c >= '0' && c <= '9';
    if ((!is_digit && (c < 'a' || c > 'f')) || digits == 32) continue;
    auto const value = static_cast<std::uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
    result[digits / 16] = result[digits / 16] << 4 | value;
    ++digits;
  }
  return result;
}

}  // namespace process_detail

/// Returns the identity of the calling process. Reads files of /proc; does not throw.
inline process_identity this_process() noexcept {
  process_identity result;
  result.boot = process_detail::read_boot();
  struct stat description {};
  if (::stat("/proc/self/ns/pid", &description) == 0) result.pid_namespace = description.st_ino;
  result.pid = ::getpid();
  result.start_time = process_detail::read_status(result.pid).start_time;
  return result;
}

/// Returns true unless both identities are known to be of different boots: different machines, or
/// the same one before and after a restart.
inline bool may_be_same_boot(process_identity const& a, process_identity const& b) noexcept {
  constexpr std::array<std::uint64_t, 2> unknown{};
  return a.boot == b.boot || a.boot == unknown || b.boot == unknown;
}

/// Returns whether a process of this boot runs; `unknown` if it is in another namespace than
/// `observer`, the identity of the calling process, or if /proc cannot be read.
inline process_state state_of(process_identity const& process,
                              process_identity const& observer) noexcept {
  if (observer.start_time == 0 || process.start_time == 0 ||
      process.pid_namespace != observer.pid_namespace) {
    return process_state::unknown;
  }
  auto const status = process_detail::read_status(process.pid);
  if (!status.is_known) return process_state::unknown;
  // A process that has ended may still have an entry, until its parent has asked for its result. If
  // only the main thread has ended, the state is Z too, but the number of threads is above 1.
  bool const is_zombie = status.state == 'Z' && status.threads <= 1;
  bool const has_ended = status.state == '\0' || status.state == 'X' || is_zombie;
  return !has_ended && status.start_time == process.start_time ? process_state::running
                                                               : process_state::ended;
}

}  // namespace roc::base

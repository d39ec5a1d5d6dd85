// SPDX-License-Identifier: MIT
#include "platform/host/process_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/process_identity.hpp"

namespace roc::host_hip {

process_reference this_process() noexcept {
  std::int64_t const pid = ::getpid();
  return {pid, base::process_detail::read_status(pid).start_time};
}

file_descriptor& file_descriptor::operator=(file_descriptor&& other) noexcept {
  file_descriptor previous(std::exchange(descriptor_, other.release()));
  return *this;
}

file_descriptor::~file_descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int file_descriptor::release() noexcept { return std::exchange(descriptor_, -1); }

file_descriptor open_file_of(process_reference const& process, int descriptor) noexcept {
  if (base::process_detail::read_status(process.pid).start_time != process.start_time) return {};
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", static_cast<long long>(process.pid),
                descriptor);
  return file_descriptor(::open(path, O_RDWR | O_CLOEXEC));
}

file_descriptor watch_process(std::int64_t pid) noexcept {
#if defined(SYS_pidfd_open)
  return file_descriptor(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
#else
  static_cast<void>(pid);
  return {};
#endif
}

bool process_exists(std::int64_t pid) noexcept {
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

bool has_ended(int watched) noexcept {
  if (watched < 0) return false;
  pollfd entry{watched, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

}  // namespace roc::host_hip

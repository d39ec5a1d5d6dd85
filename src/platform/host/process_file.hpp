// SPDX-License-Identifier: MIT
// Files without a name that processes share, and the end of other processes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roc::host_hip {

/// Identifies a process of this machine: its number, and when it was started.
struct process_reference {
  std::int64_t pid;
  std::uint64_t start_time;

  friend bool operator==(process_reference const&, process_reference const&) = default;
};

process_reference this_process() noexcept;

/// A file descriptor. Move-only.
class file_descriptor {
 public:
  file_descriptor() = default;
  explicit file_descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  file_descriptor(file_descriptor&& other) noexcept : descriptor_(other.release()) {}
  file_descriptor& operator=(file_descriptor&& other) noexcept;
  ~file_descriptor();

  /// Returns the number; negative if there is none.
  int get() const noexcept { return descriptor_; }
  int release() noexcept;

 private:
  int descriptor_ = -1;
};

/// Opens the file that another process has open as `descriptor`. Returns an empty descriptor if the
/// process has ended, has no such file, or belongs to another user.
file_descriptor open_file_of(process_reference const& process, int descriptor) noexcept;
/// Returns a descriptor for has_ended; empty if the system has none.
file_descriptor watch_process(std::int64_t pid) noexcept;
/// Returns true if there is a process with this number, also if it has ended and its parent has not
/// asked for its result.
bool process_exists(std::int64_t pid) noexcept;
/// Returns true if a watched process has ended; false for an empty descriptor. Does not block.
bool has_ended(int watched) noexcept;

}  // namespace roc::host_hip

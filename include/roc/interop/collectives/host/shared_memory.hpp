// SPDX-License-Identifier: MIT
// Memory that several processes of one machine can map.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <roc/interop/collectives/host/types.hpp>
#include <roc/native/hip.hpp>

namespace roc::host_ccl::impl {

/// Returns the descriptor of a new file without a name, or a negative number. See is_shared_file.
inline int create_shared_file() {
  return static_cast<int>(::syscall(SYS_memfd_create, "rocarray", 1U));  // MFD_CLOEXEC
}

/// Returns true if the path of a process's descriptor leads to a file of create_shared_file. Does
/// not open the file: that could have effects, if it is of another kind.
inline bool is_shared_file(char const* path) {
  constexpr std::string_view expected = "/memfd:rocarray";
  char target[expected.size()];
  ssize_t const length = ::readlink(path, target, sizeof target);
  return length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == expected;
}

/// A file descriptor with a mapping of a part of the file. Move-only.
class shared_memory {
 public:
  shared_memory() = default;
  /// @param offset a multiple of page_bytes
  shared_memory(int file, std::size_t bytes, std::size_t offset = 0) : file_(file), bytes_(bytes) {
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                                static_cast<off_t>(offset));
    if (mapped != MAP_FAILED) data_ = static_cast<std::byte*>(mapped);
  }
  shared_memory(shared_memory&& other) noexcept
      : file_(std::exchange(other.file_, -1)),
        bytes_(std::exchange(other.bytes_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  shared_memory& operator=(shared_memory&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~shared_memory() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
    if (file_ >= 0) ::close(file_);
  }
  /// Returns new anonymous memory, or an empty object if there is none.
  static shared_memory create(std::size_t bytes) {
    int const file = create_shared_file();
    if (file < 0) return {};
    if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
      ::close(file);
      return {};
    }
    return {file, bytes};
  }
  /// Returns the memory of another process, or an empty object if it has ended or has no such file.
  /// The process may have closed the file, so that its descriptor means another file now.
  static shared_memory open(std::int64_t pid, int file, std::size_t bytes, std::size_t offset = 0) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", static_cast<long long>(pid), file);
    if (!is_shared_file(path)) return {};
    int const opened = ::open(path, O_RDWR | O_CLOEXEC);
    if (opened < 0) return {};
    // A mapping can be longer than its file: access to the rest of it raises SIGBUS.
    struct stat status{};
    bool const is_complete = ::fstat(opened, &status) == 0 && S_ISREG(status.st_mode) &&
                             static_cast<std::size_t>(status.st_size) >= offset + bytes;
    if (!is_complete) {
      ::close(opened);
      return {};
    }
    return {opened, bytes, offset};
  }
  /// Closes the descriptor. The mapping stays.
  void close_file() noexcept {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
  }
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  int file() const { return file_; }

 private:
  int file_ = -1;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

/// Pinned memory that other processes can map: a part of a file.
struct payload {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  int file = -1;
  std::size_t offset = 0;
};

/// The payloads of a process, all in one file. They stay pinned until the process ends, and are
/// used again: hipHostUnregister waits for all work of all devices, also for operations that wait
/// for other ranks.
class payload_pool {
 public:
  /// Returns memory of at least `bytes` bytes, or an empty object if there is none. Throws
  /// std::bad_alloc.
  payload take(std::size_t bytes) {
    static auto const system_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::size_t const size = std::bit_ceil(std::max(bytes, system_page));
    std::scoped_lock const lock(mutex_);
    block_list& list = lists_[size];
    if (list.unused.empty() && !add_locked(size, list)) return {};
    block const found = list.unused.back();
    list.unused.pop_back();
    if (found.has_pages) page_bytes_kept_ -= size;
    return found.memory;
  }
  /// Takes memory back that no operation uses. Its pages are given back to the system if the pool
  /// would keep more than 256 MiB of them. Does not allocate.
  void give_back(payload const& memory) noexcept {
    if (memory.data == nullptr) return;
    bool has_pages = false;
    {
      std::scoped_lock const lock(mutex_);
      has_pages = page_bytes_kept_ + memory.bytes <= page_bytes_limit;
      if (has_pages) page_bytes_kept_ += memory.bytes;
    }
    if (!has_pages) {
      static_cast<void>(::fallocate(memory.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                    static_cast<off_t>(memory.offset),
                                    static_cast<off_t>(memory.bytes)));
    }
    std::scoped_lock const lock(mutex_);
    lists_.find(memory.bytes)->second.unused.push_back({memory, has_pages});
  }

  /// Never destroyed: the memory stays pinned.
  static payload_pool& instance() {
    static payload_pool& instance = *new payload_pool;
    return instance;
  }

 private:
  static constexpr std::size_t page_bytes_limit = std::size_t{256} << 20;

  struct block {
    payload memory;
    bool has_pages;  // counted in page_bytes_kept_
  };
  /// The blocks of one size.
  struct block_list {
    std::vector<block> unused;  // has capacity for all
    std::size_t total = 0;
  };

  /// Adds payloads of `size` bytes to a list: small ones share a mapping, because a process should
  /// not have thousands. Returns false if there is no memory. The caller holds the lock.
  bool add_locked(std::size_t size, block_list& list) {
    constexpr std::size_t smallest_mapping = std::size_t{1} << 20;
    std::size_t const bytes = std::max(size, smallest_mapping);
    list.unused.reserve(list.total + bytes / size);
    if (file_ < 0) file_ = create_shared_file();
    if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(file_bytes_ + bytes)) != 0) return false;
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                                static_cast<off_t>(file_bytes_));
    if (mapped == MAP_FAILED) return false;
    if (hipHostRegister(mapped, bytes, hipHostRegisterPortable) != hipSuccess) {
      static_cast<void>(hipGetLastError());
      ::munmap(mapped, bytes);
      return false;
    }
    for (std::size_t offset = 0; offset < bytes; offset += size) {
      std::byte* const data = static_cast<std::byte*>(mapped) + offset;
      list.unused.push_back({{data, size, file_, file_bytes_ + offset}, false});
    }
    list.total += bytes / size;
    file_bytes_ += bytes;
    return true;
  }

  std::mutex mutex_;
  int file_ = -1;
  std::size_t file_bytes_ = 0;
  std::map<std::size_t, block_list> lists_;  // by size
  std::size_t page_bytes_kept_ = 0;
};

}  // namespace roc::host_ccl::impl

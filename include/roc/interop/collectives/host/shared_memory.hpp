// SPDX-License-Identifier: MIT
// Memory that several processes of one machine can map.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <roc/interop/collectives/host/types.hpp>
#include <roc/native/hip.hpp>

namespace roc::host_ccl::impl {

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
    int const file = static_cast<int>(::syscall(SYS_memfd_create, "rocarray", 1U));  // MFD_CLOEXEC
    if (file < 0) return {};
    if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
      ::close(file);
      return {};
    }
    return {file, bytes};
  }
  /// Returns the memory of another process, or an empty object if it has ended or has no such file.
  static shared_memory open(std::int64_t pid, int file, std::size_t bytes, std::size_t offset = 0) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", static_cast<long long>(pid), file);
    int const opened = ::open(path, O_RDWR | O_CLOEXEC);
    if (opened < 0) return {};
    return {opened, bytes, offset};
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

/// The payloads of a process. They stay pinned until the process ends, and are used again:
/// hipHostUnregister waits for all work of all devices, also for operations that wait for other
/// ranks.
class payload_pool {
 public:
  /// Returns memory of at least `bytes` bytes, or an empty object if there is none.
  payload take(std::size_t bytes) {
    std::size_t const size = std::bit_ceil(std::max(bytes, page_bytes));
    std::scoped_lock const lock(mutex_);
    auto& list = free_[size];
    if (list.empty() && !add_locked(size, list)) return {};
    block const found = list.back();
    list.pop_back();
    if (found.has_pages) page_bytes_kept_ -= size;
    return found.memory;
  }
  /// Takes memory back that no operation uses. Its pages are given back to the system if the pool
  /// would keep more than 256 MiB of them.
  void give_back(payload const& memory) {
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
    free_[memory.bytes].push_back({memory, has_pages});
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

  /// Adds payloads of `size` bytes to a list: small ones share a file, because a process should not
  /// have thousands of files and mappings. Returns false if there is no memory. The caller holds
  /// the lock.
  bool add_locked(std::size_t size, std::vector<block>& list) {
    constexpr std::size_t smallest_file = std::size_t{1} << 20;
    std::size_t const bytes = std::max(size, smallest_file);
    shared_memory created = shared_memory::create(bytes);
    if (created.data() == nullptr) return false;
    if (hipHostRegister(created.data(), bytes, hipHostRegisterPortable) != hipSuccess) {
      static_cast<void>(hipGetLastError());
      return false;
    }
    for (std::size_t offset = 0; offset < bytes; offset += size) {
      list.push_back({{created.data() + offset, size, created.file(), offset}, false});
    }
    files_.push_back(std::move(created));
    return true;
  }

  std::mutex mutex_;
  std::vector<shared_memory> files_;
  std::map<std::size_t, std::vector<block>> free_;  // by size
  std::size_t page_bytes_kept_ = 0;
};

}  // namespace roc::host_ccl::impl

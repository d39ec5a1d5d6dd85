// SPDX-License-Identifier: MIT
// Device memory: an address range per device with a first-fit allocator.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace roc::host_hip {

/// An allocation of device memory.
struct allocation {
  std::byte* data;
  std::size_t bytes;     // as requested, without alignment
  std::uint64_t number;  // no other allocation of this process has or had it
  bool is_from_pool;     // by hipMallocAsync
  bool is_opened;        // an allocation of another process
};

/// An allocation as other processes find it: a part of a file without a name. The file exists as
/// long as a process has it open or mapped, so that none remains after a crash.
struct shared_allocation {
  int file;  // a descriptor of the process that made the allocation
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t number;

  friend bool operator==(shared_allocation const&, shared_allocation const&) = default;
};

/// Marks the calling thread as running work that may access device memory. While arena::share moves
/// memory to a file, the constructor blocks. Scopes nest.
class memory_access_scope {
 public:
  memory_access_scope();
  ~memory_access_scope();
  memory_access_scope(memory_access_scope const&) = delete;
  memory_access_scope& operator=(memory_access_scope const&) = delete;
};

/// The memory of one device. All functions may be called from any thread.
///
/// With ROCARRAY_HOST_PROTECT the memory is mapped twice: at the device addresses, which fault
/// unless the arena is open, and at an address that is always accessible (`host_alias`).
class arena {
 public:
  /// Reserves `capacity` bytes of address space; the system provides memory at first access. Throws
  /// std::bad_alloc.
  explicit arena(std::size_t capacity);

  /// Returns device memory, or null if no gap is large enough. Fills the memory with `fresh_poison`
  /// if ROCARRAY_HOST_POISON is set. `is_from_pool` memory cannot be shared.
  void* allocate(std::size_t bytes, bool is_from_pool = false);
  /// Hides the allocation that begins at `data` from find(), so that no later call uses or frees
  /// it. Returns false if there is no such allocation, or if it is hidden already. Must be followed
  /// by free(), or by restore(), which undoes the call.
  bool begin_free(void* data) noexcept;
  void restore(void* data) noexcept;
  /// Frees an allocation. Returns false if none begins at `data`. Fills the memory with
  /// `freed_poison` if ROCARRAY_HOST_POISON is set.
  bool free(void* data);

  /// Returns true if the address is in this device's range, allocated or not, or in an opened
  /// allocation. Takes no lock.
  bool contains(void const* address) const noexcept;
  /// Returns the allocation that contains the address, if any. Not one that is about to be freed.
  std::optional<allocation> find(void const* address) const;

  /// Makes the pages of the allocation that contains `data` accessible to other processes. Without
  /// ROCARRAY_HOST_PROTECT this moves them to a file, and blocks until running kernels and copies
  /// have finished; the addresses stay the same. Returns nothing if there is no allocation that can
  /// be shared. Throws std::bad_alloc.
  std::optional<shared_allocation> share(void const* data);
  /// Maps an allocation of the process `owner`, whose descriptor of the file is open here as
  /// `file`, and returns its address. If it is open already, counts one more opening and returns
  /// the same address if `may_reopen`, else returns null. Throws std::bad_alloc.
  void* open_shared(std::uint64_t owner, shared_allocation const& shared, int file,
                    bool may_reopen);
  /// Undoes one opening, and unmaps the memory after the last one. Returns false if no opened
  /// allocation begins at `data`.
  bool close_shared(void* data);
  std::size_t free_bytes() const;
  std::size_t capacity() const noexcept { return capacity_; }

  /// Returns the address at which copies access the byte at `device_address`; it is accessible also
  /// while the arena is closed.
  std::byte* host_alias(void const* device_address) const noexcept;

  /// Makes the device addresses accessible until the matching call of close(). Calls nest, also on
  /// several threads. Does nothing without ROCARRAY_HOST_PROTECT.
  void open();
  /// Ends one call of open(). The last one makes the device addresses inaccessible.
  void close();

 private:
  struct own_allocation {
    std::size_t bytes;  // as requested
    std::uint64_t number;
    bool is_from_pool;
    bool is_being_freed = false;  // see begin_free
  };
  /// An opened allocation of another process. A slot of opened_ is free while `begin` is 0. The
  /// addresses are atomic for `contains`; the mutex guards the other members.
  struct opened_allocation {
    std::atomic<std::uintptr_t> begin = 0;
    std::atomic<std::uintptr_t> end = 0;
    std::byte* mapping = nullptr;  // the pages that contain the allocation
    std::size_t mapped_bytes = 0;
    std::ptrdiff_t alias_offset = 0;
    std::uint64_t owner = 0;
    shared_allocation shared{};
    unsigned count = 0;
  };

  /// Returns the number of bytes that an allocation occupies.
  std::size_t aligned_size(std::size_t bytes) const noexcept;
  void fill_with_poison(void* data, std::size_t bytes, unsigned char value) const;
  /// Returns the opened allocation that contains the address, or null. Takes no lock.
  opened_allocation const* find_opened(void const* address) const noexcept;
  /// Returns the file that contains the pages of a range, by its offset from the base; -1 if not
  /// all are in it.
  int file_of(std::size_t offset, std::size_t bytes) const;
  /// Moves the pages that overlap [begin, end), offsets from the base, to the file. The caller
  /// holds the mutex, and no work runs. Throws std::bad_alloc.
  void move_to_file_locked(std::size_t begin, std::size_t end);
  /// Sets the access to all device addresses. The caller holds the mutex.
  void protect_locked(int protection) const;

  std::size_t capacity_ = 0;
  std::byte* base_ = nullptr;
  std::ptrdiff_t alias_offset_ = 0;  // from a device address to its host alias; 0: not protected
  mutable std::mutex mutex_;
  std::map<std::byte*, own_allocation> allocations_;  // by address
  std::size_t bytes_in_use_ = 0;
  unsigned open_count_ = 0;
  int file_ = -1;  // of the memory, if any is shared or it is protected
  std::map<std::size_t, std::size_t> in_file_;  // the pages that are in the file: end by begin
  std::array<opened_allocation, 1024> opened_;  // a limit, so that `contains` needs no lock
  std::atomic<std::size_t> opened_slots_ = 0;   // those from here on have never been in use
};

/// Returns the memory of a device, which must exist. The first call reserves that of all devices.
arena& device_arena(int device);
/// Returns the device whose range contains the address, or -1 if it is host memory.
int owning_device(void const* address);

}  // namespace roc::host_hip

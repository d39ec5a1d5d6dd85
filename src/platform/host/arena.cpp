// SPDX-License-Identifier: MIT
#include "platform/host/arena.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "base/no_destructor.hpp"
#include "base/round_up.hpp"
#include "platform/host/api.hpp"
#include "platform/host/page_size.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t min_populate_bytes = std::size_t{1} << 20;

// Maps the file from an offset on, or anonymous memory if `file` is negative.
std::byte* map(std::size_t bytes, int protection, int file, std::size_t offset = 0) {
  int const flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const data =
      mmap(nullptr, bytes, protection, flags | MAP_NORESERVE, file, static_cast<off_t>(offset));
  if (data == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(data);
}

// Returns a file without a name.
int create_file(std::size_t bytes) {
  int const file = memfd_create("rocarray device memory", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  if (file >= 0) ::close(file);
  throw std::bad_alloc();
}

// Held shared by work that accesses device memory, exclusively while memory moves to a file.
// Threads that hold it shared may take it so again, also while another thread waits for it.
std::shared_mutex& memory_mutex() {
  static base::no_destructor<std::shared_mutex> instance;
  return *instance;
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> next = 1;
  return next.fetch_add(1, std::memory_order_relaxed);
}

// The next two functions read memory that may be poisoned for AddressSanitizer, because no array
// uses it. The sanitizer checks accesses, and those of functions of the C library.

__attribute__((no_sanitize("address"))) bool is_zero(std::byte const* page, std::size_t bytes) {
  std::byte all{};
  for (std::size_t i = 0; i != bytes; ++i) all |= page[i];
  return all == std::byte{};
}

// Returns false if the system does not write all bytes.
bool write_to_file(int file, std::byte const* data, std::size_t bytes, std::size_t offset) {
  return ::syscall(SYS_pwrite64, file, data, bytes, static_cast<off_t>(offset)) ==
         static_cast<long>(bytes);
}

}  // namespace

memory_access_scope::memory_access_scope() { memory_mutex().lock_shared(); }
memory_access_scope::~memory_access_scope() { memory_mutex().unlock_shared(); }

arena::arena(std::size_t capacity) : capacity_(capacity) {
  std::size_t const length = base::round_up(capacity, page_size());
  if (!host_settings().protect) {
    base_ = map(length, PROT_READ | PROT_WRITE, -1);
    madvise(base_, length, MADV_HUGEPAGE);
    return;
  }
  file_ = create_file(length);
  base_ = map(length, PROT_NONE, file_);
  alias_offset_ = map(length, PROT_READ | PROT_WRITE, file_) - base_;
  in_file_.emplace(0, length);
}

std::size_t arena::aligned_size(std::size_t bytes) const noexcept {
  return base::round_up(bytes, alignment);
}

void* arena::allocate(std::size_t bytes, bool is_from_pool) {
  std::lock_guard const lock(mutex_);
  std::size_t const needed = aligned_size(bytes);
  if (bytes > capacity_ || needed > capacity_ - bytes_in_use_) return nullptr;
  std::byte* gap = base_;
  for (auto const& [begin, allocated] : allocations_) {
    if (static_cast<std::size_t>(begin - gap) >= needed) break;
    gap = begin + aligned_size(allocated.bytes);
  }
  if (static_cast<std::size_t>(base_ + capacity_ - gap) < needed) return nullptr;
  allocations_.emplace(gap, own_allocation{bytes, next_number(), is_from_pool});
  bytes_in_use_ += needed;
  fill_with_poison(gap, needed, fresh_poison);
  return gap;
}

bool arena::begin_free(void* data) noexcept {
  std::lock_guard const lock(mutex_);
  auto const found = allocations_.find(static_cast<std::byte*>(data));
  return found != allocations_.end() && !std::exchange(found->second.is_being_freed, true);
}

void arena::restore(void* data) noexcept {
  std::lock_guard const lock(mutex_);
  allocations_.find(static_cast<std::byte*>(data))->second.is_being_freed = false;
}

bool arena::free(void* data) {
  std::lock_guard const lock(mutex_);
  auto const found = allocations_.find(static_cast<std::byte*>(data));
  if (found == allocations_.end()) return false;
  std::size_t const length = aligned_size(found->second.bytes);
  bytes_in_use_ -= length;
  allocations_.erase(found);
  fill_with_poison(data, length, freed_poison);
  return true;
}

void arena::fill_with_poison(void* data, std::size_t bytes, unsigned char value) const {
  if (!host_settings().poison) return;
  std::byte* const memory = host_alias(data);
#ifdef MADV_POPULATE_WRITE
  // One call instead of a fault for each page that has not been in use. If it fails, each page
  // faults when it is written.
  if (bytes >= min_populate_bytes) {
    std::byte* const first_page = memory - reinterpret_cast<std::uintptr_t>(memory) % page_size();
    std::size_t const range = static_cast<std::size_t>(memory - first_page) + bytes;
    static_cast<void>(madvise(first_page, range, MADV_POPULATE_WRITE));
  }
#endif
  std::memset(memory, value, bytes);
}

bool arena::contains(void const* address) const noexcept {
  auto const* const byte = static_cast<std::byte const*>(address);
  return (byte >= base_ && byte < base_ + capacity_) || find_opened(address) != nullptr;
}

arena::opened_allocation const* arena::find_opened(void const* address) const noexcept {
  auto const value = reinterpret_cast<std::uintptr_t>(address);
  std::size_t const count = opened_slots_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    std::uintptr_t const begin = opened_[i].begin.load(std::memory_order_acquire);
    if (begin != 0 && value >= begin && value < opened_[i].end.load(std::memory_order_relaxed)) {
      return &opened_[i];
    }
  }
  return nullptr;
}

std::optional<allocation> arena::find(void const* address) const {
  auto* const byte = const_cast<std::byte*>(static_cast<std::byte const*>(address));
  std::lock_guard const lock(mutex_);
  if (opened_allocation const* const opened = find_opened(address)) {
    return allocation{reinterpret_cast<std::byte*>(opened->begin.load()), opened->shared.bytes,
                      opened->shared.number, false, true};
  }
  auto next = allocations_.upper_bound(byte);
  if (next == allocations_.begin()) return std::nullopt;
  auto const& [begin, allocated] = *--next;
  if (byte >= begin + allocated.bytes || allocated.is_being_freed) return std::nullopt;
  return allocation{begin, allocated.bytes, allocated.number, allocated.is_from_pool, false};
}

std::optional<shared_allocation> arena::share(void const* data) {
  auto const found = find(data);
  if (!found || found->is_from_pool || found->is_opened) return std::nullopt;
  auto const offset = static_cast<std::size_t>(found->data - base_);
  shared_allocation const result{file_of(offset, found->bytes), offset, found->bytes,
                                 found->number};
  if (result.file >= 0) return result;
  std::unique_lock const no_work(memory_mutex());
  std::lock_guard const lock(mutex_);
  move_to_file_locked(offset, offset + found->bytes);
  return shared_allocation{file_, offset, found->bytes, found->number};
}

int arena::file_of(std::size_t offset, std::size_t bytes) const {
  std::lock_guard const lock(mutex_);
  std::size_t begin = offset - offset % page_size();
  std::size_t const end = base::round_up(offset + bytes, page_size());
  while (begin < end) {
    auto const next = in_file_.upper_bound(begin);
    if (next == in_file_.begin() || std::prev(next)->second <= begin) return -1;
    begin = std::prev(next)->second;
  }
  return file_;
}

void arena::move_to_file_locked(std::size_t begin, std::size_t end) {
  begin -= begin % page_size();
  end = base::round_up(end, page_size());
  if (file_ < 0) file_ = create_file(base::round_up(capacity_, page_size()));
  while (begin < end) {
    // The range that is in the file and contains `begin`, or the next one.
    auto next = in_file_.upper_bound(begin);
    if (next != in_file_.begin() && std::prev(next)->second > begin) {
      begin = std::prev(next)->second;
      continue;
    }
    std::size_t const part = next == in_file_.end() ? end : std::min(end, next->first);
    for (std::size_t page = begin; page < part; page += page_size()) {
      // Pages of zeros need no memory.
      if (is_zero(base_ + page, page_size())) continue;
      if (!write_to_file(file_, base_ + page, page_size(), page)) throw std::bad_alloc();
    }
    in_file_.emplace(begin, part);
    void* const moved = mmap(base_ + begin, part - begin, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_FIXED, file_, static_cast<off_t>(begin));
    if (moved == MAP_FAILED) {
      in_file_.erase(begin);
      throw std::bad_alloc();
    }
    begin = part;
  }
}

void* arena::open_shared(std::uint64_t owner, shared_allocation const& shared, int file,
                         bool may_reopen) {
  std::lock_guard const lock(mutex_);
  std::size_t const slots = opened_slots_.load();
  opened_allocation* free_slot = slots < opened_.size() ? &opened_[slots] : nullptr;
  for (std::size_t i = 0; i < slots; ++i) {
    opened_allocation& opened = opened_[i];
    if (opened.begin.load() == 0) {
      free_slot = &opened;
    } else if (opened.owner == owner && opened.shared == shared) {
      if (!may_reopen) return nullptr;
      ++opened.count;
      return reinterpret_cast<void*>(opened.begin.load());
    }
  }
  if (free_slot == nullptr) throw std::bad_alloc();
  std::size_t const in_page = shared.offset % page_size();
  std::size_t const first = shared.offset - in_page;
  std::size_t const length = base::round_up(in_page + shared.bytes, page_size());
  bool const is_protected = alias_offset_ != 0;
  int const access = PROT_READ | PROT_WRITE;
  std::byte* const mapping =
      map(length, is_protected && open_count_ == 0 ? PROT_NONE : access, file, first);
  std::ptrdiff_t alias_offset = 0;
  if (is_protected) {
    try {
      alias_offset = map(length, access, file, first) - mapping;
    } catch (...) {
      munmap(mapping, length);
      throw;
    }
  }
  free_slot->mapping = mapping;
  free_slot->mapped_bytes = length;
  free_slot->alias_offset = alias_offset;
  free_slot->owner = owner;
  free_slot->shared = shared;
  free_slot->count = 1;
  auto const begin = reinterpret_cast<std::uintptr_t>(mapping + in_page);
  free_slot->end.store(begin + shared.bytes, std::memory_order_relaxed);
  free_slot->begin.store(begin, std::memory_order_release);
  if (slots < opened_.size() && free_slot == &opened_[slots]) {
    opened_slots_.store(slots + 1, std::memory_order_release);
  }
  return reinterpret_cast<void*>(begin);
}

bool arena::close_shared(void* data) {
  std::lock_guard const lock(mutex_);
  auto* const opened = const_cast<opened_allocation*>(find_opened(data));
  if (opened == nullptr || opened->begin.load() != reinterpret_cast<std::uintptr_t>(data)) {
    return false;
  }
  if (--opened->count != 0) return true;
  opened->begin.store(0, std::memory_order_release);
  munmap(opened->mapping, opened->mapped_bytes);
  if (opened->alias_offset != 0) {
    munmap(opened->mapping + opened->alias_offset, opened->mapped_bytes);
  }
  return true;
}

std::size_t arena::free_bytes() const {
  std::lock_guard const lock(mutex_);
  return capacity_ - bytes_in_use_;
}

std::byte* arena::host_alias(void const* device_address) const noexcept {
  auto* const byte = const_cast<std::byte*>(static_cast<std::byte const*>(device_address));
  if (alias_offset_ == 0) return byte;
  opened_allocation const* const opened = find_opened(device_address);
  return byte + (opened != nullptr ? opened->alias_offset : alias_offset_);
}

void arena::open() {
  if (alias_offset_ == 0) return;
  std::lock_guard const lock(mutex_);
  if (open_count_++ == 0) protect_locked(PROT_READ | PROT_WRITE);
}

void arena::close() {
  if (alias_offset_ == 0) return;
  std::lock_guard const lock(mutex_);
  if (--open_count_ == 0) protect_locked(PROT_NONE);
}

void arena::protect_locked(int protection) const {
  mprotect(base_, capacity_, protection);
  std::size_t const count = opened_slots_.load();
  for (std::size_t i = 0; i < count; ++i) {
    if (opened_[i].begin.load() == 0) continue;
    mprotect(opened_[i].mapping, opened_[i].mapped_bytes, protection);
  }
}

namespace {

// The memory of all devices. Only that of devices that exist is constructed: an arena is 90 KiB.
class arena_table {
 public:
  arena_table() noexcept {}  // does not write the storage

  std::size_t size() const noexcept { return size_; }
  arena& operator[](std::size_t i) noexcept {
    return *std::launder(reinterpret_cast<arena*>(storage_ + i * sizeof(arena)));
  }
  void add(std::size_t bytes) {
    ::new (storage_ + size_ * sizeof(arena)) arena(bytes);
    ++size_;
  }

 private:
  std::size_t size_ = 0;
  alignas(arena) std::byte storage_[max_device_count * sizeof(arena)];
};

// Never destroyed: static destructors of the program still use device memory. Not on the heap, so
// that the access checker never protects the arenas' locks.
arena_table& arenas() {
  static base::no_destructor<arena_table> instance;
  [[maybe_unused]] static bool const is_complete = [] {
    auto const count = static_cast<std::size_t>(host_settings().device_count);
    while ((*instance).size() != count) (*instance).add(host_settings().device_bytes);
    return true;
  }();
  return *instance;
}

}  // namespace

arena& device_arena(int device) { return arenas()[static_cast<std::size_t>(device)]; }

int owning_device(void const* address) {
  arena_table& device_arenas = arenas();
  for (std::size_t i = 0; i < device_arenas.size(); ++i) {
    if (device_arenas[i].contains(address)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace roc::host_hip

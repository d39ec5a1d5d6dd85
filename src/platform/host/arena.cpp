// SPDX-License-Identifier: MIT
#include "platform/host/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <new>
#include <optional>

#include "base/no_destructor.hpp"
#include "base/round_up.hpp"
#include "platform/host/api.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

constexpr std::size_t alignment = 256;

// Maps the file, or anonymous memory if `file` is negative.
std::byte* map(std::size_t bytes, int protection, int file) {
  int const flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const data = mmap(nullptr, bytes, protection, flags | MAP_NORESERVE, file, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(data);
}

}  // namespace

arena::arena(std::size_t capacity) : capacity_(capacity) {
  std::size_t const length = base::round_up(capacity, static_cast<std::size_t>(getpagesize()));
  if (!host_settings().protect) {
    base_ = map(length, PROT_READ | PROT_WRITE, -1);
    madvise(base_, length, MADV_HUGEPAGE);
    return;
  }
  int const file = memfd_create("rocarray device memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(length)) != 0) throw std::bad_alloc();
  base_ = map(length, PROT_NONE, file);
  alias_offset_ = map(length, PROT_READ | PROT_WRITE, file) - base_;
  ::close(file);
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
  allocations_.emplace(gap, size{bytes, is_from_pool});
  bytes_in_use_ += needed;
  fill_with_poison(gap, needed, fresh_poison);
  return gap;
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
  if (host_settings().poison) std::memset(host_alias(data), value, bytes);
}

bool arena::contains(void const* address) const noexcept {
  auto const* const byte = static_cast<std::byte const*>(address);
  return byte >= base_ && byte < base_ + capacity_;
}

std::optional<allocation> arena::find(void const* address) const {
  auto* const byte = const_cast<std::byte*>(static_cast<std::byte const*>(address));
  std::lock_guard const lock(mutex_);
  auto next = allocations_.upper_bound(byte);
  if (next == allocations_.begin()) return std::nullopt;
  auto const& [begin, allocated] = *--next;
  if (byte >= begin + allocated.bytes) return std::nullopt;
  return allocation{begin, allocated.bytes, allocated.is_from_pool};
}

std::size_t arena::free_bytes() const {
  std::lock_guard const lock(mutex_);
  return capacity_ - bytes_in_use_;
}

std::byte* arena::host_alias(void const* device_address) const noexcept {
  return const_cast<std::byte*>(static_cast<std::byte const*>(device_address)) + alias_offset_;
}

void arena::open() {
  if (alias_offset_ == 0) return;
  std::lock_guard const lock(mutex_);
  if (open_count_++ == 0) mprotect(base_, capacity_, PROT_READ | PROT_WRITE);
}

void arena::close() {
  if (alias_offset_ == 0) return;
  std::lock_guard const lock(mutex_);
  if (--open_count_ == 0) mprotect(base_, capacity_, PROT_NONE);
}

namespace {

using arena_table = std::array<std::optional<arena>, max_device_count>;

// Never destroyed: static destructors of the program still use device memory. Not on the heap, so
// that the access checker never protects the arenas' locks.
arena_table& arenas() {
  static base::no_destructor<arena_table> instance;
  [[maybe_unused]] static bool const is_complete = [] {
    auto const count = static_cast<std::size_t>(host_settings().device_count);
    for (std::size_t i = 0; i < count; ++i) (*instance)[i].emplace(host_settings().device_bytes);
    return true;
  }();
  return *instance;
}

}  // namespace

arena& device_arena(int device) { return *arenas()[static_cast<std::size_t>(device)]; }

int owning_device(void const* address) {
  auto const& device_arenas = arenas();
  for (std::size_t i = 0; i < device_arenas.size() && device_arenas[i]; ++i) {
    if (device_arenas[i]->contains(address)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace roc::host_hip

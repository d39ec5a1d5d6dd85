// SPDX-License-Identifier: MIT
#include "platform/host/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "platform/host/api.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

constexpr std::size_t granularity = 256;

std::byte* map(std::size_t bytes, int protection, int file) {
  int const flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const data = mmap(nullptr, bytes, protection, flags | MAP_NORESERVE, file, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(data);
}

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

arena::arena(std::size_t capacity) : capacity_(capacity) {
  std::size_t const length = round_up(capacity, static_cast<std::size_t>(getpagesize()));
  if (!the_settings().protect) {
    base_ = map(length, PROT_READ | PROT_WRITE, -1);
    madvise(base_, length, MADV_HUGEPAGE);
    return;
  }
  // The same memory twice: closed where the program's pointers point, open for the provider.
  int const file = memfd_create("rocarray device memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(length)) != 0) throw std::bad_alloc();
  base_ = map(length, PROT_NONE, file);
  alias_ = map(length, PROT_READ | PROT_WRITE, file) - base_;
  ::close(file);
}

std::size_t arena::used(std::size_t bytes) const noexcept { return round_up(bytes, granularity); }

void* arena::allocate(std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  std::size_t const wanted = used(bytes);
  if (bytes > capacity_ || wanted > capacity_ - in_use_) return nullptr;
  std::byte* place = base_;
  for (auto const& [begin, length] : allocations_) {
    if (static_cast<std::size_t>(begin - place) >= wanted) break;
    place = begin + used(length);
  }
  if (static_cast<std::size_t>(base_ + capacity_ - place) < wanted) return nullptr;
  allocations_.emplace(place, bytes);
  in_use_ += wanted;
  poison(place, wanted, fresh_poison);
  return place;
}

bool arena::free(void* data) {
  std::lock_guard const lock(mutex_);
  auto const found = allocations_.find(static_cast<std::byte*>(data));
  if (found == allocations_.end()) return false;
  std::size_t const length = used(found->second);
  in_use_ -= length;
  allocations_.erase(found);
  poison(data, length, freed_poison);
  return true;
}

void arena::poison(void* data, std::size_t bytes, unsigned char with) const {
  if (the_settings().poison) std::memset(writable(data), with, bytes);
}

bool arena::owns(void const* address) const noexcept {
  auto const* const byte = static_cast<std::byte const*>(address);
  return byte >= base_ && byte < base_ + capacity_;
}

std::optional<allocation> arena::find(void const* address) const {
  auto* const byte = const_cast<std::byte*>(static_cast<std::byte const*>(address));
  std::lock_guard const lock(mutex_);
  auto next = allocations_.upper_bound(byte);
  if (next == allocations_.begin()) return std::nullopt;
  auto const& [begin, bytes] = *--next;
  if (byte >= begin + bytes) return std::nullopt;
  return allocation{begin, bytes};
}

std::size_t arena::free_bytes() const {
  std::lock_guard const lock(mutex_);
  return capacity_ - in_use_;
}

std::byte* arena::writable(void const* device_address) const noexcept {
  return const_cast<std::byte*>(static_cast<std::byte const*>(device_address)) + alias_;
}

void arena::open() {
  if (alias_ == 0) return;
  std::lock_guard const lock(mutex_);
  if (opened_++ == 0) mprotect(base_, capacity_, PROT_READ | PROT_WRITE);
}

void arena::close() {
  if (alias_ == 0) return;
  std::lock_guard const lock(mutex_);
  if (--opened_ == 0) mprotect(base_, capacity_, PROT_NONE);
}

namespace {

// Made at the first use; leaked on purpose, as everything that runs until the end of the process.
std::vector<std::unique_ptr<arena>> const& arenas() {
  static auto* const all = [] {
    auto* const made = new std::vector<std::unique_ptr<arena>>;
    for (int i = 0; i < the_settings().devices; ++i) {
      made->push_back(std::make_unique<arena>(the_settings().memory));
    }
    return made;
  }();
  return *all;
}

}  // namespace

arena& memory_of(int device) { return *arenas()[static_cast<std::size_t>(device)]; }

int device_owning(void const* address) {
  auto const& all = arenas();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->owns(address)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace roc::host_hip

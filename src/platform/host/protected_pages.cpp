// SPDX-License-Identifier: MIT
#include "platform/host/protected_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "base/memory_maps.hpp"
#include "base/round_up.hpp"
#include "platform/host/page_size.hpp"

namespace roc::host_hip {
namespace {

// Returns false if the kernel refuses: pages are not mapped, are parts of a huge page, or the
// process would have too many mappings.
bool change_protection(std::uintptr_t begin, std::uintptr_t end, int protection) noexcept {
  return ::mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
}

// Returns true if the mapping has huge pages of MAP_HUGETLB, whose parts cannot be protected.
bool has_huge_pages(base::mapping const& pages) noexcept {
  return pages.path.starts_with("/anon_hugepage");
}

}  // namespace

void* mapped_memory_resource::do_allocate(std::size_t bytes, std::size_t) {
  void* const data = ::mmap(nullptr, base::round_up(bytes, page_size()), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return data;
}

void mapped_memory_resource::do_deallocate(void* data, std::size_t bytes, std::size_t) {
  ::munmap(data, base::round_up(bytes, page_size()));
}

bool mapped_memory_resource::do_is_equal(std::pmr::memory_resource const& other) const noexcept {
  return this == &other;
}

int protected_pages::protection_of(segment const& pages) const noexcept {
  if (is_open() || pages.is_shared) return pages.protection;
  if (pages.writers != 0) return PROT_NONE;
  return pages.readers != 0 ? pages.protection & ~PROT_WRITE : pages.protection;
}

void protected_pages::apply(std::uintptr_t begin, segment& pages) noexcept {
  if (change_protection(begin, pages.end, protection_of(pages)) || pages.is_shared) return;
  pages.is_shared = true;
  change_protection(begin, pages.end, pages.protection);  // a part may have changed
}

protected_pages::table::const_iterator protected_pages::find(
    std::uintptr_t address) const noexcept {
  auto const next = segments_.upper_bound(address);
  if (next == segments_.begin()) return segments_.end();
  auto const found = std::prev(next);
  return address < found->second.end ? found : segments_.end();
}

void protected_pages::split(std::uintptr_t address) {
  auto const found = find(address);
  if (found == segments_.end() || found->first == address) return;
  segments_.emplace_hint(std::next(found), address, found->second);
  segments_.find(found->first)->second.end = address;
}

void protected_pages::add_segments(address_range pages) {
  bool is_complete = true;
  for (std::uintptr_t next = pages.begin; next < pages.end && is_complete;) {
    auto const found = find(next);
    is_complete = found != segments_.end();
    if (is_complete) next = found->second.end;
  }
  if (is_complete) return;
  base::mapping_reader maps;
  for (base::mapping found; maps.next(found) && found.begin < pages.end;) {
    if (found.end <= pages.begin || found.protection == PROT_NONE) continue;
    if (has_huge_pages(found)) continue;
    std::uintptr_t next = std::max(found.begin, pages.begin);
    std::uintptr_t const last = std::min(found.end, pages.end);
    while (next < last) {
      if (auto const existing = find(next); existing != segments_.end()) {
        next = existing->second.end;
        continue;
      }
      auto const following = segments_.upper_bound(next);
      std::uintptr_t const end =
          following == segments_.end() ? last : std::min(last, following->first);
      segments_.emplace(next, segment{end, found.protection});
      next = end;
    }
  }
}

void protected_pages::add(address_range pages, bool is_written) {
  add_segments(pages);
  split(pages.begin);
  split(pages.end);
  for (auto next = segments_.lower_bound(pages.begin);
       next != segments_.end() && next->first < pages.end; ++next) {
    ++(is_written ? next->second.writers : next->second.readers);
    apply(next->first, next->second);
  }
}

void protected_pages::remove(address_range pages, bool is_written) noexcept {
  for (auto next = segments_.lower_bound(pages.begin);
       next != segments_.end() && next->first < pages.end;) {
    segment& found = next->second;
    unsigned& count = is_written ? found.writers : found.readers;
    if (count != 0) --count;  // 0 if the pages were lost, and are used again
    apply(next->first, found);
    next = found.writers + found.readers == 0 ? segments_.erase(next) : std::next(next);
  }
}

void protected_pages::open() noexcept {
  if (open_count_++ != 0) return;
  for (auto& [begin, pages] : segments_) apply(begin, pages);
}

void protected_pages::close() noexcept {
  if (--open_count_ != 0) return;
  for (auto& [begin, pages] : segments_) apply(begin, pages);
}

bool protected_pages::contains(std::uintptr_t address) const noexcept {
  return find(address) != segments_.end();
}

bool protected_pages::overlaps(address_range range) const noexcept {
  auto const next = segments_.lower_bound(range.begin);
  return contains(range.begin) || (next != segments_.end() && next->first < range.end);
}

protected_pages::segment* protected_pages::separate_page(std::uintptr_t address) noexcept {
  std::uintptr_t const page = address / page_size() * page_size();
  try {
    split(page);
    split(page + page_size());
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
  auto const found = segments_.find(page);
  return found == segments_.end() ? nullptr : &found->second;
}

void protected_pages::open_page(std::uintptr_t address, pid_t thread) noexcept {
  if (segment* const page = separate_page(address); page != nullptr) {
    page->is_shared = page->is_shared || (page->thread != 0 && page->thread != thread);
    page->thread = thread;
  }
  auto const found = find(address);
  if (found == segments_.end()) return;
  std::uintptr_t const page = address / page_size() * page_size();
  if (change_protection(page, page + page_size(), found->second.protection)) return;
  // The access must not fault forever.
  segment& pages = segments_.find(found->first)->second;
  pages.is_shared = true;
  change_protection(found->first, pages.end, pages.protection);
}

void protected_pages::share_page(std::uintptr_t address) noexcept {
  open_page(address, 0);
  // If memory is exhausted, another access opens the page again.
  if (segment* const page = separate_page(address); page != nullptr) page->is_shared = true;
}

void protected_pages::protect_page(std::uintptr_t address) noexcept {
  auto const found = find(address);
  if (found == segments_.end()) return;
  std::uintptr_t const page = address / page_size() * page_size();
  change_protection(page, page + page_size(), protection_of(found->second));
}

bool protected_pages::find_lost(address_range& lost) const noexcept {
  base::mapping_reader maps;
  if (!maps.is_open()) return false;
  base::mapping found;
  for (auto const& [begin, pages] : segments_) {
    for (std::uintptr_t next = begin; next < pages.end; next = found.end) {
      while (found.end <= next) {
        if (!maps.next(found)) found.begin = found.end = UINTPTR_MAX;
      }
      if (found.begin > next || found.protection != protection_of(pages)) {
        lost = {next, std::min(found.begin > next ? found.begin : found.end, pages.end)};
        return true;
      }
    }
  }
  return false;
}

address_range protected_pages::forget(address_range range) noexcept {
  try {
    split(range.begin);
    split(range.end);
  } catch (std::bad_alloc const&) {
    auto const found = find(range.begin);
    range = {found->first, found->second.end};
    for (std::uintptr_t page = range.begin; page < range.end; page += page_size()) {
      change_protection(page, page + page_size(), found->second.protection);
    }
  }
  segments_.erase(segments_.lower_bound(range.begin), segments_.lower_bound(range.end));
  return range;
}

}  // namespace roc::host_hip

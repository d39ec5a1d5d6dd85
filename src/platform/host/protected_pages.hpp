// SPDX-License-Identifier: MIT
// Pages of host memory whose access is restricted while work that uses them is pending.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>

namespace roc::host_hip {

/// A half-open range of addresses.
struct address_range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  bool contains(std::uintptr_t address) const { return address >= begin && address < end; }
  bool overlaps(address_range other) const { return begin < other.end && other.begin < end; }
};

/// Memory that no allocation of the program shares pages with. The tables of the access checker are
/// in it, because signal handlers read them.
class mapped_memory_resource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(std::pmr::memory_resource const& other) const noexcept override;
};

/// The protected pages of the process. Ranges may overlap: a page has the strictest protection. The
/// caller holds a lock during each call.
class protected_pages {
 public:
  explicit protected_pages(std::pmr::memory_resource* tables) : segments_(tables) {}

  /// Protects whole pages: against all accesses if work writes them (`is_written`), else against
  /// writes. Leaves out pages that are not mapped, not accessible, or huge. Throws std::bad_alloc.
  void add(address_range pages, bool is_written);
  /// Ends the protection of an equal call of add.
  void remove(address_range pages, bool is_written) noexcept;

  /// Gives all pages the access that they had, until the matching call of close(). Calls nest.
  void open() noexcept;
  void close() noexcept;
  bool is_open() const noexcept { return open_count_ != 0; }

  bool contains(std::uintptr_t address) const noexcept;
  bool overlaps(address_range range) const noexcept;
  /// Gives the page of the address the access that it had, until protect_page(). If another thread
  /// has opened the page before, shares it: one of them may hold a lock on the page, for which the
  /// other one waits in the kernel after the page was protected again.
  void open_page(std::uintptr_t address, pid_t thread) noexcept;
  /// Opens the page of the address until no work uses it. For pages with locks, which the kernel
  /// accesses.
  void share_page(std::uintptr_t address) noexcept;
  /// Gives the page of the address the access that it must have now. Does nothing if it is not
  /// protected.
  void protect_page(std::uintptr_t address) noexcept;

  /// Calls lost(range) for each range that was unmapped, or mapped anew, since it was protected,
  /// and forgets its protection.
  template <class F>
  void remove_lost(F lost) {
    for (address_range range; find_lost(range);) {
      lost(forget(range));
    }
  }

 private:
  struct segment {
    std::uintptr_t end;
    int protection;          // before any call of add
    unsigned readers = 0;    // calls of add by work that reads
    unsigned writers = 0;    // calls of add by work that writes
    bool is_shared = false;  // open: share_page, or the kernel cannot protect the pages
    pid_t thread = 0;        // that opened the page; 0: none
  };
  using table = std::pmr::map<std::uintptr_t, segment>;  // by first address

  int protection_of(segment const& pages) const noexcept;
  /// Gives the pages their protection. They become shared if the kernel refuses it.
  void apply(std::uintptr_t begin, segment& pages) noexcept;
  table::const_iterator find(std::uintptr_t address) const noexcept;
  /// Makes a segment begin at the address if it is inside of one.
  void split(std::uintptr_t address);
  /// Makes the page of the address a segment and returns it. Returns null if no segment contains
  /// the address, or memory is exhausted.
  segment* separate_page(std::uintptr_t address) noexcept;
  /// Adds segments for the parts of the range that have none.
  void add_segments(address_range pages);
  /// Finds the first pages of a segment that do not have their protection any more.
  bool find_lost(address_range& lost) const noexcept;
  /// Removes a part of a segment. Returns that part; if memory is exhausted, the whole segment,
  /// whose pages are then open.
  address_range forget(address_range range) noexcept;

  table segments_;
  unsigned open_count_ = 0;
};

}  // namespace roc::host_hip

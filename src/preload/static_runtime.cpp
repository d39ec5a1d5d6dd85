// SPDX-License-Identifier: MIT
#include "preload/static_runtime.hpp"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <span>
#include <string_view>

#include "preload/publication_lock.hpp"
#include "preload/without_cancellation.hpp"

namespace roc::preload {
namespace {

using header = ElfW(Ehdr);
using program_header = ElfW(Phdr);
using section = ElfW(Shdr);
using symbol = ElfW(Sym);

// The file and the segments of a loaded object.
struct object_file {
  base::byte_range object;  // the object that is searched
  bool is_found = false;
  std::uintptr_t load_address = 0;
  std::array<program_header, 32> segments;
  std::size_t segment_count = 0;
  char path[PATH_MAX];
};

int find_segments(dl_phdr_info* info, std::size_t, void* data) noexcept {
  auto& file = *static_cast<object_file*>(data);
  std::span const segments(info->dlpi_phdr, info->dlpi_phnum);
  bool const is_object = std::ranges::any_of(segments, [&](program_header const& segment) {
    return segment.p_type == PT_LOAD && info->dlpi_addr + segment.p_vaddr == file.object.begin;
  });
  if (!is_object) return 0;
  if (segments.size() > file.segments.size()) return 1;
  file.is_found = true;
  file.load_address = info->dlpi_addr;
  file.segment_count = segments.size();
  std::ranges::copy(segments, file.segments.begin());
  // The program's own name is empty.
  char const* const path = *info->dlpi_name != '\0' ? info->dlpi_name : "/proc/self/exe";
  std::snprintf(file.path, sizeof file.path, "%s", path);
  return 1;
}

// A file that is mapped for reading; empty if it cannot be mapped.
class mapped_file {
 public:
  explicit mapped_file(char const* path) noexcept {
    int const descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor == -1) return;
    struct stat status{};
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      auto const bytes = static_cast<std::size_t>(status.st_size);
      void* const data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (data != MAP_FAILED) bytes_ = {static_cast<char const*>(data), bytes};
    }
    close(descriptor);
  }
  ~mapped_file() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;

  // Returns the `count` values at an offset, or none if they are not all in the file.
  template <class T>
  std::span<T const> values(std::uint64_t offset, std::uint64_t count) const noexcept {
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(T) ||
        offset % alignof(T) != 0) {
      return {};
    }
    return {reinterpret_cast<T const*>(bytes_.data() + offset), static_cast<std::size_t>(count)};
  }

 private:
  std::span<char const> bytes_;
};

// Returns true if the file has the segments of the loaded object. It may have been replaced.
bool is_loaded_file(mapped_file const& mapped, header const& head,
                    object_file const& file) noexcept {
  auto const segments = mapped.values<program_header>(head.e_phoff, head.e_phnum);
  return segments.size() == file.segment_count &&
         std::memcmp(segments.data(), file.segments.data(), segments.size_bytes()) == 0;
}

// The functions of an object, by its symbol table.
class function_table {
 public:
  explicit function_table(object_file const& file) noexcept : mapped_(file.path) {
    auto const heads = mapped_.values<header>(0, 1);
    if (heads.empty() || std::memcmp(heads[0].e_ident, ELFMAG, SELFMAG) != 0 ||
        heads[0].e_ident[EI_CLASS] != ELFCLASS64 || !is_loaded_file(mapped_, heads[0], file)) {
      return;
    }
    auto const sections = mapped_.values<section>(heads[0].e_shoff, heads[0].e_shnum);
    auto const table = std::ranges::find(sections, unsigned{SHT_SYMTAB}, &section::sh_type);
    if (table == sections.end() || table->sh_link >= sections.size()) return;
    section const& names = sections[table->sh_link];
    names_ = mapped_.values<char>(names.sh_offset, names.sh_size);
    if (names_.empty() || names_.back() != '\0') return;
    symbols_ = mapped_.values<symbol>(table->sh_offset, table->sh_size / sizeof(symbol));
  }

  // Calls visit(name, range) for each function that the object defines.
  template <class Visit>
  void for_each(Visit visit) const noexcept {
    for (symbol const& entry : symbols_) {
      bool const is_function = (entry.st_info & 0xf) == STT_FUNC && entry.st_shndx != SHN_UNDEF;
      if (!is_function || entry.st_name >= names_.size()) continue;
      visit(std::string_view(names_.data() + entry.st_name),
            base::byte_range{entry.st_value, entry.st_value + entry.st_size});
    }
  }

 private:
  mapped_file mapped_;
  std::span<char const> names_;
  std::span<symbol const> symbols_;
};

// The internal functions of the runtime. Those of early versions of CUDA have the second form.
bool is_internal_name(std::string_view name) noexcept {
  return name.starts_with("libcudart_static_") || name.starts_with("__cudart");
}

// A function of the program may have such a name too, in C or in Fortran.
bool is_runtime_name(std::string_view name) noexcept {
  return is_internal_name(name) || name.starts_with("cuda") || name.starts_with("__cuda");
}

// Returns the addresses in the file of the functions around cudaMemcpy that have the runtime's
// names, from the first to the last internal one. The runtime is one section of one object file, so
// they are contiguous. Its initializers are in another section, among those of the program.
base::byte_range find_runtime_functions(function_table const& functions) noexcept {
  std::uintptr_t memcpy_address = 0;
  functions.for_each([&](std::string_view name, base::byte_range range) {
    if (name == "cudaMemcpy") memcpy_address = range.begin;
  });
  if (memcpy_address == 0) return {};
  base::byte_range gap{0, UINTPTR_MAX};  // around cudaMemcpy, without functions of the program
  functions.for_each([&](std::string_view name, base::byte_range range) {
    if (is_runtime_name(name)) return;
    if (range.begin < memcpy_address) {
      gap.begin = std::max(gap.begin, range.end);
    } else {
      gap.end = std::min(gap.end, range.begin);
    }
  });
  base::byte_range result{UINTPTR_MAX, 0};
  functions.for_each([&](std::string_view name, base::byte_range range) {
    if (is_internal_name(name) && gap.contains(range)) {
      result = base::bounding_range(result, range);
    }
  });
  bool const is_around = result.begin < memcpy_address && memcpy_address < result.end;
  return is_around ? result : base::byte_range{};
}

base::byte_range read_static_runtime(base::byte_range object) noexcept {
  without_cancellation const uncancelled;
  object_file file;
  file.object = object;
  dl_iterate_phdr(find_segments, &file);
  if (!file.is_found) return {};
  base::byte_range const found = find_runtime_functions(function_table(file));
  if (found == base::byte_range{}) return {};
  return {found.begin + file.load_address, found.end + file.load_address};
}

struct cache_entry {
  base::byte_range object;
  base::byte_range runtime;
};

// Constant-initialized and never destroyed: the program may copy in its static constructors and
// destructors. Entries are added under the lock `publication`, and published by their number.
constinit std::array<cache_entry, 64> cache{};
constinit std::atomic<std::size_t> cached_objects = 0;

cache_entry const* find_entry(base::byte_range object) noexcept {
  std::span const entries(cache.data(), cached_objects.load(std::memory_order_acquire));
  auto const found = std::ranges::find(entries, object, &cache_entry::object);
  return found != entries.end() ? &*found : nullptr;
}

}  // namespace

base::byte_range find_static_runtime(base::byte_range object) noexcept {
  if (cache_entry const* const entry = find_entry(object); entry != nullptr) return entry->runtime;
  // Otherwise each copy would read a file.
  if (cached_objects.load(std::memory_order_relaxed) == cache.size()) return {};
  base::byte_range const runtime = read_static_runtime(object);
  std::lock_guard const lock(publication);
  std::size_t const count = cached_objects.load(std::memory_order_relaxed);
  // Another thread may have added the object.
  if (find_entry(object) != nullptr || count == cache.size()) return runtime;
  cache[count] = {object, runtime};
  cached_objects.store(count + 1, std::memory_order_release);
  return runtime;
}

}  // namespace roc::preload

// SPDX-License-Identifier: MIT
#include "platform/host/kernel_symbols.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_cache.hpp"
#include "base/no_destructor.hpp"
#include "platform/host/code_place.hpp"

namespace roc::host_hip {
namespace {

// The loaded shared object that contains an address.
struct loaded_object {
  std::uintptr_t address;
  char const* path = nullptr;  // valid while it is loaded; null if no object contains the address
  std::uintptr_t base = 0;
  std::byte* thread_local_memory = nullptr;  // of the calling thread
  std::size_t thread_local_bytes = 0;
};

std::size_t thread_local_bytes_of(dl_phdr_info const& object) noexcept {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type == PT_TLS) return object.dlpi_phdr[i].p_memsz;
  }
  return 0;
}

constexpr char const* path_of_program = "/proc/self/exe";

loaded_object find_object(void const* address) noexcept {
  loaded_object result{reinterpret_cast<std::uintptr_t>(address)};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto& found = *static_cast<loaded_object*>(data);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          auto const& segment = object->dlpi_phdr[i];
          std::uintptr_t const begin = object->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || found.address - begin >= segment.p_memsz) continue;
          bool const is_program = object->dlpi_name == nullptr || *object->dlpi_name == '\0';
          found.path = is_program ? path_of_program : object->dlpi_name;
          found.base = object->dlpi_addr;
          found.thread_local_memory = static_cast<std::byte*>(object->dlpi_tls_data);
          found.thread_local_bytes = thread_local_bytes_of(*object);
          return 1;
        }
        return 0;
      },
      &result);
  return result;
}

// A file in memory; empty if it cannot be read.
class mapped_file {
 public:
  explicit mapped_file(char const* path) {
    int const file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (::fstat(file, &status) == 0 && status.st_size > 0) {
      auto const size = static_cast<std::size_t>(status.st_size);
      void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) {
        data_ = static_cast<std::byte const*>(memory);
        size_ = size;
      }
    }
    ::close(file);
  }
  ~mapped_file() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  }
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;

  // Returns `count` objects at an offset, or null if the file is too short.
  template <class T>
  T const* at(std::size_t offset, std::size_t count = 1) const noexcept {
    bool const fits = offset <= size_ && count <= (size_ - offset) / sizeof(T);
    return fits ? reinterpret_cast<T const*>(data_ + offset) : nullptr;
  }

 private:
  std::byte const* data_ = nullptr;
  std::size_t size_ = 0;
};

// The symbols of a file.
struct symbol_table {
  ElfW(Sym) const* symbols = nullptr;
  std::size_t count = 0;
  char const* names = nullptr;
  std::size_t name_bytes = 0;

  std::string_view name(ElfW(Sym) const& symbol) const noexcept {
    if (symbol.st_name >= name_bytes) return {};
    return {names + symbol.st_name, ::strnlen(names + symbol.st_name, name_bytes - symbol.st_name)};
  }
};

symbol_table read_symbols(mapped_file const& file) noexcept {
  symbol_table result;
  auto const* const header = file.at<ElfW(Ehdr)>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return result;
  auto const* const sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  if (sections == nullptr) return result;
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    ElfW(Shdr) const& section = sections[i];
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= header->e_shnum) continue;
    ElfW(Shdr) const& names = sections[section.sh_link];
    std::size_t const count = section.sh_size / sizeof(ElfW(Sym));
    auto const* const symbols = file.at<ElfW(Sym)>(section.sh_offset, count);
    auto const* const text = file.at<char>(names.sh_offset, names.sh_size);
    if (symbols != nullptr && text != nullptr) result = {symbols, count, text, names.sh_size};
  }
  return result;
}

bool has_type(ElfW(Sym) const& symbol, unsigned type) noexcept {
  return (symbol.st_info & 0xf) == type;
}
bool is_local(ElfW(Sym) const& symbol) noexcept { return symbol.st_info >> 4 == STB_LOCAL; }

std::string demangle(std::string const& name) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return text == nullptr ? name : text.get();
}

// Sets the name of the kernel, which contains the names of the functions or types around it.
// Returns its symbol; the number of symbols if there is none.
std::size_t find_kernel(symbol_table const& table, loaded_object const& object,
                        kernel_symbols& kernel) {
  for (std::size_t i = 0; i < table.count; ++i) {
    ElfW(Sym) const& symbol = table.symbols[i];
    if (!has_type(symbol, STT_FUNC) || object.base + symbol.st_value != object.address) continue;
    std::string_view const name = table.name(symbol);
    if (!name.starts_with("_Z")) continue;
    kernel.name = demangle(std::string(name));
    return i;
  }
  return table.count;
}

bool is_thread_local(ElfW(Sym) const& symbol) noexcept {
  return has_type(symbol, STT_TLS) && symbol.st_shndx != SHN_UNDEF;
}

// Returns true unless the names of local variables were removed from the file.
bool has_local_symbols(symbol_table const& table) noexcept {
  return std::any_of(table.symbols, table.symbols + table.count, [](ElfW(Sym) const& symbol) {
    return is_local(symbol) && has_type(symbol, STT_FUNC);
  });
}

// Returns the symbols in a range of the table that are variables of the kernel.
std::vector<ElfW(Sym)> variables_in(symbol_table const& table, std::size_t first, std::size_t last,
                                    std::string_view prefix) {
  std::vector<ElfW(Sym)> result;
  for (std::size_t i = first; i < last; ++i) {
    ElfW(Sym) const& symbol = table.symbols[i];
    if (is_thread_local(symbol) && table.name(symbol).starts_with(prefix)) result.push_back(symbol);
  }
  return result;
}

// Returns true if another source file has a local function of the same name.
bool has_namesake(symbol_table const& table, std::size_t kernel) {
  std::string_view const name = table.name(table.symbols[kernel]);
  for (std::size_t i = 0; i < table.count; ++i) {
    ElfW(Sym) const& symbol = table.symbols[i];
    if (i == kernel || !is_local(symbol) || !has_type(symbol, STT_FUNC)) continue;
    if (table.name(symbol) == name) return true;
  }
  return false;
}

// Returns the symbols of the kernel's variables.
std::vector<ElfW(Sym)> variables_of(symbol_table const& table, std::size_t kernel) {
  // Those of f() are _ZZ1fvE4name.
  std::string const prefix =
      std::string("_ZZ").append(table.name(table.symbols[kernel]).substr(2)) + "E";
  // Two source files may have local kernels of the same name. The local symbols of a file follow
  // its name; those of hidden functions may be elsewhere.
  if (is_local(table.symbols[kernel])) {
    std::size_t first = kernel;
    while (first > 0 && !has_type(table.symbols[first], STT_FILE)) --first;
    std::size_t last = kernel;
    while (last < table.count && !has_type(table.symbols[last], STT_FILE)) ++last;
    auto result = variables_in(table, first, last, prefix);
    if (!result.empty() || has_namesake(table, kernel)) return result;
  }
  return variables_in(table, 0, table.count, prefix);
}

void read_variables(symbol_table const& table, std::size_t symbol_of_kernel,
                    kernel_symbols& kernel) {
  for (ElfW(Sym) const& symbol : variables_of(table, symbol_of_kernel)) {
    std::string const text = demangle(std::string(table.name(symbol)));
    std::size_t const scope = text.rfind("::");
    kernel.shared_variables.push_back(
        {scope == text.npos ? text : text.substr(scope + 2), symbol.st_value, symbol.st_size, 0});
    kernel.shared_bytes += symbol.st_size;
  }
  auto const by_offset = [](shared_variable const& a, shared_variable const& b) {
    return a.offset < b.offset;
  };
  std::sort(kernel.shared_variables.begin(), kernel.shared_variables.end(), by_offset);
}

// Finds the padding after each variable of the kernel.
void find_unused_bytes(symbol_table const& table, kernel_symbols& kernel) {
  if (!has_local_symbols(table)) return;
  std::vector<std::size_t> offsets{kernel.thread_local_bytes};  // of all thread-local variables
  for (std::size_t i = 0; i < table.count; ++i) {
    if (is_thread_local(table.symbols[i])) offsets.push_back(table.symbols[i].st_value);
  }
  std::sort(offsets.begin(), offsets.end());
  for (shared_variable& variable : kernel.shared_variables) {
    std::size_t const end = variable.offset + variable.bytes;
    auto const next = std::lower_bound(offsets.begin(), offsets.end(), end);
    // More is no padding: then a variable has no name.
    if (next != offsets.end() && *next - end < 64) variable.unused_bytes = *next - end;
  }
}

std::shared_ptr<kernel_symbols const> read_symbols_of(loaded_object const& object) {
  auto result = std::make_shared<kernel_symbols>();
  if (object.path == nullptr) return result;
  result->object = reinterpret_cast<void const*>(object.base);
  result->path = object.path;
  result->is_program = std::strcmp(object.path, path_of_program) == 0;
  result->thread_local_bytes = object.thread_local_bytes;
  mapped_file const file(object.path);
  symbol_table const table = read_symbols(file);
  std::size_t const symbol_of_kernel = find_kernel(table, object, *result);
  if (symbol_of_kernel != table.count) {
    read_variables(table, symbol_of_kernel, *result);
    find_unused_bytes(table, *result);
  }
  return result;
}

using symbol_cache = base::function_cache<void const*, std::shared_ptr<kernel_symbols const>>;

symbol_cache& symbols_of_kernels() {
  static base::no_destructor<symbol_cache> instance;
  return *instance;
}

}  // namespace

std::shared_ptr<kernel_symbols const> symbols_of(void const* kernel) {
  return symbols_of_kernels().get(kernel, [=] { return read_symbols_of(find_object(kernel)); });
}

std::vector<std::shared_ptr<kernel_symbols const>> symbols_of_other_kernels(void const* kernel) {
  auto const own = symbols_of(kernel);
  std::vector<std::shared_ptr<kernel_symbols const>> result;
  symbols_of_kernels().for_each([&](std::shared_ptr<kernel_symbols const> const& other) {
    if (other->path == own->path && other->object == own->object && other != own) {
      result.push_back(other);
    }
  });
  return result;
}

void const* defining_object(void const* function) {
  static base::no_destructor<base::function_cache<void const*, void const*>> objects;
  return (*objects).get(function, [=]() -> void const* {
    Dl_info object{};
    void* entry_of_table = nullptr;
    if (::dladdr1(function, &object, &entry_of_table, RTLD_DL_SYMENT) == 0) return nullptr;
    auto const* const symbol = static_cast<ElfW(Sym) const*>(entry_of_table);
    // A program that is not position-independent has a stub for a function of a shared object, and
    // the stub's address is that of the function in the whole process.
    bool const is_stub = symbol != nullptr && symbol->st_shndx == SHN_UNDEF;
    return is_stub ? nullptr : object.dli_fbase;
  });
}

std::byte* thread_local_memory_of(void const* kernel) noexcept {
  return find_object(kernel).thread_local_memory;
}

std::size_t thread_local_bytes_of_process() noexcept {
  std::size_t result = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        *static_cast<std::size_t*>(data) += thread_local_bytes_of(*object);
        return 0;
      },
      &result);
  return result;
}

std::string kernel_name(void const* kernel) {
  std::string const name = symbols_of(kernel)->name;
  if (!name.empty()) return name;
  code_place place;
  place.frames[0] = reinterpret_cast<std::uintptr_t>(kernel);
  place.frame_count = 1;
  std::array<char, 1024> text;
  describe(place, text.data(), text.size());
  return text.data();
}

}  // namespace roc::host_hip

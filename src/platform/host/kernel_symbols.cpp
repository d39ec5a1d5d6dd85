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

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/no_destructor.hpp"

namespace roc::host_hip {
namespace {

// The loaded shared object that contains an address.
struct loaded_object {
  std::uintptr_t address;
  char const* path = nullptr;  // valid while it is loaded; null if no object contains the address
  std::uintptr_t base = 0;
  std::byte* thread_local_memory = nullptr;  // of the calling thread
};

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
          found.path = is_program ? "/proc/self/exe" : object->dlpi_name;
          found.base = object->dlpi_addr;
          found.thread_local_memory = static_cast<std::byte*>(object->dlpi_tls_data);
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

std::string demangle(std::string const& name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string const result = text == nullptr ? name : text;
  std::free(text);
  return result;
}

kernel_symbols read_symbols_of(loaded_object const& object) {
  kernel_symbols result;
  if (object.path == nullptr) return result;
  mapped_file const file(object.path);
  symbol_table const table = read_symbols(file);
  std::string prefix;  // of the names of the kernel's variables: those of f() are _ZZ1fvE4name
  for (std::size_t i = 0; i < table.count && prefix.empty(); ++i) {
    ElfW(Sym) const& symbol = table.symbols[i];
    if ((symbol.st_info & 0xf) != STT_FUNC || object.base + symbol.st_value != object.address) {
      continue;
    }
    std::string_view const name = table.name(symbol);
    if (!name.starts_with("_Z")) continue;
    result.name = demangle(std::string(name));
    prefix = std::string("_ZZ").append(name.substr(2)) + "E";
  }
  if (prefix.empty()) return result;
  for (std::size_t i = 0; i < table.count; ++i) {
    ElfW(Sym) const& symbol = table.symbols[i];
    bool const is_variable = (symbol.st_info & 0xf) == STT_TLS && symbol.st_shndx != SHN_UNDEF &&
                             table.name(symbol).starts_with(prefix);
    if (!is_variable) continue;
    result.shared_variables.push_back({symbol.st_value, symbol.st_size});
    result.shared_bytes += symbol.st_size;
  }
  return result;
}

struct known_kernels {
  std::mutex mutex;
  // Never erased: a reference stays valid.
  std::map<void const*, kernel_symbols> kernels;
  std::map<void const*, void const*> objects;  // of addresses
};

known_kernels& known() {
  static base::no_destructor<known_kernels> instance;
  return *instance;
}

}  // namespace

kernel_symbols const& symbols_of(void const* kernel) {
  std::lock_guard const lock(known().mutex);
  auto& kernels = known().kernels;
  auto const found = kernels.find(kernel);
  if (found != kernels.end()) return found->second;
  return kernels.emplace(kernel, read_symbols_of(find_object(kernel))).first->second;
}

void const* defining_object(void const* function) {
  std::lock_guard const lock(known().mutex);
  auto const [entry, is_new] = known().objects.try_emplace(function, nullptr);
  if (!is_new) return entry->second;
  Dl_info object{};
  void* entry_of_table = nullptr;
  if (::dladdr1(function, &object, &entry_of_table, RTLD_DL_SYMENT) == 0) return nullptr;
  auto const* const symbol = static_cast<ElfW(Sym) const*>(entry_of_table);
  // A program that is not position-independent has a stub for a function of a shared object, and
  // the stub's address is that of the function in the whole process.
  bool const is_stub = symbol != nullptr && symbol->st_shndx == SHN_UNDEF;
  return entry->second = is_stub ? nullptr : object.dli_fbase;
}

std::byte* thread_local_memory_of(void const* kernel) noexcept {
  return find_object(kernel).thread_local_memory;
}

}  // namespace roc::host_hip

// SPDX-License-Identifier: MIT
#include "platform/host/code_place.hpp"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/memory_maps.hpp"
#include "platform/host/api.hpp"

#if !defined(ROCARRAY_FAKE_RUNTIME)
#include "base/error.hpp"
#endif

namespace roc::host_hip {
namespace {

using path_text = std::array<char, 512>;

void copy_text(std::string_view text, char* destination, std::size_t size) noexcept {
  std::size_t const length = std::min(text.size(), size - 1);
  std::memcpy(destination, text.data(), length);
  destination[length] = '\0';
}

// Returns true if the instruction is one of this library, as the fake HIP runtime: calls inside it
// are of no interest. The library of the host platform is part of the program in most builds.
bool is_in_fake_runtime(std::uintptr_t instruction) noexcept {
  if constexpr (!is_fake_runtime) return false;
  struct range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  static range const own = [] {
    range result;
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* data) {
          auto const inside = reinterpret_cast<std::uintptr_t>(&is_in_fake_runtime);
          for (int i = 0; i < module->dlpi_phnum; ++i) {
            auto const& segment = module->dlpi_phdr[i];
            std::uintptr_t const begin = module->dlpi_addr + segment.p_vaddr;
            if (segment.p_type != PT_LOAD || inside < begin || inside >= begin + segment.p_memsz) {
              continue;
            }
            *static_cast<range*>(data) = {begin, begin + segment.p_memsz};
            return 1;
          }
          return 0;
        },
        &result);
    return result;
  }();
  return instruction >= own.begin && instruction < own.end;
}

struct unwinding {
  code_place& place;
  std::uintptr_t first;  // the instruction at which the place begins; 0: the innermost
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* data) {
  auto& state = *static_cast<unwinding*>(data);
  int is_exact = 0;
  std::uintptr_t const address = _Unwind_GetIPInfo(context, &is_exact);
  if (address == 0) return _URC_END_OF_STACK;
  if (state.first != 0 && address != state.first) return _URC_NO_REASON;
  state.first = 0;
  // A return address follows the call and may belong to the next line.
  std::uintptr_t const instruction = is_exact != 0 ? address : address - 1;
  if (is_in_fake_runtime(instruction)) return _URC_NO_REASON;
  code_place& place = state.place;
  place.frames[place.frame_count++] = instruction;
  return place.frame_count == place.frames.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// The file that contains an instruction.
struct code_module {
  path_text path{};
  std::uintptr_t address = 0;  // of the instruction, as the symbolizer takes it
  bool is_system = false;      // a library of the system, which has no lines of the program
};

bool find_module(std::uintptr_t instruction, code_module& result) noexcept {
  base::mapping_reader maps;
  path_text path{};
  std::uintptr_t base = 0;
  for (base::mapping found; maps.next(found);) {
    if (found.path.empty() || found.path.front() != '/') continue;
    if (found.path != path.data()) {
      copy_text(found.path, path.data(), path.size());
      base = found.begin;
    }
    if (instruction < found.begin || instruction >= found.end) continue;
    // The addresses of a program that is not position-independent are absolute.
    auto const* const header = reinterpret_cast<ElfW(Ehdr) const*>(base);
    bool const is_absolute = header->e_type == ET_EXEC;
    result.path = path;
    result.address = is_absolute ? instruction : instruction - base;
    std::string_view const file = found.path.substr(found.path.starts_with("/usr/") ? 4 : 0);
    result.is_system = file.starts_with("/lib/") || file.starts_with("/lib64/");
    return true;
  }
  return false;
}

path_text symbolizer_path;

// Starts the symbolizer for addresses of one file. Returns the number of bytes of its output.
std::size_t run_symbolizer(code_module const* modules, std::size_t count, char* output,
                           std::size_t size) noexcept {
  constexpr std::size_t max_addresses = std::tuple_size_v<decltype(code_place::frames)>;
  std::array<std::array<char, 24>, max_addresses> addresses;
  std::array<char const*, max_addresses + 8> arguments{};
  std::size_t used = 0;
  arguments[used++] = symbolizer_path.data();
  if (std::strstr(symbolizer_path.data(), "symbolizer") != nullptr) {
    arguments[used++] = "--output-style=GNU";
  }
  for (char const* option : {"-f", "-C", "-i", "-a", "-e"}) arguments[used++] = option;
  arguments[used++] = modules[0].path.data();
  for (std::size_t i = 0; i < count; ++i) {
    std::snprintf(addresses[i].data(), addresses[i].size(), "0x%zx", modules[i].address);
    arguments[used++] = addresses[i].data();
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return 0;
  // Not fork(), which takes the locks of malloc: the program may hold them.
  sigset_t child_signal;
  sigset_t previous;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &child_signal, &previous);
  long const child = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) {
    char const* const environment[] = {"LC_ALL=C", nullptr};
    ::dup2(ends[1], STDOUT_FILENO);
    if (int const null = ::open("/dev/null", O_RDWR); null >= 0) {
      ::dup2(null, STDIN_FILENO);
      ::dup2(null, STDERR_FILENO);
    }
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(symbolizer_path.data(), const_cast<char* const*>(arguments.data()),
             const_cast<char* const*>(environment));
    ::_exit(127);
  }
  ::close(ends[1]);
  std::size_t length = 0;
  while (child > 0 && length < size) {
    ssize_t const bytes = ::read(ends[0], output + length, size - length);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    length += static_cast<std::size_t>(bytes);
  }
  ::close(ends[0]);
  if (child > 0) {
    // Consumes SIGCHLD, so that the program's handler does not run. Another thread may still
    // receive the signal.
    constexpr timespec no_time{};
    while (::waitpid(static_cast<pid_t>(child), nullptr, 0) < 0 && errno == EINTR) {
    }
    ::sigtimedwait(&child_signal, nullptr, &no_time);
  }
  ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  return length;
}

// Returns true if a function is one of the library or of the C++ library.
bool is_library_function(std::string_view function) noexcept {
  // The names of function templates begin with the type of the result.
  std::string_view name = function.substr(0, function.find_first_of("(<"));
  if (auto const space = name.rfind(' '); space != std::string_view::npos) {
    if (name.substr(0, space) == "operator") return true;  // operator new, operator delete
    name = name.substr(space + 1);
  }
  return name.starts_with("roc::") || name.starts_with("std::") || name.starts_with("__gnu_cxx::");
}

// Finds the innermost line of the program in the symbolizer's output: lines with an address,
// followed by pairs of a function and its file and line. Sets `any` to the innermost line at all,
// if it is empty. Returns an empty text if there is none.
std::string_view find_user_line(std::string_view output, std::string_view& any) noexcept {
  auto const next_line = [&] {
    auto const end = std::min(output.find('\n'), output.size());
    std::string_view const line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    return line;
  };
  while (!output.empty()) {
    std::string_view const function = next_line();
    if (function.starts_with("0x")) continue;
    std::string_view line = next_line();
    line = line.substr(0, line.find(" (discriminator"));
    bool const is_known = !line.starts_with("??") && !line.ends_with(":?") && !line.ends_with(":0");
    if (!is_known) continue;
    if (any.empty()) any = line;
    bool const is_system = line.starts_with("/usr/include/") || line.starts_with("/usr/lib/");
    if (!is_system && !is_library_function(function)) return line;
  }
  return {};
}

void describe_stack(code_place const& place, char* text, std::size_t size) noexcept {
  constexpr std::size_t max_frames = std::tuple_size_v<decltype(place.frames)>;
  // Static, because signal handlers run on stacks of any size. The caller is the only one.
  static std::array<code_module, max_frames> modules;
  static std::array<char, 32768> output;
  static std::array<char, 1024> fallback;
  std::size_t count = 0;
  fallback[0] = '\0';
  for (std::size_t i = 0; i < place.frame_count; ++i) {
    code_module& found = modules[count];
    if (!find_module(place.frames[i], found)) continue;
    if (fallback[0] == '\0' || (count == 0 && !found.is_system)) {
      std::snprintf(fallback.data(), fallback.size(), "%s+0x%zx", found.path.data(), found.address);
    }
    if (!found.is_system) ++count;
  }
  for (std::size_t i = 0; i < count && symbolizer_path[0] != '\0';) {
    std::size_t same = 1;
    while (i + same < count && modules[i + same].path == modules[i].path) ++same;
    std::size_t const length = run_symbolizer(&modules[i], same, output.data(), output.size());
    std::string_view any;
    std::string_view const line = find_user_line({output.data(), length}, any);
    if (!line.empty()) return copy_text(line, text, size);
    if (!any.empty()) copy_text(any, fallback.data(), fallback.size());
    i += same;
  }
  copy_text(fallback[0] == '\0' ? "an unknown place" : fallback.data(), text, size);
}

}  // namespace

std::uint64_t code_place::hash() const noexcept {
  std::uint64_t result = 0xcbf29ce484222325;
  auto const add = [&](std::uint64_t value) { result = (result ^ value) * 0x100000001b3; };
  if (file != nullptr) {
    add(reinterpret_cast<std::uintptr_t>(file));
    add(line);
  } else {
    for (std::size_t i = 0; i < frame_count; ++i) add(frames[i]);
  }
  return result;
}

code_place place_of_call() noexcept {
  code_place place;
#if !defined(ROCARRAY_FAKE_RUNTIME)
  std::source_location const location = base::location_of_caller();
  if (location.line() != 0) {
    place.file = location.file_name();
    place.line = location.line();
    return place;
  }
#endif
  unwinding state{place, 0};
  _Unwind_Backtrace(add_frame, &state);
  return place;
}

code_place place_of_signal(std::uintptr_t instruction) noexcept {
  code_place place;
  unwinding state{place, instruction};
  _Unwind_Backtrace(add_frame, &state);
  if (place.frame_count == 0) place.frames[place.frame_count++] = instruction;
  return place;
}

void find_symbolizer() noexcept {
  char const* const directories = std::getenv("PATH");
  for (char const* name : {"addr2line", "llvm-addr2line", "llvm-symbolizer", "eu-addr2line"}) {
    std::string_view rest = directories == nullptr ? "/usr/bin" : directories;
    while (!rest.empty()) {
      auto const end = std::min(rest.find(':'), rest.size());
      int const length = std::snprintf(symbolizer_path.data(), symbolizer_path.size(), "%.*s/%s",
                                       static_cast<int>(end), rest.data(), name);
      bool const fits = static_cast<std::size_t>(length) < symbolizer_path.size();
      if (fits && ::access(symbolizer_path.data(), X_OK) == 0) return;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  symbolizer_path[0] = '\0';
}

void describe(code_place const& place, char* text, std::size_t size) noexcept {
  if (place.file != nullptr) {
    std::snprintf(text, size, "%s:%u", place.file, place.line);
  } else {
    describe_stack(place, text, size);
  }
}

}  // namespace roc::host_hip

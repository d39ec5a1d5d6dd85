// SPDX-License-Identifier: MIT
#include "platform/host/access_signals.hpp"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <string_view>

#include "base/memory_maps.hpp"
#include "platform/host/access_report.hpp"
#include "platform/host/arena.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip::access {
namespace {

// The trap flag of x86: the processor stops after the next instruction.
[[maybe_unused]] constexpr unsigned long long trap_flag = 0x100;

#if defined(__x86_64__)
std::uintptr_t instruction_of(ucontext_t const& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}
bool is_write(ucontext_t const& context) { return (context.uc_mcontext.gregs[REG_ERR] & 2) != 0; }
// Returns the protection (PROT_*) that the instruction needs.
int needed_protection(ucontext_t const& context) {
  bool const is_fetch = (context.uc_mcontext.gregs[REG_ERR] & 16) != 0;
  if (is_fetch) return PROT_EXEC;
  return is_write(context) ? PROT_WRITE : PROT_READ;
}
void set_trap_flag(ucontext_t& context, bool value) {
  auto& flags = context.uc_mcontext.gregs[REG_EFL];
  flags = value ? flags | static_cast<greg_t>(trap_flag) : flags & ~static_cast<greg_t>(trap_flag);
}
#else
std::uintptr_t instruction_of(ucontext_t const& context) {
#if defined(__aarch64__)
  return context.uc_mcontext.pc;
#else
  static_cast<void>(context);
  return 0;
#endif
}
bool is_write(ucontext_t const&) { return false; }  // unknown
int needed_protection(ucontext_t const&) { return PROT_READ | PROT_WRITE; }
void set_trap_flag(ucontext_t&, bool) {}
#endif

// The kernel's signal mask, which is smaller than the C library's.
unsigned long signal_mask(ucontext_t const& context) {
  unsigned long mask = 0;
  std::memcpy(&mask, &context.uc_sigmask, sizeof mask);
  return mask;
}
void set_signal_mask(ucontext_t& context, unsigned long mask) {
  std::memcpy(&context.uc_sigmask, &mask, sizeof mask);
}

constexpr unsigned long bit_of_signal(int signal) { return 1UL << (signal - 1); }

pid_t this_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

step* find_step(checker& state, pid_t thread) {
  auto const found = std::find_if(state.steps.begin(), state.steps.end(),
                                  [=](step const& item) { return item.thread == thread; });
  return found == state.steps.end() ? nullptr : &*found;
}

// Returns the device whose memory contains the address and is protected, or -1.
int protected_device(std::uintptr_t address) noexcept {
  return host_settings().protect ? owning_device(reinterpret_cast<void const*>(address)) : -1;
}

// Returns true if the instruction is one with which locks are taken: one that locks the bus, or an
// exchange. The kernel may access the lock next.
bool takes_lock(std::uintptr_t instruction) noexcept {
  auto const* next = reinterpret_cast<unsigned char const*>(instruction);
  for (;; ++next) {
    if (*next == 0xF0) return true;
    bool const is_prefix = *next == 0x66 || (*next & 0xF0) == 0x40;  // REX is 4x
    if (!is_prefix) break;
  }
  return *next == 0x86 || *next == 0x87;
}

// Opens the page or the device at the address for the next instruction of the thread. Without
// hardware support, or if too many threads step, the memory stays open.
void step_over(checker& state, std::uintptr_t address, int device, ucontext_t& context) {
  if (device >= 0) device_arena(device).open();
  checker_guard const guard(state.lock);
  pid_t const thread = this_thread();
  step* current = find_step(state, thread);
  bool const is_new = current == nullptr;
  if (is_new) current = find_step(state, 0);
  if (!can_step || current == nullptr || (device < 0 && takes_lock(instruction_of(context)))) {
    return state.pages.share_page(address);
  }
  if (is_new) {
    current->thread = thread;
    current->count = 0;
    current->signal_mask = signal_mask(context);
  }
  // More addresses than an instruction has: the step was interrupted, or other threads protected
  // the pages again. The address that is dropped may be on the page that is opened.
  if (current->count == current->addresses.size()) {
    state.pages.protect_page(current->addresses[--current->count]);
  }
  current->addresses[current->count++] = address;
  state.pages.open_page(address, thread);
  constexpr unsigned long faults = bit_of_signal(SIGSEGV) | bit_of_signal(SIGTRAP) |
                                   bit_of_signal(SIGBUS) | bit_of_signal(SIGFPE) |
                                   bit_of_signal(SIGILL);
  set_signal_mask(context, ~faults);
  set_trap_flag(context, true);
}

// Passes a signal to the handler that was there before.
void forward(struct sigaction const& previous, int signal, siginfo_t* info, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    return previous.sa_sigaction(signal, info, context);
  }
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    return previous.sa_handler(signal);
  }
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  // A fault happens again when the handler returns. Others must be raised again.
  if (info->si_code <= 0 || signal == SIGTRAP) ::raise(signal);
}

// Reports an access, unless one with the same places was reported before. In mode abort, aborts the
// process when the handler returns: at the instruction, as a debugger shows it.
void report(checker& state, violation const& access, ucontext_t& context) {
  std::uintptr_t const instruction = instruction_of(context);
  std::uint64_t const enqueued = access.device >= 0 ? 0 : access.work.place.hash();
  if (!is_first(state, instruction, enqueued)) return;
  {
    checker_guard const guard(state.lock);
    state.pages.open();  // the unwinder and snprintf may read any memory
  }
  {
    checker_guard const guard(state.report_lock);
    static place_text here;
    describe(place_of_signal(instruction), here.data(), here.size());
    // A line may have several instructions.
    std::size_t const line = std::hash<std::string_view>{}(here.data()) + (access.is_write ? 1 : 0);
    bool const is_new = is_first(state, line, enqueued);
    if (is_new) count_report(state);
    if (is_new && access.device >= 0) report_device_access(state, access, here.data());
    if (is_new && access.device < 0) report_pending_access(access, here.data());
  }
  if (host_settings().check == check_mode::abort) {
    ::signal(SIGABRT, SIG_DFL);
    set_signal_mask(context, signal_mask(context) & ~bit_of_signal(SIGABRT));
    ::syscall(SYS_tgkill, ::getpid(), this_thread(), SIGABRT);
    return;
  }
  checker_guard const guard(state.lock);
  state.pages.close();
}

// Returns true if functions of the C library may read the address although they look for a byte of
// other memory that follows: they read whole blocks, also from before the beginning of a string.
bool is_block_read(work_record::use const& use, std::uintptr_t address,
                   std::uintptr_t instruction) {
  constexpr std::size_t block = 64;
  if (use.memory.ends_allocation || address % 16 != 0 || use.bytes.end - address >= block)
    return false;
  base::mapping_reader maps;
  for (base::mapping found; maps.next(found);) {
    if (instruction < found.begin || instruction >= found.end) continue;
    return found.path.find("/libc.so") != std::string_view::npos ||
           found.path.find("/libc-") != std::string_view::npos;
  }
  return false;
}

// Returns true if the address is accessible now: another thread ended the protection meanwhile. The
// caller holds the lock, so that no thread protects the page again.
bool is_accessible_now(std::uintptr_t address, int needed) noexcept {
  base::mapping_reader maps;
  for (base::mapping found; maps.next(found);) {
    if (address >= found.begin && address < found.end) {
      return (found.protection & needed) == needed;
    }
  }
  return false;
}

// Finds the pending work whose memory must not be accessed. The caller holds the lock.
bool find_violation(checker const& state, violation& access, std::uintptr_t instruction) {
  for (work_record const& work : state.works) {
    for (std::size_t i = 0; i < work.use_count; ++i) {
      work_record::use const& use = work.uses[i];
      // An access of unknown kind to a source is a write: reads do not fault.
      bool const is_write = access.is_write || (!can_step && !use.memory.is_written);
      bool const is_harmless = !use.memory.is_written && !is_write;
      if (is_harmless || use.pages.begin == use.pages.end || use.is_lost) continue;
      if (!use.bytes.contains(access.address)) continue;
      auto const offset = static_cast<std::ptrdiff_t>(
          access.address - reinterpret_cast<std::uintptr_t>(use.memory.data));
      if (!is_in_runs(use.memory, offset)) continue;
      if (!is_write && is_block_read(use, access.address, instruction)) continue;
      access.is_write = is_write;
      access.work = work;
      access.use = i;
      return true;
    }
  }
  return false;
}

void handle_fault(int signal, siginfo_t* info, void* data) {
  int const saved_errno = errno;
  checker& state = *created.load();
  auto& context = *static_cast<ucontext_t*>(data);
  violation access;
  access.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  access.is_write = is_write(context);
  bool is_known = false;
  bool is_violation = false;
  bool is_over = false;
  if (info->si_code == SEGV_ACCERR) {
    access.device = protected_device(access.address);
    is_known = is_violation = access.device >= 0;
    if (!is_known) {
      checker_guard const guard(state.lock);
      is_known = state.pages.contains(access.address);
      is_violation = is_known && find_violation(state, access, instruction_of(context));
      is_over = !is_known && is_accessible_now(access.address, needed_protection(context));
    }
  }
  if (is_known) {
    if (is_violation) report(state, access, context);
    bool const is_aborting = is_violation && host_settings().check == check_mode::abort;
    if (!is_aborting) step_over(state, access.address, access.device, context);
  } else if (!is_over) {
    forward(state.previous_fault, signal, info, data);
  }
  errno = saved_errno;
}

void handle_trap(int signal, siginfo_t* info, void* data) {
  int const saved_errno = errno;
  checker& state = *created.load();
  auto& context = *static_cast<ucontext_t*>(data);
  step finished;
  {
    checker_guard const guard(state.lock);
    if (auto* const current = find_step(state, this_thread()); current != nullptr) {
      finished = *current;
      for (std::size_t i = 0; i < finished.count; ++i) {
        state.pages.protect_page(finished.addresses[i]);
      }
      set_trap_flag(context, false);
      set_signal_mask(context, finished.signal_mask);
      *current = step{};
    }
  }
  if (finished.thread == 0) {
    forward(state.previous_trap, signal, info, data);
  }
  for (std::size_t i = 0; i < finished.count; ++i) {
    int const device = protected_device(finished.addresses[i]);
    if (device >= 0) device_arena(device).close();
  }
  errno = saved_errno;
}

// Returns the writable segment of the module that contains this code.
address_range find_own_data() {
  static char anchor;
  address_range result{reinterpret_cast<std::uintptr_t>(&anchor), 0};
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* data) {
        auto& found = *static_cast<address_range*>(data);
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          auto const& segment = module->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          std::uintptr_t const begin = module->dlpi_addr + segment.p_vaddr;
          address_range const memory{begin, begin + segment.p_memsz};
          if (!memory.contains(found.begin)) continue;
          found = memory;
          return 1;
        }
        return 0;
      },
      &result);
  return result;
}

}  // namespace

checker& instance() {
  static auto* const instance = [] {
    static mapped_memory_resource memory;
    auto* const result = ::new (memory.allocate(sizeof(checker))) checker;
    result->own_data = find_own_data();
    find_symbolizer();
    static_cast<void>(place_of_signal(0));      // the first unwinding allocates memory
    static_cast<void>(owning_device(nullptr));  // maps the memory of the devices
    created = result;
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    action.sa_sigaction = handle_fault;
    ::sigaction(SIGSEGV, &action, &result->previous_fault);
    action.sa_sigaction = handle_trap;
    ::sigaction(SIGTRAP, &action, &result->previous_trap);
    return result;
  }();
  return *instance;
}

}  // namespace roc::host_hip::access

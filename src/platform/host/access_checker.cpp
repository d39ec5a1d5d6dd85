// SPDX-License-Identifier: MIT
#include "platform/host/access_checker.hpp"

#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include "base/round_up.hpp"
#include "platform/host/arena.hpp"
#include "platform/host/code_place.hpp"
#include "platform/host/memory_maps.hpp"
#include "platform/host/protected_pages.hpp"

namespace roc::host_hip {

// Work that is pending or running.
struct work_record {
  struct use {
    accessed_memory memory;
    address_range bytes;   // from the first byte to the last
    address_range pages;   // the protected pages; empty if none
    bool is_lost = false;  // unmapped since the work was enqueued
    bool is_reported = false;
  };

  char const* kind = nullptr;
  void* stream = nullptr;
  pid_t process = ::getpid();  // fork() copies the record
  code_place place;
  std::array<use, 2> uses;
  std::size_t use_count = 0;
  bool is_listed = false;  // in the exit report
};

namespace {

// The exit code of a process with reports, the same as ThreadSanitizer's.
constexpr int exit_code = 66;

#if defined(__x86_64__)
constexpr bool can_step = true;
#else
constexpr bool can_step = false;
#endif

// The trap flag of x86: the processor stops after the next instruction.
[[maybe_unused]] constexpr unsigned long long trap_flag = 0x100;

std::size_t page_size() {
  static auto const size = static_cast<std::size_t>(getpagesize());
  return size;
}

// Returns all signals except those that an instruction of the thread itself raises.
sigset_t asynchronous_signals() noexcept {
  sigset_t result;
  sigfillset(&result);
  for (int signal : {SIGSEGV, SIGBUS, SIGTRAP, SIGILL, SIGFPE}) sigdelset(&result, signal);
  return result;
}

// Not a mutex, because signal handlers lock it. The thread that holds it receives no asynchronous
// signals: a handler of the program that accesses a protected page would wait for that thread.
class spin_lock {
 public:
  void lock() noexcept {
    sigset_t const blocked = asynchronous_signals();
    sigset_t previous;
    ::pthread_sigmask(SIG_BLOCK, &blocked, &previous);
    while (flag_.test_and_set(std::memory_order_acquire)) ::sched_yield();
    previous_ = previous;
  }
  void unlock() noexcept {
    sigset_t const previous = previous_;
    flag_.clear(std::memory_order_release);
    ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  }

 private:
  std::atomic_flag flag_;
  sigset_t previous_{};  // of the thread that holds the lock
};

// An access that the handler lets through. The trap after the instruction protects its pages again.
struct step {
  pid_t thread = 0;  // 0: unused
  unsigned long signal_mask = 0;
  std::array<std::uintptr_t, 4> addresses;
  std::size_t count = 0;
};

struct device_allocation {
  std::size_t bytes;
  code_place place;
};

// Work in the exit report.
struct late_work {
  char const* kind = nullptr;
  char const* reason = nullptr;
  void* stream = nullptr;
  pid_t process = 0;  // that enqueued the work
  code_place place;
  unsigned count = 0;
};

struct checker {
  checker() : pool(&mapped), pages(&pool) {}

  mapped_memory_resource mapped;
  std::pmr::unsynchronized_pool_resource pool;

  spin_lock lock;  // guards the members down to `late`; never held while other memory is accessed
  protected_pages pages;
  std::pmr::list<work_record> works{&pool};
  std::pmr::set<std::uint64_t> reported{&pool};  // hashes of pairs of places
  // By address and whether it is an allocation of HIP; an array may begin where its slab begins.
  std::pmr::map<std::pair<std::uintptr_t, bool>, device_allocation> device_memory{&pool};
  std::pmr::list<std::array<address_range, 2>> threads{&pool};  // see thread_memory
  std::array<step, 64> steps;
  std::pmr::list<late_work> late{&pool};

  spin_lock report_lock;  // held while a report is written
  struct sigaction previous_fault {};
  struct sigaction previous_trap {};
  address_range own_data;      // the variables of the module that contains this code
  pid_t process = ::getpid();  // that made the reports: not one that fork() created later
  std::atomic<unsigned> reports = 0;
};

using checker_guard = std::lock_guard<spin_lock>;

void handle_fault(int signal, siginfo_t* info, void* context);
void handle_trap(int signal, siginfo_t* info, void* context);

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

std::atomic<checker*> created = nullptr;

// Returns the checker of the process, which is never destroyed. Its members share no page with
// other memory.
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

// Runs before main. Memory that is allocated later shares few pages with other memory, so that few
// accesses must be stepped over, and system calls seldom meet protected pages.
[[gnu::constructor]] void separate_allocations() {
  char const* const setting = std::getenv("ROCARRAY_HOST_CHECK");
  if (setting == nullptr || std::strcmp(setting, "off") == 0) return;
#if defined(__GLIBC__)
  ::mallopt(M_MMAP_THRESHOLD, 1024);
  ::mallopt(M_TOP_PAD, 0);
  ::malloc_trim(0);
#endif
  static mapped_memory_resource memory;
  constexpr std::size_t bytes = 4096;
  std::setvbuf(stdout, static_cast<char*>(memory.allocate(bytes)),
               ::isatty(STDOUT_FILENO) != 0 ? _IOLBF : _IOFBF, bytes);
}

// The addresses of a thread's stack, and of its control block and some of its variables, which
// signal handlers need. An entry exists from the thread's first enqueued work until the thread
// ends.
class thread_memory {
 public:
  thread_memory() {
    pthread_attr_t attributes;
    address_range stack;
    if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
      void* begin = nullptr;
      std::size_t bytes = 0;
      ::pthread_attr_getstack(&attributes, &begin, &bytes);
      stack = {reinterpret_cast<std::uintptr_t>(begin),
               reinterpret_cast<std::uintptr_t>(begin) + bytes};
      ::pthread_attr_destroy(&attributes);
    }
    auto const self = static_cast<std::uintptr_t>(::pthread_self());
    auto const error = reinterpret_cast<std::uintptr_t>(&errno);
    address_range const control{std::min(self, error), std::max(self, error) + page_size()};
    checker& state = instance();
    checker_guard const guard(state.lock);
    position_ = state.threads.insert(state.threads.end(), {stack, control});
  }
  ~thread_memory() {
    checker& state = instance();
    checker_guard const guard(state.lock);
    state.threads.erase(position_);
  }
  thread_memory(thread_memory const&) = delete;
  thread_memory& operator=(thread_memory const&) = delete;

 private:
  std::pmr::list<std::array<address_range, 2>>::iterator position_;
};

// Returns true if the range overlaps memory of a thread that has enqueued work.
bool overlaps_thread_memory(address_range range, checker& state) {
  thread_local thread_memory const own;
  static_cast<void>(own);
  checker_guard const guard(state.lock);
  return std::any_of(state.threads.begin(), state.threads.end(), [=](auto const& memory) {
    return range.overlaps(memory[0]) || range.overlaps(memory[1]);
  });
}

// Returns true if the range is in the stack of the main thread.
bool is_in_main_stack(address_range range) noexcept {
  mapping_reader maps;
  for (mapping found; maps.next(found);) {
    if (found.path == "[stack]") return range.overlaps({found.begin, found.end});
  }
  return false;
}

// Returns the range from the first to the last byte of the memory.
address_range bytes_of(accessed_memory const& memory) noexcept {
  auto const first = reinterpret_cast<std::uintptr_t>(memory.data);
  address_range result{first, first + memory.run};
  for (std::size_t i = 0; i < memory.rank; ++i) {
    auto const [extent, step] = memory.axes[i];
    auto const distance = static_cast<std::uintptr_t>(step) * (extent - 1);  // may wrap
    (step < 0 ? result.begin : result.end) += distance;
  }
  return result;
}

// Returns true if the byte at `offset` from the first run is in a run of the axes from `axis` on.
bool is_in_runs(accessed_memory const& memory, std::size_t axis, std::ptrdiff_t offset) noexcept {
  if (axis == memory.rank) return offset >= 0 && offset < static_cast<std::ptrdiff_t>(memory.run);
  auto const [extent, step] = memory.axes[axis];
  auto const last = static_cast<std::ptrdiff_t>(extent) - 1;
  if (step == 0) return is_in_runs(memory, axis + 1, offset);
  // The inner axes cover the offsets [low, high) from the beginning of an index of this one.
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = static_cast<std::ptrdiff_t>(memory.run);
  for (std::size_t i = axis + 1; i < memory.rank; ++i) {
    auto const inner =
        memory.axes[i].step * (static_cast<std::ptrdiff_t>(memory.axes[i].extent) - 1);
    (inner < 0 ? low : high) += inner;
  }
  // Negative steps: the indices are counted from the other end.
  std::ptrdiff_t const size = step < 0 ? -step : step;
  std::ptrdiff_t const begin = step < 0 ? step * last : 0;
  std::ptrdiff_t const distance = offset - begin;
  std::ptrdiff_t const first_index = distance < high ? 0 : (distance - high) / size + 1;
  for (std::ptrdiff_t i = first_index; i <= last && distance - i * size >= low; ++i) {
    if (is_in_runs(memory, axis + 1, distance - i * size)) return true;
  }
  return false;
}

bool is_contiguous(accessed_memory const& memory) noexcept {
  std::size_t bytes = memory.run;
  for (std::size_t i = memory.rank; i != 0; --i) {
    auto const [extent, step] = memory.axes[i - 1];
    if (step < 0 || static_cast<std::size_t>(step) != bytes) return false;
    bytes *= extent;
  }
  return true;
}

// Returns the pages to protect, which may be none.
address_range pages_of(work_record::use const& use, checker& state) {
  auto const bytes = use.bytes;
  if (use.memory.is_device || bytes.begin == bytes.end) return {};
  address_range const outer{bytes.begin / page_size() * page_size(),
                            base::round_up(bytes.end, page_size())};
  if (overlaps_thread_memory(outer, state) || is_in_main_stack(outer)) return {};
  // The checker must not step over its own accesses.
  if (can_step && !outer.overlaps(state.own_data)) return outer;
  if (!is_contiguous(use.memory)) return {};
  address_range const inner{base::round_up(bytes.begin, page_size()),
                            bytes.end / page_size() * page_size()};
  return inner.begin < inner.end ? inner : address_range{};
}

// Writes a text to stderr. The caller holds report_lock.
[[gnu::format(printf, 1, 2)]] void print(char const* format, ...) noexcept {
  static std::array<char, 4096> text;  // static, because signal handlers run on stacks of any size
  std::va_list arguments;
  va_start(arguments, format);
  int const length = std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  std::size_t const bytes = std::min(static_cast<std::size_t>(length), text.size() - 1);
  for (std::size_t written = 0; written < bytes;) {
    ssize_t const count = ::write(STDERR_FILENO, text.data() + written, bytes - written);
    if (count <= 0) return;
    written += static_cast<std::size_t>(count);
  }
}

using place_text = std::array<char, 1024>;

// The caller holds report_lock.
void count_report(checker& state) noexcept {
  if (pid_t const process = ::getpid(); process != state.process) {
    state.process = process;
    state.reports = 0;
  }
  ++state.reports;
}

// Stream handles are small numbers; null is the default stream.
struct stream_name {
  explicit stream_name(void* stream) noexcept {
    if (stream == nullptr) {
      std::snprintf(text.data(), text.size(), "the default stream");
    } else {
      std::snprintf(text.data(), text.size(), "stream %p", stream);
    }
  }
  std::array<char, 40> text;
};

// Reports that the memory of pending work was unmapped.
void report_lost(work_record const& work, work_record::use const& use) noexcept {
  checker& state = instance();
  checker_guard const guard(state.report_lock);
  count_report(state);
  static place_text place;
  describe(work.place, place.data(), place.size());
  print(
      "rocarray: memory was freed before a %s that uses it was synchronized: %zu bytes at %p, the "
      "%s of the %s enqueued at %s on %s; synchronize the stream before the memory is freed\n",
      work.kind, use.bytes.end - use.bytes.begin, reinterpret_cast<void*>(use.bytes.begin),
      use.memory.is_written ? "destination" : "source", work.kind, place.data(),
      stream_name(work.stream).text.data());
  if (host_settings().check == check_mode::abort) std::abort();
}

// Maps the unmapped pages of the range, so that the work that uses them still runs.
void map_unmapped(address_range range) noexcept {
  constexpr int only_unmapped = 0x100000;  // MAP_FIXED_NOREPLACE, which old headers do not have
  for (std::uintptr_t page = range.begin; page < range.end; page += page_size()) {
    auto* const wanted = reinterpret_cast<void*>(page);
    void* const found = ::mmap(wanted, page_size(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | only_unmapped, -1, 0);
    if (found != MAP_FAILED && found != wanted) ::munmap(found, page_size());
  }
}

// Marks the works whose memory was unmapped since they were enqueued, and reports them. Does
// nothing if none of them uses a part of `pages`.
void report_lost_memory(checker& state, address_range pages = {0, UINTPTR_MAX}) noexcept {
  for (;;) {
    work_record found;
    work_record::use const* lost = nullptr;
    {
      checker_guard const guard(state.lock);
      bool const is_stepping = std::any_of(state.steps.begin(), state.steps.end(),
                                           [](step const& item) { return item.thread != 0; });
      if (state.pages.is_open() || is_stepping || !state.pages.overlaps(pages)) return;
      state.pages.remove_lost([&](address_range range) {
        map_unmapped(range);
        for (work_record& work : state.works) {
          for (std::size_t i = 0; i < work.use_count; ++i) {
            work_record::use& use = work.uses[i];
            use.is_lost = use.is_lost || use.pages.overlaps(range);
          }
        }
      });
      for (work_record& work : state.works) {
        for (std::size_t i = 0; i < work.use_count && lost == nullptr; ++i) {
          if (!work.uses[i].is_lost || work.uses[i].is_reported) continue;
          work.uses[i].is_reported = true;
          found = work;
          lost = &found.uses[i];
        }
      }
    }
    if (lost == nullptr) return;
    report_lost(found, *lost);
  }
}

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

// What the handler knows of an access that must be reported.
struct violation {
  std::uintptr_t address = 0;
  bool is_write = false;
  int device = -1;  // -1: host memory that `work` uses
  work_record work;
  std::size_t use = 0;
};

void report_device_access(checker& state, violation const& access, char const* here) {
  address_range found;
  static place_text place;
  place[0] = '\0';
  code_place allocated;
  bool is_array = false;
  {
    checker_guard const guard(state.lock);
    for (auto const& [key, item] : state.device_memory) {
      address_range const range{key.first, key.first + item.bytes};
      bool const is_smaller =
          found.begin == found.end || range.end - range.begin <= found.end - found.begin;
      if (!range.contains(access.address) || !is_smaller) continue;
      found = range;
      allocated = item.place;
      is_array = !key.second;
    }
  }
  if (found.begin == found.end) {
    return print(
        "rocarray: %s %s device memory: %p is in no allocation of device %d; copy device memory to "
        "host memory, and access that\n",
        here, access.is_write ? "writes" : "reads", reinterpret_cast<void*>(access.address),
        access.device);
  }
  describe(allocated, place.data(), place.size());
  print(
      "rocarray: %s %s device memory: byte %zu of %zu bytes at %p on device %d, %s allocated at "
      "%s; "
      "copy the memory to the host and access the copy\n",
      here, access.is_write ? "writes" : "reads", access.address - found.begin,
      found.end - found.begin, reinterpret_cast<void*>(found.begin), access.device,
      is_array ? "an array" : "memory", place.data());
}

void report_pending_access(violation const& access, char const* here) {
  static place_text place;
  work_record const& work = access.work;
  work_record::use const& use = work.uses[access.use];
  describe(work.place, place.data(), place.size());
  print(
      "rocarray: %s %s memory of a pending %s: byte %zu of %zu bytes at %p, the %s of the %s "
      "enqueued at %s on %s, which has not been synchronized yet; synchronize the stream first\n",
      here, access.is_write ? "writes" : "reads", work.kind, access.address - use.bytes.begin,
      use.bytes.end - use.bytes.begin, reinterpret_cast<void*>(use.bytes.begin),
      use.memory.is_written ? "destination" : "source", work.kind, place.data(),
      stream_name(work.stream).text.data());
}

// Returns true at the first call with this pair of places; false if memory is exhausted.
bool is_first(checker& state, std::uint64_t accessed, std::uint64_t enqueued) {
  checker_guard const guard(state.lock);
  try {
    return state.reported.insert(accessed * 31 + enqueued).second;
  } catch (std::bad_alloc const&) {
    return false;
  }
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

// Returns true if functions of the C library may read the address although they look for a byte
// elsewhere: they read whole blocks, also from before the beginning of a string.
bool is_block_read(address_range bytes, std::uintptr_t address, std::uintptr_t instruction) {
  constexpr std::size_t block = 64;
  if (address % 16 != 0 || bytes.end - address >= block) return false;
  mapping_reader maps;
  for (mapping found; maps.next(found);) {
    if (instruction < found.begin || instruction >= found.end) continue;
    return found.path.find("/libc.so") != std::string_view::npos ||
           found.path.find("/libc-") != std::string_view::npos;
  }
  return false;
}

// Returns true if the address is accessible now: another thread ended the protection meanwhile. The
// caller holds the lock, so that no thread protects the page again.
bool is_accessible_now(std::uintptr_t address, int needed) noexcept {
  mapping_reader maps;
  for (mapping found; maps.next(found);) {
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
      if (!is_in_runs(use.memory, 0, offset)) continue;
      if (!is_write && is_block_read(use.bytes, access.address, instruction)) continue;
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

void add_late_locked(checker& state, work_record& work, char const* reason) {
  if (work.process != ::getpid() || std::exchange(work.is_listed, true)) return;
  for (late_work& item : state.late) {
    bool const is_same = item.kind == work.kind && item.reason == reason &&
                         item.stream == work.stream && item.process == work.process &&
                         item.place.hash() == work.place.hash();
    if (!is_same) continue;
    ++item.count;
    return;
  }
  try {
    state.late.push_back({work.kind, reason, work.stream, work.process, work.place, 1});
  } catch (std::bad_alloc const&) {
  }
}

// Moves the first entry of the list to `item`. Returns false if the list is empty.
bool take_late_work(checker& state, late_work& item) noexcept {
  checker_guard const guard(state.lock);
  if (state.late.empty()) return false;
  item = state.late.front();
  state.late.pop_front();
  return true;
}

// Writes the output that the program has buffered.
void flush_output() noexcept {
  try {
    std::cout.flush();
    std::clog.flush();
  } catch (std::ios_base::failure const&) {
  }
  std::fflush(nullptr);
}

// Runs when the process ends, after its exit handlers.
[[gnu::destructor]] void print_summary() {
  checker* const state = created.load();
  if (state == nullptr) return;
  accessible_scope const scope;
  checker_guard const guard(state->report_lock);
  static place_text place;
  bool is_listing = false;
  for (late_work item; take_late_work(*state, item);) {
    if (item.process != ::getpid()) continue;
    if (!std::exchange(is_listing, true)) {
      print("rocarray: this work ran only because its memory was released or the process ended:\n");
    }
    describe(item.place, place.data(), place.size());
    print("  %s: %u x %s on %s, ran in %s\n", place.data(), item.count, item.kind,
          stream_name(item.stream).text.data(), item.reason);
  }
  if (state->reports == 0 || state->process != ::getpid()) return;
  flush_output();
  print("rocarray: ROCARRAY_HOST_CHECK reported errors: %u; the exit code is %d\n",
        state->reports.load(), exit_code);
  ::_exit(exit_code);
}

}  // namespace

void work_record_deleter::operator()(work_record* record) const noexcept {
  checker& state = instance();
  checker_guard const guard(state.lock);
  for (std::size_t i = 0; i < record->use_count; ++i) {
    work_record::use const& use = record->uses[i];
    if (use.pages.begin != use.pages.end) state.pages.remove(use.pages, use.memory.is_written);
  }
  auto const found = std::find_if(state.works.begin(), state.works.end(),
                                  [=](work_record const& item) { return &item == record; });
  state.works.erase(found);
}

tracked_work track_work(char const* kind, hipStream_t stream,
                        std::initializer_list<accessed_memory> memory) {
  if (!tracks_work()) return nullptr;
  checker& state = instance();
  code_place const place = place_of_call();
  std::unique_ptr<work_record, work_record_deleter> added;
  {
    checker_guard const guard(state.lock);
    work_record& record = state.works.emplace_back();
    record.kind = kind;
    record.stream = stream;
    record.place = place;
    added.reset(&record);
  }
  for (accessed_memory const& item : memory) {
    work_record::use use{item, bytes_of(item), {}};
    use.pages = pages_of(use, state);
    report_lost_memory(state, use.pages);
    checker_guard const guard(state.lock);
    if (use.pages.begin != use.pages.end) state.pages.add(use.pages, item.is_written);
    added->uses[added->use_count++] = use;
  }
  return added;
}

accessible_scope::accessible_scope() noexcept : is_active_(created.load() != nullptr) {
  if (!is_active_) return;
  checker& state = instance();
  report_lost_memory(state);
  checker_guard const guard(state.lock);
  state.pages.open();
}

accessible_scope::~accessible_scope() {
  if (!is_active_) return;
  checker& state = instance();
  checker_guard const guard(state.lock);
  state.pages.close();
}

void note_release(void const* data, std::size_t bytes, char const* call) noexcept {
  if (!tracks_work() || created.load() == nullptr) return;
  checker& state = instance();
  auto const begin = reinterpret_cast<std::uintptr_t>(data);
  checker_guard const guard(state.lock);
  for (work_record& work : state.works) {
    for (std::size_t i = 0; i < work.use_count; ++i) {
      if (work.uses[i].bytes.overlaps({begin, begin + bytes})) add_late_locked(state, work, call);
    }
  }
}

void note_exit() noexcept {
  if (!tracks_work() || created.load() == nullptr) return;
  checker& state = instance();
  checker_guard const guard(state.lock);
  for (work_record& work : state.works) add_late_locked(state, work, "the exit handler");
}

void note_device_allocation(void const* data, std::size_t bytes, bool is_array) noexcept {
  if (host_settings().check == check_mode::off || data == nullptr) return;
  checker& state = instance();
  device_allocation const item{bytes, place_of_call()};
  checker_guard const guard(state.lock);
  try {
    state.device_memory.insert_or_assign({reinterpret_cast<std::uintptr_t>(data), !is_array}, item);
  } catch (std::bad_alloc const&) {
  }
}

void note_device_free(void const* data, bool is_array) noexcept {
  if (host_settings().check == check_mode::off || data == nullptr) return;
  checker& state = instance();
  checker_guard const guard(state.lock);
  state.device_memory.erase({reinterpret_cast<std::uintptr_t>(data), !is_array});
}

}  // namespace roc::host_hip

// SPDX-License-Identifier: MIT
#include "platform/host/access_checker.hpp"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <new>
#include <utility>

#include "base/memory_maps.hpp"
#include "base/round_up.hpp"
#include "platform/host/access_checker_state.hpp"
#include "platform/host/access_report.hpp"
#include "platform/host/access_signals.hpp"

namespace roc::host_hip {

using namespace access;

namespace {

// The exit code of a process with reports, the same as ThreadSanitizer's.
constexpr int exit_code = 66;

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
  // The stack grows downward, to a limit. Ranges outside need no reading of the list, which is
  // slow.
  static std::atomic<std::uintptr_t> known_begin = 0;
  static std::atomic<std::uintptr_t> known_end = UINTPTR_MAX;
  std::uintptr_t const end = known_end.load();
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < end) {
    std::uintptr_t const lowest = std::min(known_begin.load(), end - limit.rlim_cur);
    if (range.end <= lowest || range.begin >= end) return false;
  }
  base::mapping_reader maps;
  for (base::mapping found; maps.next(found);) {
    if (found.path != "[stack]") continue;
    known_begin = found.begin;
    known_end = found.end;
    return range.overlaps({found.begin, found.end});
  }
  return false;
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
    report_lost(state, found, *lost);
  }
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

void report_kernel_error(char const* message, void const* kernel, std::size_t place) noexcept {
  checker& state = instance();
  if (!is_first(state, reinterpret_cast<std::uintptr_t>(kernel), place)) return;
  {
    checker_guard const guard(state.report_lock);
    count_report(state);
    print("rocarray: %s\n", message);
  }
  if (host_settings().check == check_mode::abort) std::abort();
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

// SPDX-License-Identifier: MIT
// The state of the access checker: pending work, protected pages, and reports. The signal handlers
// use it too.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <sched.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory_resource>
#include <mutex>
#include <set>
#include <utility>

#include "base/memory_maps.hpp"
#include "platform/host/accessed_memory.hpp"
#include "platform/host/code_place.hpp"
#include "platform/host/page_size.hpp"
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

namespace access {

#if defined(__x86_64__)
inline constexpr bool can_step = true;
#else
inline constexpr bool can_step = false;
#endif

// Returns all signals except those that an instruction of the thread itself raises.
inline sigset_t asynchronous_signals() noexcept {
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

// The checker of the process, null until the first call of instance().
inline std::atomic<checker*> created = nullptr;

}  // namespace access
}  // namespace roc::host_hip

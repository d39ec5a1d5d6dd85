// SPDX-License-Identifier: MIT
// CMake compiles this file and fiber.cpp without ThreadSanitizer, because the threads of a kernel
// use the state of their block without synchronization.
#include "platform/host/block_runner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/no_destructor.hpp"
#include "base/round_up.hpp"
#include "platform/host/access_checker.hpp"
#include "platform/host/code_place.hpp"
#include "platform/host/fiber.hpp"
#include "platform/host/kernel_symbols.hpp"
#include "platform/host/parallel_for.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {

using namespace host_kernels;

namespace {

// The state of a thread of a kernel.
enum class thread_state : unsigned char { waits_at_barrier, waits_for_warp, ready, ended };

// A range of bytes, relative to the thread-local memory of a shared object.
struct thread_local_range {
  std::size_t offset;
  std::size_t bytes;
};

// A thread of a kernel and what it waits for.
struct kernel_thread {
  thread_state state = thread_state::ended;
  fiber* suspended_fiber = nullptr;  // if it waits
  std::source_location at;
  // At a barrier.
  block_reduction reduction = block_reduction::none;
  int predicate = 0;
  int result = 0;
  // For its warp.
  warp_call call{};
  std::uint64_t value = 0;
  lane_values lanes;
  // The number of the warp's operations that it took part in. Addresses for release and acquire, by
  // parity of the operation.
  unsigned operations = 0;
  std::array<std::uint64_t, 2> order{};
};

bool is_same_place(std::source_location const& a, std::source_location const& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::string_view(a.file_name()) == b.file_name());
}

// Returns true if a comes before b in the source.
bool is_before(std::source_location const& a, std::source_location const& b) {
  int const files = std::strcmp(a.file_name(), b.file_name());
  if (files != 0) return files < 0;
  return a.line() != b.line() ? a.line() < b.line() : a.column() < b.column();
}

// Returns the thread of the first of the lanes, of the warp from thread `begin` on.
unsigned first_thread(unsigned begin, std::uint64_t lanes) {
  return begin + static_cast<unsigned>(std::countr_zero(lanes));
}

// Returns true if two lanes of a warp call the same operation.
bool is_same_operation(warp_call const& a, warp_call const& b) {
  return a.function == b.function && a.mask == b.mask && (a.mask || is_same_place(a.at, b.at));
}

char const* file_name(std::source_location const& place) {
  char const* const slash = std::strrchr(place.file_name(), '/');
  return slash == nullptr ? place.file_name() : slash + 1;
}

using message_text = std::array<char, 1024>;

// Returns the numbers of the lanes, such as "lanes 3, 16 to 31".
std::string describe_lanes(std::uint64_t lanes) {
  std::string result = std::has_single_bit(lanes) ? "lane " : "lanes ";
  char const* separator = "";
  for (std::uint64_t rest = lanes; rest != 0;) {
    int const first = std::countr_zero(rest);
    int const count = std::countr_one(rest >> first);
    result += separator + std::to_string(first);
    if (count > 1) result += (count == 2 ? ", " : " to ") + std::to_string(first + count - 1);
    rest &= count == 64 ? 0 : ~(~(~std::uint64_t{0} << count) << first);
    separator = ", ";
  }
  return result;
}

// The memory that a block_runner needs for a block.
struct block_memory {
  std::size_t stacks = 1;
  std::size_t shared_bytes = 0;  // dynamic

  void enlarge(block_memory const& other) noexcept {
    stacks = std::max(stacks, other.stacks);
    shared_bytes = std::max(shared_bytes, other.shared_bytes);
  }
};

// The blocks that one thread of the system runs, one after another, with the stacks of their
// threads. Kept for later kernels.
class block_runner final : public running_block {
 public:
  // Returns true if blocks that need no more than this can run without further memory.
  bool has(block_memory const& needed) const noexcept {
    return fibers_.size() >= needed.stacks && shared_ != nullptr &&
           shared_->size() >= needed.shared_bytes;
  }
  // Allocates what is missing. No block runs. Throws std::bad_alloc; what was allocated is kept.
  void allocate(block_memory const& needed) {
    allocate_shared_memory(needed.shared_bytes);
    while (fibers_.size() < needed.stacks) allocate_fibers();
  }
  // Runs the blocks [first, last). Throws std::bad_alloc if they need more memory than there is;
  // threads of a block may then be suspended.
  void run(grid_launch const& launch, std::size_t first, std::size_t last);

  int synchronize(block_reduction reduction, int predicate, std::source_location at) override;
  lane_values exchange(std::uint64_t value, warp_call const& call) override;
  void report_inactive_lane(unsigned lane, std::source_location at) override;
  [[noreturn]] void fail(char const* problem, std::source_location at) override;

 private:
  using thread_text = std::array<char, 48>;
  using thread_of_block_text = std::array<char, 96>;

  void allocate_shared_memory(std::size_t bytes);
  void prepare_shared_memory();
  void poison_shared_memory();
  void run_block();
  // The function of the fibers: runs threads until one waits, or none is left.
  void run_threads();
  void select(unsigned thread);
  void allocate_fibers();
  fiber& idle_fiber();
  // Suspends the thread that runs, until an operation that it waits for is complete.
  void wait(thread_state state, std::source_location at);
  // Completes the operations of warps that no further lane can join. Returns false if there are
  // none.
  bool complete_warps();
  bool complete_warp(unsigned begin, unsigned end);
  // Ends the process if no thread can continue and a warp waits for lanes that do not come.
  [[noreturn]] void fail_stuck_warp();
  // Returns those of the waiting lanes, of the warp from thread `begin` on, that call the operation
  // of the first of them.
  std::uint64_t first_operation(unsigned begin, std::uint64_t waiting) const;
  void complete_operation(unsigned begin, std::uint64_t lanes);
  std::uint64_t lanes_in(thread_state state, unsigned begin, unsigned end) const;
  template <class F>
  void for_each_warp(F f);
  void complete_barrier();
  void check_barrier();
  void continue_threads();
  // Ends the process if the stack has overflowed.
  void check_stack(fiber const& checked);
  // Finds the memory beyond the kernel's __shared__ variables that no variable of a running kernel
  // uses.
  void find_unused_memory();
  // Reports a write to that memory in the block that has ended.
  void check_unused_memory();

  thread_text describe_thread(unsigned thread) const;
  // Returns the names of the block and the thread. ThreadSanitizer keeps 63 characters of it.
  thread_of_block_text describe_thread_of_block(unsigned thread) const;
  // Returns the names of the kernel and the block.
  std::string describe_block() const;
  // Returns those and the name of the thread that runs.
  std::string describe_position() const;
  bool is_any(thread_state state) const;
  void report(char const* problem, std::source_location const& at);

  grid_launch const* launch_ = nullptr;
  kernel_variables variables_{};
  unsigned warp_size_ = 32;
  unsigned thread_count_ = 0;  // of a block
  unsigned next_ = 0;          // the first thread that has not started
  unsigned last_ = 0;          // the fiber starts threads up to this one
  unsigned current_ = 0;       // the thread that runs
  bool poisons_ = false;

  std::vector<std::unique_ptr<stack_memory>> stacks_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<fiber*> idle_;
  std::vector<fiber*> ended_;  // not to be used before the next block
  fiber* running_fiber_ = nullptr;
  std::array<kernel_thread, max_block_threads> threads_;
  // The number of completed barriers. Addresses for release and acquire, by parity of the barrier.
  unsigned barriers_ = 0;
  std::array<std::uint64_t, 2> barrier_order_{};
  // Of the last operation of each thread. They do not change before all threads wait again.
  std::array<std::uint64_t, max_block_threads> lane_values_{};
  std::unique_ptr<guarded_memory> shared_;
  // Of the __shared__ variables.
  std::byte* static_memory_ = nullptr;
  std::shared_ptr<kernel_symbols const> symbols_;
  std::vector<thread_local_range> unused_memory_;  // see find_unused_memory
};

void block_runner::run(grid_launch const& launch, std::size_t first, std::size_t last) {
  launch_ = &launch;
  variables_ = launch.kernel.variables();
  warp_size_ = static_cast<unsigned>(host_settings().warp_size);
  thread_count_ = launch.block.x * launch.block.y * launch.block.z;
  poisons_ = host_settings().poison || host_settings().check != check_mode::off;
  *variables_.running = this;
  *variables_.warp_size = host_settings().warp_size;
  *variables_.block_size = launch.block;
  *variables_.grid_size = launch.grid;
  prepare_shared_memory();
  std::size_t const row = launch.grid.x;
  std::size_t const plane = row * launch.grid.y;
  for (std::size_t i = first; i < last; ++i) {
    *variables_.block = {static_cast<unsigned>(i % row), static_cast<unsigned>(i % plane / row),
                         static_cast<unsigned>(i / plane)};
    if (poisons_) poison_shared_memory();
    run_block();
  }
  *variables_.running = nullptr;
}

constexpr std::size_t shared_alignment = 16;

void block_runner::allocate_shared_memory(std::size_t bytes) {
  if (shared_ != nullptr && shared_->size() >= bytes) return;
  shared_ = std::make_unique<guarded_memory>(std::max(bytes, shared_alignment),
                                             guarded_memory::guards::before_and_after);
}

void block_runner::prepare_shared_memory() {
  std::size_t const bytes = base::round_up(launch_->shared_bytes, shared_alignment);
  allocate_shared_memory(bytes);
  // Ends where the inaccessible page begins, so that an access beyond the end faults.
  shared_memory = shared_->data() + shared_->size() - bytes;
  if (!poisons_) return;
  static_memory_ = thread_local_memory_of(launch_->kernel.function);
  symbols_ = symbols_of(launch_->kernel.function);
  try {
    find_unused_memory();
  } catch (std::bad_alloc const&) {
    unused_memory_.clear();  // is not checked
  }
}

void block_runner::find_unused_memory() {
  unused_memory_.clear();
  auto const& variables = symbols_->shared_variables;
  if (host_settings().check == check_mode::off || variables.empty()) return;
  for (shared_variable const& variable : variables) {
    if (variable.unused_bytes == 0) continue;
    unused_memory_.push_back({variable.offset + variable.bytes, variable.unused_bytes});
  }
  // The variables of other kernels have no values while this kernel runs. Only the near ones are
  // checked: a block takes time for each byte.
  constexpr std::size_t distance = 4096;
  std::size_t const first = variables.front().offset;
  std::size_t const begin = first < distance ? 0 : first - distance;
  std::size_t const end = variables.back().offset + variables.back().bytes + distance;
  for (auto const& other : symbols_of_other_kernels(launch_->kernel.function)) {
    for (shared_variable const& variable : other->shared_variables) {
      bool const is_own =
          std::any_of(variables.begin(), variables.end(),
                      [&](shared_variable const& own) { return own.offset == variable.offset; });
      if (is_own) continue;  // two kernels have the same name
      std::size_t const from = std::max(begin, variable.offset);
      std::size_t const to =
          std::min(end, variable.offset + variable.bytes + variable.unused_bytes);
      if (from < to) unused_memory_.push_back({from, to - from});
    }
  }
}

void block_runner::poison_shared_memory() {
  std::memset(shared_memory, fresh_poison, base::round_up(launch_->shared_bytes, shared_alignment));
  if (static_memory_ == nullptr) return;
  for (shared_variable const& variable : symbols_->shared_variables) {
    std::memset(static_memory_ + variable.offset, fresh_poison, variable.bytes);
  }
  for (thread_local_range const& range : unused_memory_) {
    std::memset(static_memory_ + range.offset, fresh_poison, range.bytes);
  }
}

void block_runner::check_unused_memory() {
  if (static_memory_ == nullptr) return;
  for (thread_local_range const& range : unused_memory_) {
    std::byte const* const begin = static_memory_ + range.offset;
    std::byte const* const written = std::find_if(begin, begin + range.bytes, [](std::byte value) {
      return value != std::byte{fresh_poison};
    });
    if (written == begin + range.bytes) continue;
    auto const position = static_cast<std::size_t>(written - static_memory_);
    auto const& variables = symbols_->shared_variables;
    auto const next = std::upper_bound(
        variables.begin(), variables.end(), position,
        [](std::size_t at, shared_variable const& variable) { return at < variable.offset; });
    bool const is_before = next == variables.begin();
    shared_variable const& nearest = is_before ? *next : *std::prev(next);
    message_text text;
    std::snprintf(
        text.data(), text.size(),
        ": has written %zu bytes %s the __shared__ variable %s, which has %zu bytes; "
        "check the indices",
        is_before ? nearest.offset - position : position - nearest.offset - nearest.bytes + 1,
        is_before ? "before" : "beyond", nearest.name.c_str(), nearest.bytes);
    report_kernel_error((describe_block() + text.data()).c_str(), launch_->kernel.function,
                        nearest.offset);
  }
}

void block_runner::allocate_fibers() {
  stacks_.push_back(std::make_unique<stack_memory>(host_settings().stack_bytes));
  stack_memory const& stacks = *stacks_.back();
  std::size_t const count = fibers_.size() + stacks.count();
  idle_.reserve(count);
  if (fiber::is_checked_by_tsan()) ended_.reserve(count);
  for (std::size_t i = 0; i < stacks.count(); ++i) {
    fibers_.push_back(std::make_unique<fiber>(stacks, i));
    idle_.push_back(fibers_.back().get());
  }
}

fiber& block_runner::idle_fiber() {
  if (idle_.empty()) allocate_fibers();
  fiber& result = *idle_.back();
  idle_.pop_back();
  return result;
}

void block_runner::run_block() {
  next_ = 0;
  fiber::release(&next_);
  while (next_ < thread_count_) {
    fiber& started = idle_fiber();
    running_fiber_ = &started;
    // To ThreadSanitizer a fiber is a thread: it finds the races of two threads only on two fibers,
    // which other threads of the block do not get.
    last_ = thread_count_;
    if (fiber::is_checked_by_tsan()) {
      last_ = next_ + 1;
      started.set_name(describe_thread_of_block(next_).data());
    }
    bool const has_returned =
        started.start([](void* self) { static_cast<block_runner*>(self)->run_threads(); }, this);
    check_stack(started);
    if (has_returned) (fiber::is_checked_by_tsan() ? ended_ : idle_).push_back(&started);
  }
  for (;;) {
    if (is_any(thread_state::waits_for_warp)) {
      if (!complete_warps()) fail_stuck_warp();
    } else if (is_any(thread_state::waits_at_barrier)) {
      complete_barrier();
    } else {
      break;
    }
    continue_threads();
  }
  idle_.insert(idle_.end(), ended_.begin(), ended_.end());
  ended_.clear();
  fiber::acquire(&last_);
  check_unused_memory();
}

void block_runner::run_threads() {
  fiber::acquire(&next_);
  while (next_ < last_) {
    unsigned const thread = next_++;
    select(thread);
    try {
      launch_->kernel.run_thread(launch_->arguments);
    } catch (std::exception const& error) {
      fail(error.what(), {});
    } catch (...) {
      fail("an exception left the kernel", {});
    }
    threads_[thread].state = thread_state::ended;
  }
  fiber::release(&last_);
}

void block_runner::select(unsigned thread) {
  kernel_index const& size = launch_->block;
  current_ = thread;
  lane = thread % warp_size_;
  *variables_.thread = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

void block_runner::wait(thread_state state, std::source_location at) {
  kernel_thread& thread = threads_[current_];
  thread.state = state;
  thread.suspended_fiber = running_fiber_;
  thread.at = at;
  running_fiber_->suspend();
}

int block_runner::synchronize(block_reduction reduction, int predicate, std::source_location at) {
  kernel_thread& thread = threads_[current_];
  thread.reduction = reduction;
  thread.predicate = predicate;
  // A thread that continues must not acquire what others release at the next barrier.
  std::uint64_t* const order = &barrier_order_[barriers_ % 2];
  fiber::release(order);
  wait(thread_state::waits_at_barrier, at);
  fiber::acquire(order);
  return thread.result;
}

lane_values block_runner::exchange(std::uint64_t value, warp_call const& call) {
  if (call.mask && (*call.mask >> lane & 1) == 0) {
    message_text text;
    std::snprintf(text.data(), text.size(),
                  "the mask 0x%llx of a warp function does not contain lane %u, which calls it; "
                  "pass the mask of all lanes that call it",
                  static_cast<unsigned long long>(*call.mask), lane);
    fail(text.data(), call.at);
  }
  kernel_thread& thread = threads_[current_];
  thread.call = call;
  // Masks that name the same lanes are equal: ~0ULL and 0xffffffff in a warp of 32.
  if (call.mask) *thread.call.mask &= ~std::uint64_t{0} >> (64 - warp_size_);
  thread.value = value;
  fiber::release(&thread.order[thread.operations % 2]);
  wait(thread_state::waits_for_warp, call.at);
  if (fiber::is_checked_by_tsan()) {
    unsigned const begin = current_ - lane;
    for (std::uint64_t rest = thread.lanes.lanes; rest != 0; rest &= rest - 1) {
      kernel_thread& other = threads_[first_thread(begin, rest)];
      fiber::acquire(&other.order[(other.operations - 1) % 2]);
    }
  }
  return thread.lanes;
}

bool block_runner::is_any(thread_state state) const {
  return std::any_of(threads_.begin(), threads_.begin() + thread_count_,
                     [=](kernel_thread const& thread) { return thread.state == state; });
}

template <class F>
void block_runner::for_each_warp(F f) {
  for (unsigned begin = 0; begin < thread_count_; begin += warp_size_) {
    f(begin, std::min(begin + warp_size_, thread_count_));
  }
}

std::uint64_t block_runner::lanes_in(thread_state state, unsigned begin, unsigned end) const {
  std::uint64_t result = 0;
  for (unsigned i = begin; i < end; ++i) {
    if (threads_[i].state == state) result |= std::uint64_t{1} << (i - begin);
  }
  return result;
}

std::uint64_t block_runner::first_operation(unsigned begin, std::uint64_t waiting) const {
  warp_call const& call = threads_[first_thread(begin, waiting)].call;
  std::uint64_t result = 0;
  for (std::uint64_t rest = waiting; rest != 0; rest &= rest - 1) {
    if (is_same_operation(threads_[first_thread(begin, rest)].call, call)) result |= rest & -rest;
  }
  return result;
}

// Lets the lanes of an operation continue.
void block_runner::complete_operation(unsigned begin, std::uint64_t lanes) {
  for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
    unsigned const i = first_thread(begin, rest);
    kernel_thread& thread = threads_[i];
    lane_values_[i] = thread.value;
    thread.lanes = {&lane_values_[begin], lanes};
    ++thread.operations;
    thread.state = thread_state::ready;
  }
}

bool block_runner::complete_warps() {
  bool result = false;
  for_each_warp([&](unsigned begin, unsigned end) { result |= complete_warp(begin, end); });
  return result;
}

// An operation with a mask is complete when all lanes of the mask that have not ended wait for it.
// One without a mask is complete when no operation with a mask is: of several places, it is the
// first one in the source, because the lanes of a branch must come out of it before they can join
// those that wait after it.
bool block_runner::complete_warp(unsigned begin, unsigned end) {
  std::uint64_t const waiting = lanes_in(thread_state::waits_for_warp, begin, end);
  std::uint64_t const present = waiting | lanes_in(thread_state::waits_at_barrier, begin, end);
  bool result = false;
  std::uint64_t first_place = 0;  // the lanes without a mask at the first place
  for (std::uint64_t rest = waiting; rest != 0;) {
    std::uint64_t const lanes = first_operation(begin, rest);
    warp_call const& call = threads_[first_thread(begin, lanes)].call;
    rest &= ~lanes;
    if (call.mask) {
      if ((*call.mask & present & ~lanes) != 0) continue;
      complete_operation(begin, lanes);
      result = true;
    } else if (first_place == 0 ||
               is_before(call.at, threads_[first_thread(begin, first_place)].at)) {
      first_place = lanes;
    }
  }
  if (result || first_place == 0) return result;
  complete_operation(begin, first_place);
  return true;
}

void block_runner::fail_stuck_warp() {
  for_each_warp([&](unsigned begin, unsigned end) {
    std::uint64_t const waiting = lanes_in(thread_state::waits_for_warp, begin, end);
    if (waiting == 0) return;
    std::uint64_t const lanes = first_operation(begin, waiting);
    std::uint64_t const present = waiting | lanes_in(thread_state::waits_at_barrier, begin, end);
    current_ = first_thread(begin, lanes);
    warp_call const& call = threads_[current_].call;
    // Without a mask, an operation is complete.
    std::uint64_t const mask = call.mask.value_or(0);
    std::uint64_t const missing = mask & present & ~lanes;
    message_text text;
    std::snprintf(text.data(), text.size(),
                  "calls a warp function with the mask 0x%llx, but %s %s not; pass the mask of the "
                  "lanes that call it",
                  static_cast<unsigned long long>(mask), describe_lanes(missing).c_str(),
                  std::has_single_bit(missing) ? "does" : "do");
    fail(text.data(), call.at);
  });
  std::abort();
}

// All threads that have not ended wait at a barrier: lets them continue.
void block_runner::complete_barrier() {
  if (host_settings().check != check_mode::off) check_barrier();
  ++barriers_;
  int waiting = 0;
  int count = 0;
  for (unsigned i = 0; i < thread_count_; ++i) {
    if (threads_[i].state == thread_state::ended) continue;
    ++waiting;
    if (threads_[i].predicate != 0) ++count;
  }
  for (unsigned i = 0; i < thread_count_; ++i) {
    kernel_thread& thread = threads_[i];
    if (thread.state == thread_state::ended) continue;
    switch (thread.reduction) {
      case block_reduction::none: break;
      case block_reduction::count: thread.result = count; break;
      case block_reduction::all: thread.result = count == waiting ? 1 : 0; break;
      case block_reduction::any: thread.result = count != 0 ? 1 : 0; break;
    }
    thread.state = thread_state::ready;
  }
}

// Reports a thread that does not wait at the barrier at which the first waiting thread waits.
void block_runner::check_barrier() {
  unsigned first = 0;
  while (threads_[first].state == thread_state::ended) ++first;
  std::source_location const at = threads_[first].at;
  for (unsigned i = 0; i < thread_count_; ++i) {
    kernel_thread const& thread = threads_[i];
    message_text text;
    if (thread.state == thread_state::ended) {
      std::snprintf(text.data(), text.size(),
                    "has ended without the barrier at %s:%u, where thread %s waits", file_name(at),
                    at.line(), describe_thread(first).data());
    } else if (!is_same_place(thread.at, at)) {
      std::snprintf(text.data(), text.size(),
                    "waits at the barrier at %s:%u, but thread %s at the one at %s:%u",
                    file_name(thread.at), thread.at.line(), describe_thread(first).data(),
                    file_name(at), at.line());
    } else {
      continue;
    }
    current_ = i;
    report(text.data(), at);
    return;
  }
}

// Runs each thread that may continue, until it waits again or ends.
void block_runner::continue_threads() {
  for (unsigned i = 0; i < thread_count_; ++i) {
    if (threads_[i].state != thread_state::ready) continue;
    select(i);
    running_fiber_ = threads_[i].suspended_fiber;
    if (running_fiber_->resume()) idle_.push_back(running_fiber_);
    check_stack(*running_fiber_);
  }
}

void block_runner::check_stack(fiber const& checked) {
  if (checked.has_overflowed()) {
    fail("the stack of a thread has overflowed; set ROCARRAY_HOST_STACK to more bytes", {});
  }
}

block_runner::thread_text block_runner::describe_thread(unsigned thread) const {
  kernel_index const& size = launch_->block;
  thread_text text;
  std::snprintf(text.data(), text.size(), "(%u, %u, %u)", thread % size.x, thread / size.x % size.y,
                thread / size.x / size.y);
  return text;
}

block_runner::thread_of_block_text block_runner::describe_thread_of_block(unsigned thread) const {
  kernel_index const& block = *variables_.block;
  thread_of_block_text text;
  std::snprintf(text.data(), text.size(), "block (%u, %u, %u), thread %s", block.x, block.y,
                block.z, describe_thread(thread).data());
  return text;
}

std::string block_runner::describe_block() const {
  kernel_index const& block = *variables_.block;
  message_text text;
  std::snprintf(text.data(), text.size(), ", block (%u, %u, %u)", block.x, block.y, block.z);
  return "kernel " + kernel_name(launch_->kernel.function) + text.data();
}

std::string block_runner::describe_position() const {
  return describe_block() + ", thread " + describe_thread(current_).data();
}

void block_runner::report_inactive_lane(unsigned source, std::source_location at) {
  if (host_settings().check == check_mode::off) return;
  message_text text;
  std::snprintf(text.data(), text.size(),
                "uses the value of lane %u, which does not take part in the warp function at %s:%u",
                source, file_name(at), at.line());
  report(text.data(), at);
}

void block_runner::report(char const* problem, std::source_location const& at) {
  if (host_settings().check == check_mode::off) return;
  auto const place = std::hash<std::string_view>{}(at.file_name()) + at.line();
  report_kernel_error((describe_position() + ": " + problem).c_str(), launch_->kernel.function,
                      place);
}

void block_runner::fail(char const* problem, std::source_location at) {
  std::fprintf(stderr, "rocarray: %s: %s", describe_position().c_str(), problem);
  if (at.line() != 0) std::fprintf(stderr, " (%s:%u)", file_name(at), at.line());
  std::fputc('\n', stderr);
  std::abort();
}

// The runners. A device's kernels need no memory of the host. So if the memory for another runner
// is missing, a thread waits for one that is in use.
class runner_pool {
 public:
  // Returns a runner that has the memory, once there is one. Throws std::bad_alloc if `reserve` was
  // not called for the memory.
  std::unique_ptr<block_runner> take(block_memory const& needed) {
    std::unique_lock lock(mutex_);
    if (auto runner = take_idle_locked(needed)) return runner;
    try {
      auto runner = idle_.empty() ? create_locked() : take_idle_locked({0, 0});
      try {
        runner->allocate(needed);
        return runner;
      } catch (...) {
        idle_.push_back(std::move(runner));
        throw;
      }
    } catch (std::bad_alloc const&) {
      if (reserved_.stacks < needed.stacks || reserved_.shared_bytes < needed.shared_bytes) throw;
    }
    for (;;) {
      given_back_.wait(lock);
      if (auto runner = take_idle_locked(needed)) return runner;
    }
  }
  // Allocates the memory of one runner, which keeps it. Throws std::bad_alloc.
  void reserve(block_memory const& needed) {
    std::lock_guard const lock(mutex_);
    block_memory enlarged = reserved_;
    enlarged.enlarge(needed);
    bool const is_reserved = count_ != 0 && enlarged.stacks == reserved_.stacks &&
                             enlarged.shared_bytes == reserved_.shared_bytes;
    if (is_reserved) return;
    auto runner = idle_.empty() ? create_locked() : take_idle_locked({0, 0});
    block_runner& allocating = *runner;
    idle_.push_back(std::move(runner));
    allocating.allocate(enlarged);
    reserved_ = enlarged;
    given_back_.notify_all();
  }
  void give_back(std::unique_ptr<block_runner> runner) {
    {
      std::lock_guard const lock(mutex_);
      idle_.push_back(std::move(runner));
    }
    given_back_.notify_all();
  }

 private:
  // Returns the idle runner that was used last of those that have the memory, or null. No stacks:
  // any runner.
  std::unique_ptr<block_runner> take_idle_locked(block_memory const& needed) noexcept {
    for (auto runner = idle_.rbegin(); runner != idle_.rend(); ++runner) {
      if (needed.stacks != 0 && !(*runner)->has(needed)) continue;
      auto result = std::move(*runner);
      idle_.erase(std::next(runner).base());
      return result;
    }
    return nullptr;
  }
  // Throws std::bad_alloc.
  std::unique_ptr<block_runner> create_locked() {
    idle_.reserve(count_ + 1);  // for give_back
    auto result = std::make_unique<block_runner>();
    ++count_;
    return result;
  }

  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<block_runner>> idle_;
  std::size_t count_ = 0;
  block_memory reserved_;  // of one of the runners
};

runner_pool& runners() {
  static base::no_destructor<runner_pool> instance;  // kernels may run until the process ends
  return *instance;
}

// Returns what the blocks of a grid need. Kernels with shared memory have barriers: all threads of
// a block are suspended at the same time, or with ThreadSanitizer have run on stacks of their own.
block_memory memory_of(grid_launch const& launch) {
  bool const has_shared_memory =
      launch.shared_bytes != 0 || symbols_of(launch.kernel.function)->shared_bytes != 0;
  std::size_t const threads = std::size_t{launch.block.x} * launch.block.y * launch.block.z;
  bool const may_wait = has_shared_memory || fiber::is_checked_by_tsan();
  return {may_wait ? threads : 1, base::round_up(launch.shared_bytes, shared_alignment)};
}

}  // namespace

std::string kernel_name(void const* kernel) {
  std::string const name = symbols_of(kernel)->name;
  if (!name.empty()) return name;
  code_place place;
  place.frames[0] = reinterpret_cast<std::uintptr_t>(kernel);
  place.frame_count = 1;
  message_text text;
  describe(place, text.data(), text.size());
  return text.data();
}

void reserve_runner(grid_launch const& launch) { runners().reserve(memory_of(launch)); }

void run_grid(grid_launch const& launch) {
  std::size_t const blocks = std::size_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  parallel_for(
      blocks,
      [&](std::size_t first, std::size_t last) {
        // Not destroyed after an exception, which leaves fibers suspended.
        block_runner* runner = nullptr;
        try {
          runner = runners().take(memory_of(launch)).release();
          runner->run(launch, first, last);
          runners().give_back(std::unique_ptr<block_runner>(runner));
        } catch (std::bad_alloc const&) {
          std::fputs(
              "rocarray host: out of memory for the stacks of a kernel's threads; lower "
              "ROCARRAY_HOST_STACK, or use smaller blocks\n",
              stderr);
          std::abort();
        }
      },
      1);
}

}  // namespace roc::host_hip

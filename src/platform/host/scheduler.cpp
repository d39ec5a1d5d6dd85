// SPDX-License-Identifier: MIT
#include "platform/host/scheduler.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <thread>
#include <utility>

#include "base/no_destructor.hpp"
#include "platform/host/access_checker.hpp"
#include "platform/host/arena.hpp"
#include "platform/host/current_device.hpp"
#include "platform/host/process_file.hpp"
#include "platform/host/settings.hpp"
#include "platform/host/start_thread.hpp"

namespace roc::host_hip {
namespace {

thread_local bool is_running_operation = false;

// How long a thread that waits for a value sleeps before it looks again.
constexpr auto value_polling_interval = std::chrono::microseconds(20);

// Sleeps for one polling interval without the lock.
void sleep_before_polling(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::this_thread::sleep_for(value_polling_interval);
  lock.lock();
}

pid_t process_of_exit_handler = 0;

// The exit handler of the modes in which work stays pending until a call waits for it. Does nothing
// if an operation itself calls exit().
void run_pending_work() {
  if (is_running_operation || ::getpid() != process_of_exit_handler) return;
  note_exit();
  scheduler::instance().run_pending();
}

bool register_exit_handler() {
  process_of_exit_handler = ::getpid();
  return std::atexit(run_pending_work) == 0;
}

}  // namespace

void* next_handle() {
  static std::atomic<std::uintptr_t> next = 0x1000;
  return reinterpret_cast<void*>(next.fetch_add(16, std::memory_order_relaxed));
}

// Neither the scheduler nor its threads are destroyed: static destructors of the program still
// enqueue work.
scheduler& scheduler::instance() {
  static base::no_destructor<scheduler> instance;
  [[maybe_unused]] static bool const has_exit_handler =
      host_settings().mode != run_mode::threaded && register_exit_handler();
  return *instance;
}

bool awaited_value::is_met() const noexcept {
  if (has_ended(writer)) return true;
  std::uint64_t const found =
      std::atomic_ref<std::uint64_t>(*address).load(std::memory_order_acquire) & mask;
  switch (compares) {
    case comparison::greater_or_equal:
      return is_cyclic ? static_cast<std::int64_t>(found - value) >= 0 : found >= value;
    case comparison::equal: return found == value;
    case comparison::has_common_bit: return (found & value) != 0;
    case comparison::lacks_bit: return (~(found | value) & mask) != 0;
  }
  return false;
}

hipStream_t scheduler::create_stream(int device, unsigned flags, int priority) {
  auto created = std::make_shared<stream_object>();
  created->device = device;
  created->flags = flags;
  created->priority = priority;
  auto const handle = static_cast<hipStream_t>(next_handle());
  unique_lock const lock(mutex_);
  streams_.emplace(handle, std::move(created));
  return handle;
}

bool scheduler::destroy_stream(hipStream_t stream) noexcept {
  unique_lock const lock(mutex_);
  auto node = streams_.extract(stream);
  if (!node) return false;
  std::erase_if(destroyed_streams_, [](auto const& entry) {
    return entry.second->last->state_ == operation::state::done;
  });
  stream_object& destroyed = *node.mapped();
  // The stream's thread shares the object, and ends when the queue is empty.
  destroyed.is_destroyed = true;
  stream_captures::instance().forget(&destroyed);
  if (destroyed.last != nullptr && destroyed.last->state_ != operation::state::done) {
    destroyed_streams_.insert(std::move(node));
  }
  condition_of(&destroyed).notify_all();
  return true;
}

bool scheduler::is_destroyed(stream_object const& stream) {
  unique_lock const lock(mutex_);
  return stream.is_destroyed;
}

std::shared_ptr<stream_object> scheduler::find_stream(hipStream_t stream) {
  if (stream == nullptr) return default_stream(current_device());
  if (stream == hipStreamPerThread) return per_thread_stream(current_device());
  unique_lock const lock(mutex_);
  auto const found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second;
}

std::shared_ptr<stream_object> scheduler::default_stream(int device) {
  unique_lock const lock(mutex_);
  auto const index = static_cast<std::size_t>(device);
  if (default_streams_.size() <= index) default_streams_.resize(index + 1);
  auto& stream = default_streams_[index];
  if (stream == nullptr) {
    stream = std::make_shared<stream_object>();
    stream->device = device;
  }
  return stream;
}

std::shared_ptr<stream_object> scheduler::per_thread_stream(int device) {
  // The main thread's streams are destroyed before static objects, whose destructors may still
  // request one.
  static thread_local bool are_destroyed = false;
  if (are_destroyed) return default_stream(device);
  struct streams {
    std::map<int, hipStream_t> by_device;
    // Pending work of the thread still runs, and later work is ordered after it.
    ~streams() {
      are_destroyed = true;
      for (auto const& [ordinal, handle] : by_device) scheduler::instance().destroy_stream(handle);
    }
  };
  thread_local streams thread_streams;
  hipStream_t& handle = thread_streams.by_device[device];
  if (handle == nullptr) handle = create_stream(device, 0, 0);
  return find_stream(handle);
}

void scheduler::add_dependencies_locked(stream_object& stream,
                                        std::vector<operation_ptr>& dependencies) {
  auto const add = [&](operation_ptr const& previous) {
    if (previous != nullptr && previous->state_ != operation::state::done) {
      dependencies.push_back(previous);
    }
  };
  add(stream.last);
  if (!stream.is_blocking()) return;
  auto const index = static_cast<std::size_t>(stream.device);
  stream_object* const null_stream =
      index < default_streams_.size() ? default_streams_[index].get() : nullptr;
  if (null_stream != &stream) {
    if (null_stream != nullptr) add(null_stream->last);
    return;
  }
  for (stream_map const* streams : {&streams_, &destroyed_streams_}) {
    for (auto const& [handle, other] : *streams) {
      if (other->device == stream.device && other->is_blocking()) add(other->last);
    }
  }
}

operation_ptr scheduler::submit(std::shared_ptr<stream_object> const& stream,
                                std::function<void()> work, operation_ptr const& dependency,
                                char const* kind, bool may_run_in_waiter) {
  if (stream_captures::instance().is_any_active() &&
      stream_captures::instance().add(stream.get(), kind, work)) {
    return nullptr;
  }
  auto submitted = std::make_shared<operation>();
  submitted->work_ = std::move(work);
  submitted->may_run_in_waiter_ = may_run_in_waiter;
  enqueue(stream, submitted, dependency);
  return submitted;
}

operation_ptr scheduler::submit_wait(std::shared_ptr<stream_object> const& stream,
                                     awaited_value const& awaited, std::shared_ptr<void> record) {
  auto submitted = std::make_shared<operation>();
  submitted->work_ = [owned = std::move(record)] {};
  submitted->awaited_ = awaited;
  enqueue(stream, submitted, nullptr);
  return submitted;
}

operation_ptr scheduler::submit_write(std::shared_ptr<stream_object> const& stream,
                                      std::uint64_t* address, std::uint64_t value,
                                      std::shared_ptr<void> record) {
  auto submitted = std::make_shared<operation>();
  submitted->work_ = [=, owned = std::move(record)] {
    memory_access_scope const access;
    std::atomic_ref<std::uint64_t>(*address).store(value, std::memory_order_release);
  };
  submitted->written_ = address;
  enqueue(stream, submitted, nullptr);
  return submitted;
}

void scheduler::enqueue(std::shared_ptr<stream_object> const& stream,
                        operation_ptr const& submitted, operation_ptr const& dependency) {
  unique_lock lock(mutex_);
  if (stream_captures::instance().is_any_active()) {
    stream_captures::instance().refuse(stream.get());
    if (is_default_stream_locked(stream)) {
      stream_captures::instance().refuse_implicit(stream->device);
    }
  }
  add_dependencies_locked(*stream, submitted->dependencies_);
  if (dependency != nullptr && dependency->state_ != operation::state::done) {
    submitted->dependencies_.push_back(dependency);
  }
  if (host_settings().mode == run_mode::threaded) {
    // Before anything is enqueued, because both may fail.
    if (!stream->has_thread) start_thread([this, stream] { worker_loop(stream); });
    stream->has_thread = true;
    // The first work of a stream runs in its thread, which then has the memory that it needs.
    if (!stream->is_thread_running) submitted->may_run_in_waiter_ = false;
    stream->queue.push_back(submitted);
    condition_of(stream.get()).notify_all();
  } else if (submitted->written_ != nullptr) {
    std::erase_if(writes_, [](operation_ptr const& write) {
      return write->state_ == operation::state::done;
    });
    writes_.push_back(submitted);
  }
  stream->last = submitted;
  if (host_settings().mode == run_mode::inline_) run_with_dependencies(submitted, lock, false);
}

void scheduler::run(operation& next, unique_lock& lock) noexcept {
  next.state_ = operation::state::running;
  auto work = std::move(next.work_);
  lock.unlock();
  bool const is_nested = std::exchange(is_running_operation, true);
  if (work) work();
  work = nullptr;  // destroys the closure without the lock
  is_running_operation = is_nested;
  lock.lock();
  next.state_ = operation::state::done;
  next.dependencies_.clear();
  condition_of(&next).notify_all();
}

void scheduler::wait_until_done(operation const& awaited, unique_lock& lock) {
  condition_of(&awaited).wait(lock, [&] { return awaited.state_ == operation::state::done; });
}

std::condition_variable& scheduler::condition_of(void const* awaited) noexcept {
  // Objects of the heap begin at multiples of 16 bytes.
  return conditions_[reinterpret_cast<std::uintptr_t>(awaited) / 16 % conditions_.size()];
}

operation_ptr scheduler::first_pending_locked(operation const& dependent) noexcept {
  auto const pending =
      std::find_if(dependent.dependencies_.begin(), dependent.dependencies_.end(),
                   [](auto const& previous) { return previous->state_ != operation::state::done; });
  return pending == dependent.dependencies_.end() ? nullptr : *pending;
}

operation_ptr scheduler::find_runnable_locked(operation_ptr const& wanted,
                                              std::vector<operation_ptr>& path) noexcept {
  operation_ptr candidate = wanted;
  if (!path.empty()) {
    candidate = std::move(path.back());
    path.pop_back();
  }
  for (;;) {
    operation_ptr const pending = first_pending_locked(*candidate);
    if (pending == nullptr) return candidate;
    try {
      path.push_back(candidate);
    } catch (std::bad_alloc const&) {
      path.clear();
    }
    candidate = pending;
  }
}

operation_ptr scheduler::find_progress_locked(operation_ptr const& next) noexcept {
  if (next->state_ != operation::state::pending) return nullptr;
  ++search_;
  if (operation_ptr ready = find_ready_locked(next)) return ready;
  // Work of other streams would run by itself on a device.
  if (next->awaited_->writer >= 0) return nullptr;
  auto const find_in = [this](stream_object const* stream) {
    return stream == nullptr || stream->last == nullptr ? nullptr : find_ready_locked(stream->last);
  };
  for (auto const& stream : default_streams_) {
    if (operation_ptr ready = find_in(stream.get())) return ready;
  }
  for (stream_map const* streams : {&streams_, &destroyed_streams_}) {
    for (auto const& [handle, stream] : *streams) {
      if (operation_ptr ready = find_in(stream.get())) return ready;
    }
  }
  return nullptr;
}

operation_ptr scheduler::find_ready_locked(operation_ptr const& wanted) noexcept {
  operation_ptr candidate = wanted;
  for (;;) {
    if (std::exchange(candidate->visited_, search_) == search_) return nullptr;
    operation_ptr pending = first_pending_locked(*candidate);
    if (pending == nullptr) break;
    candidate = std::move(pending);
  }
  if (candidate->state_ != operation::state::pending) return nullptr;
  if (!candidate->awaited_ || candidate->awaited_->is_met()) return candidate;
  for (operation_ptr const& write : writes_) {
    bool const is_pending = write->state_ == operation::state::pending;
    if (!is_pending || write->written_ != candidate->awaited_->address) continue;
    // The operation that leads to the write may wait for another value.
    if (operation_ptr ready = find_ready_locked(write)) return ready;
  }
  return nullptr;
}

void scheduler::run_with_dependencies(operation_ptr const& wanted, unique_lock& lock,
                                      bool waits_for_values) noexcept {
  if (wanted->state_ == operation::state::done) return;
  accessible_scope const memory;
  std::vector<operation_ptr> path;
  while (wanted->state_ != operation::state::done) {
    operation_ptr const next = find_runnable_locked(wanted, path);
    if (operation_ptr const ready = find_progress_locked(next)) {
      run(*ready, lock);
    } else if (next->state_ != operation::state::pending) {
      // Another thread runs it, or has run it while this one slept.
      wait_until_done(*next, lock);
    } else if (waits_for_values) {
      sleep_before_polling(lock);
    } else {
      return;
    }
  }
}

void scheduler::worker_loop(std::shared_ptr<stream_object> stream) noexcept {
  // The first access allocates the thread's variables if the library was loaded by dlopen.
  is_running_operation = false;
  unique_lock lock(mutex_);
  stream->is_thread_running = true;
  for (;;) {
    condition_of(stream.get()).wait(lock, [&] {
      return !stream->queue.empty() || stream->is_destroyed;
    });
    if (stream->queue.empty()) return;
    operation_ptr const next = std::move(stream->queue.front());
    stream->queue.pop_front();
    // Searched anew after each wait: a thread that waits may run `next`, which clears them.
    while (operation_ptr const previous = first_pending_locked(*next)) {
      wait_until_done(*previous, lock);
    }
    while (next->awaited_ && !next->awaited_->is_met()) sleep_before_polling(lock);
    if (next->state_ == operation::state::pending) {
      run(*next, lock);
    } else {
      wait_until_done(*next, lock);
    }
  }
}

void scheduler::try_run_in_waiter(operation_ptr const& awaited, unique_lock& lock) noexcept {
  constexpr std::size_t max_chain = 4;
  std::array<operation_ptr, max_chain> chain;
  std::size_t length = 0;
  for (operation_ptr next = awaited; next != nullptr; next = first_pending_locked(*next)) {
    bool const is_pending = next->state_ == operation::state::pending;
    if (!is_pending || !next->may_run_in_waiter_ || length == max_chain) return;
    chain[length++] = next;
  }
  while (length-- != 0) {
    // Another thread may have run it meanwhile, and it may have a second dependency.
    operation_ptr const& next = chain[length];
    bool const can_run =
        next->state_ == operation::state::pending && first_pending_locked(*next) == nullptr;
    if (!can_run) return;
    run(*next, lock);
  }
}

void scheduler::wait(operation_ptr const& awaited) {
  unique_lock lock(mutex_);
  wait_locked(awaited, lock);
}

void scheduler::wait_locked(operation_ptr const& awaited, unique_lock& lock,
                            bool waits_for_values) {
  if (awaited == nullptr) return;
  if (host_settings().mode == run_mode::threaded) {
    try_run_in_waiter(awaited, lock);
    wait_until_done(*awaited, lock);
  } else {
    run_with_dependencies(awaited, lock, waits_for_values);
  }
}

bool scheduler::query(operation_ptr const& queried) {
  if (queried == nullptr) return true;
  unique_lock lock(mutex_);
  if (queried->state_ == operation::state::done) return true;
  if (host_settings().mode != run_mode::threaded) {
    accessible_scope const memory;  // also for the numbers that operations wait for
    std::vector<operation_ptr> path;
    operation_ptr const next = find_runnable_locked(queried, path);
    if (operation_ptr const ready = find_progress_locked(next)) run(*ready, lock);
  }
  return false;
}

bool scheduler::has_pending_work(std::shared_ptr<stream_object> const& stream) {
  unique_lock const lock(mutex_);
  return stream->last != nullptr && stream->last->state_ != operation::state::done;
}

operation_ptr scheduler::last_operation(std::shared_ptr<stream_object> const& stream) {
  unique_lock const lock(mutex_);
  return stream->last;
}

bool scheduler::is_default_stream_locked(std::shared_ptr<stream_object> const& stream) const {
  auto const index = static_cast<std::size_t>(stream->device);
  return index < default_streams_.size() && default_streams_[index] == stream;
}

void scheduler::refuse_captured(std::shared_ptr<stream_object> const& stream) {
  if (!stream_captures::instance().is_any_active()) return;
  stream_captures::instance().refuse(stream.get());
  unique_lock const lock(mutex_);
  if (is_default_stream_locked(stream)) stream_captures::instance().refuse_implicit(stream->device);
}

std::vector<operation_ptr> scheduler::awaited_operations(
    std::shared_ptr<stream_object> const& stream) {
  std::vector<operation_ptr> awaited;
  unique_lock const lock(mutex_);
  if (is_default_stream_locked(stream)) {
    add_dependencies_locked(*stream, awaited);
  } else if (stream->last != nullptr) {
    awaited.push_back(stream->last);
  }
  return awaited;
}

template <class F>
void scheduler::wait_for_streams(F is_awaited, bool waits_for_values) {
  // Streams that are created meanwhile have later handles.
  auto const end = static_cast<hipStream_t>(next_handle());
  unique_lock lock(mutex_);
  auto const wait_for_last = [&](std::shared_ptr<stream_object> const stream) {
    if (stream == nullptr || !is_awaited(*stream)) return;
    operation_ptr const last = stream->last;
    wait_locked(last, lock, waits_for_values);
  };
  for (std::size_t i = 0; i < default_streams_.size(); ++i) wait_for_last(default_streams_[i]);
  // The maps may change while a wait has released the lock.
  for (stream_map const* streams : {&streams_, &destroyed_streams_}) {
    auto next = streams->begin();
    while (next != streams->end() && std::less<>()(next->first, end)) {
      hipStream_t const handle = next->first;
      wait_for_last(next->second);
      next = streams->upper_bound(handle);
    }
  }
}

void scheduler::wait_for_stream(std::shared_ptr<stream_object> const& stream) {
  bool is_default = false;
  {
    unique_lock lock(mutex_);
    is_default = is_default_stream_locked(stream);
    operation_ptr const last = stream->last;
    if (!is_default) return wait_locked(last, lock);
  }
  wait_for_streams([&](stream_object const& other) {
    return other.device == stream->device && other.is_blocking();
  });
}

void scheduler::wait_for_device(int device) {
  wait_for_streams([=](stream_object const& stream) {
    return device == all_devices || stream.device == device;
  });
}

void scheduler::run_pending() {
  wait_for_streams([](stream_object const&) { return true; }, false);
}

}  // namespace roc::host_hip

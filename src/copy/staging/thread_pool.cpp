// SPDX-License-Identifier: MIT
#include "copy/staging/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "base/spin_backoff.hpp"
#include "base/options.hpp"
#include "runtime/numa.hpp"

namespace roc::transfer {

// Leaked on purpose, threads and all: copies run until the very end of the process.
thread_pool& thread_pool::instance() {
  static auto* const teams = new std::map<int, std::unique_ptr<thread_pool>>;
  static std::mutex mutex;
  int const device = runtime::current_device();
  std::lock_guard const held(mutex);
  auto& team = (*teams)[device];
  if (team == nullptr) team.reset(new thread_pool(device));
  return *team;
}

thread_pool::thread_pool(int device) : device_(device) {
  std::size_t const wanted = base::options().workers;
  try {
    for (; threads_ != wanted; ++threads_) {
      std::thread([this] { serve(); }).detach();
    }
  } catch (std::system_error const&) {
    // With fewer it is slower; the caller always works too.
  }
}

void thread_pool::serve() {
  runtime::bind_thread_to_device_node(device_);
  // An error comes again with the first piece.
  static_cast<void>(ROCARRAY_HIP_CODE(hipSetDevice, device_));
  lock held(mutex_);
  for (;;) {
    job* const work = next_job();
    if (work != nullptr) {
      work_on(*work, false, held);
    } else if (!watch(held, [this] { return has_work(); })) {
      // Counted before the last look: who has work after that one sees the sleeper.
      sleepers_.fetch_add(1);
      if (!has_work()) posted_.wait(held);
      sleepers_.fetch_sub(1);
    }
  }
}

void thread_pool::tell() {
  posts_.fetch_add(1);
  if (sleepers_.load() == 0) return;
  std::lock_guard const held(mutex_);
  posted_.notify_all();
}

// Holding the lock.
bool thread_pool::has_work() const {
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [](job const* each) { return each->has_work_for(false); });
}

// Holding the lock, which is released meanwhile. A thread that sleeps takes long to wake, compared
// with a copy of a few MiB: for a while after the last piece it looks out for the next, long enough
// for the pieces of a copy in a stream's order, between which the device works. False where there
// was no post, and what is wanted is not so.
template <class Condition>
bool thread_pool::watch(lock& held, Condition const& wanted) {
  constexpr auto longest = std::chrono::microseconds(400);
  unsigned const seen = posts_.load();
  if (wanted()) return true;
  held.unlock();
  auto const end = std::chrono::steady_clock::now() + longest;
  base::spin_backoff backoff;
  bool posted = false;
  while (!posted && std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 64 && !posted; ++i) {
      posted = posts_.load() != seen;
      backoff.pause();
    }
  }
  base::spin_then_lock(held);
  return posts_.load() != seen || wanted();
}

// Holding the lock.
void thread_pool::post() {
  posts_.fetch_add(1);
  posted_.notify_all();
}

// Holding the lock. In turn, so that copies at the same time share the workers.
thread_pool::job* thread_pool::next_job() {
  auto const found = std::find_if(jobs_.begin(), jobs_.end(),
                                  [](job const* each) { return each->has_work_for(false); });
  if (found == jobs_.end()) return nullptr;
  job* const work = *found;
  jobs_.erase(found);
  jobs_.push_back(work);
  return work;
}

// Holding the lock, which is released meanwhile. False where a piece was helped with, none begun.
bool thread_pool::work_on(job& of, bool by_caller, lock& held) {
  bool const begins = of.has_piece_for(by_caller);
  if (begins && !(of.work.helps_first() && of.work.can_help())) {
    do_piece(of, by_caller, held);
    return true;
  }
  ++of.running;
  held.unlock();
  of.work.help();
  base::spin_then_lock(held);
  if (--of.running == 0) finish();
  return false;
}

// Holding the lock.
void thread_pool::finish() {
  posts_.fetch_add(1);
  finished_.notify_all();
}

// Holding the lock, which is released meanwhile.
void thread_pool::do_piece(job& of, bool by_caller, lock& held) {
  std::size_t index = 0;
  if (of.returned.empty()) {
    index = of.next++;
  } else {
    index = of.returned.back();
    of.returned.pop_back();
  }
  ++of.running;
  held.unlock();
  bool done = true;
  std::exception_ptr failure;
  try {
    done = of.work.run(index, by_caller || of.work.may_wait());
  } catch (...) {
    failure = std::current_exception();
  }
  base::spin_then_lock(held);
  --of.running;
  if (failure) {
    if (!of.failure) of.failure = failure;
    of.next = of.count;
    of.returned.clear();
  } else if (!done && !of.failure) {
    of.returned.push_back(index);
    of.starved = true;
  }
  if (of.running == 0 || !done) finish();
}

void thread_pool::run(std::size_t count, pieces& work) {
  job mine{work, count, 0, 0, false, {}, nullptr};
  mine.returned.reserve(threads_ + 1);  // by those who could not say that there is no memory for it
  lock held(mutex_, std::defer_lock);
  base::spin_then_lock(held);
  jobs_.push_back(&mine);
  if (count > 1) post();
  for (;;) {
    while (mine.has_work_for(true)) {
      // There was memory, so there may be more.
      if (work_on(mine, true, held) && std::exchange(mine.starved, false)) post();
    }
    if (mine.running == 0) break;
    // A worker may yet give a piece back, or let others help.
    auto const wanted = [&] { return mine.has_work_for(true) || mine.running == 0; };
    if (!watch(held, wanted)) finished_.wait(held, wanted);
  }
  std::erase(jobs_, &mine);
  if (mine.failure) std::rethrow_exception(mine.failure);
}

}  // namespace roc::transfer

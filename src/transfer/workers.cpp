// SPDX-License-Identifier: MIT
#include "transfer/workers.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/settings.hpp"
#include "transfer/numa.hpp"

namespace roc::transfer {

// Leaked on purpose, threads and all: copies run until the very end of the process.
worker_team& worker_team::instance() {
  static auto* const teams = new std::map<int, std::unique_ptr<worker_team>>;
  static std::mutex mutex;
  int const device = runtime::current_device();
  std::lock_guard const held(mutex);
  auto& team = (*teams)[device];
  if (team == nullptr) team.reset(new worker_team(device));
  return *team;
}

worker_team::worker_team(int device) : device_(device) {
  std::size_t const wanted = runtime::settings().workers;
  try {
    for (; threads_ != wanted; ++threads_) {
      std::thread([this] { serve(); }).detach();
    }
  } catch (std::system_error const&) {
    // With fewer it is slower; without any, run_elsewhere says so.
  }
}

void worker_team::serve() {
  stay_near_device(device_);
  static_cast<void>(ROC_HIP_CODE(hipSetDevice, device_));  // an error comes again with the first piece
  lock held(mutex_);
  for (;;) {
    job* const work = next_job();
    if (work == nullptr) {
      posted_.wait(held);
    } else {
      do_piece(*work, work->work.may_wait(), held);
    }
  }
}

// Holding the lock. In turn, so that copies at the same time share the workers.
worker_team::job* worker_team::next_job() {
  auto const found = std::find_if(jobs_.begin(), jobs_.end(), [](job const* each) {
    return each->has_piece() && !each->starved;
  });
  if (found == jobs_.end()) return nullptr;
  job* const work = *found;
  jobs_.erase(found);
  jobs_.push_back(work);
  return work;
}

// Holding the lock, which is released meanwhile.
void worker_team::do_piece(job& of, bool may_wait, lock& held) {
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
    done = of.work.run(index, may_wait);
  } catch (...) {
    failure = std::current_exception();
  }
  held.lock();
  --of.running;
  if (failure) {
    if (!of.failure) of.failure = failure;
    of.next = of.count;
    of.returned.clear();
  } else if (!done && !of.failure) {
    of.returned.push_back(index);
    of.starved = true;
  }
  if (of.running == 0 || !done) finished_.notify_all();
}

// Holding the lock. The job may go then.
void worker_team::finish(job& of, lock& held) {
  finished_.wait(held, [&] { return of.is_done(); });
  std::erase(jobs_, &of);
  if (of.failure) std::rethrow_exception(of.failure);
}

void worker_team::run(std::size_t count, pieces& work) {
  job mine{work, count, 0, 0, false, {}, nullptr};
  lock held(mutex_);
  jobs_.push_back(&mine);
  if (count > 1) posted_.notify_all();
  for (;;) {
    while (mine.has_piece()) {
      do_piece(mine, true, held);
      // There was memory, so there may be more.
      if (std::exchange(mine.starved, false)) posted_.notify_all();
    }
    if (mine.running == 0) break;
    // A worker may yet give a piece back.
    finished_.wait(held, [&] { return mine.has_piece() || mine.running == 0; });
  }
  finish(mine, held);
}

void worker_team::run_elsewhere(std::size_t count, pieces& work) {
  job mine{work, count, 0, 0, false, {}, nullptr};
  lock held(mutex_);
  jobs_.push_back(&mine);
  posted_.notify_all();
  finish(mine, held);
}

}  // namespace roc::transfer

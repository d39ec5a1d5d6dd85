// SPDX-License-Identifier: MIT
#include "platform/host/engine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>

#include "platform/host/device.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

thread_local bool runs_work = false;

// What nothing forced runs at the end. Not where that end comes out of the work itself.
void run_what_is_left() {
  if (!runs_work) engine::instance().wait_for_device(-1);
}

}  // namespace

void* next_handle() {
  static std::atomic<std::uintptr_t> next = 0x1000;
  return reinterpret_cast<void*>(next.fetch_add(16, std::memory_order_relaxed));
}

// Leaked on purpose, threads and all: work may come until the very end of the process.
engine& engine::instance() {
  static auto* const made = [] {
    auto* const first = new engine;
    if (the_settings().run_mode == mode::deferred) std::atexit(run_what_is_left);
    return first;
  }();
  return *made;
}

hipStream_t engine::create(int device, unsigned flags, int priority) {
  auto made = std::make_shared<stream_object>();
  made->device = device;
  made->flags = flags;
  made->priority = priority;
  auto const handle = static_cast<hipStream_t>(next_handle());
  lock const held(mutex_);
  streams_.emplace(handle, std::move(made));
  return handle;
}

bool engine::destroy(hipStream_t stream) {
  lock const held(mutex_);
  auto const place = streams_.find(stream);
  if (place == streams_.end()) return false;
  stream_object& gone = *place->second;
  if (gone.last != nullptr && gone.last->state_ != operation::state::done) {
    std::erase_if(orphans_, [](auto const& orphan) {
      return orphan.second->state_ == operation::state::done;
    });
    orphans_.emplace_back(gone.blocking() ? gone.device : -1 - gone.device, gone.last);
  }
  gone.closed = true;  // its thread, which shares the object, ends when the queue is empty
  streams_.erase(place);
  changed_.notify_all();
  return true;
}

std::shared_ptr<stream_object> engine::find(hipStream_t stream) {
  if (stream == nullptr) return default_stream(current_device());
  if (stream == hipStreamPerThread) return thread_stream(current_device());
  lock const held(mutex_);
  auto const place = streams_.find(stream);
  return place == streams_.end() ? nullptr : place->second;
}

std::shared_ptr<stream_object> engine::default_stream(int device) {
  lock const held(mutex_);
  auto const index = static_cast<std::size_t>(device);
  if (defaults_.size() <= index) defaults_.resize(index + 1);
  auto& found = defaults_[index];
  if (found == nullptr) {
    found = std::make_shared<stream_object>();
    found->device = device;
  }
  return found;
}

std::shared_ptr<stream_object> engine::thread_stream(int device) {
  // Of the main thread's stream nothing is left when static objects are destroyed.
  static thread_local bool ended = false;
  if (ended) return default_stream(device);
  struct streams {
    std::unordered_map<int, hipStream_t> by_device;
    // What the thread enqueued is done and ordered all the same.
    ~streams() {
      ended = true;
      for (auto const& [of, handle] : by_device) engine::instance().destroy(handle);
    }
  };
  thread_local streams mine;
  hipStream_t& handle = mine.by_device[device];
  if (handle == nullptr) handle = create(device, 0, 0);
  return find(handle);
}

// Holding the lock. What the stream's own order and the legacy default stream's rule demand.
void engine::add_order(stream_object& stream, std::vector<operation_ptr>& after) {
  auto const add = [&](operation_ptr const& other) {
    if (other != nullptr && other->state_ != operation::state::done) after.push_back(other);
  };
  add(stream.last);
  if (!stream.blocking()) return;
  auto const index = static_cast<std::size_t>(stream.device);
  stream_object* const null = index < defaults_.size() ? defaults_[index].get() : nullptr;
  if (null != &stream) {
    if (null != nullptr) add(null->last);
    return;
  }
  for (auto const& [handle, other] : streams_) {
    if (other->device == stream.device && other->blocking()) add(other->last);
  }
  for (auto const& [device, last] : orphans_) {
    if (device == stream.device) add(last);
  }
}

operation_ptr engine::submit(std::shared_ptr<stream_object> const& stream,
                             std::function<void()> work, operation_ptr const& extra) {
  auto made = std::make_shared<operation>();
  made->work_ = std::move(work);
  lock held(mutex_);
  add_order(*stream, made->after_);
  if (extra != nullptr && extra->state_ != operation::state::done) made->after_.push_back(extra);
  stream->last = made;
  switch (the_settings().run_mode) {
    case mode::inline_:
      force(made, held);
      break;
    case mode::deferred:
      break;
    case mode::threaded:
      stream->queue.push_back(made);
      if (!stream->has_thread) {
        std::thread([this, stream] { serve(stream); }).detach();
        stream->has_thread = true;
      }
      changed_.notify_all();
      break;
  }
  return made;
}

// Holding the lock, which is released while the work runs. Work that throws ends the process in
// every mode: there is nobody to catch it on a device.
void engine::run(operation& next, lock& held) noexcept {
  next.state_ = operation::state::running;
  auto work = std::move(next.work_);
  held.unlock();
  bool const within = std::exchange(runs_work, true);
  if (work) work();
  work = nullptr;
  runs_work = within;
  held.lock();
  next.state_ = operation::state::done;
  next.after_.clear();
  changed_.notify_all();
}

bool engine::is_ready(operation const& next) const {
  return std::all_of(next.after_.begin(), next.after_.end(), [](operation_ptr const& other) {
    return other->state_ == operation::state::done;
  });
}

// The first operation, along what `wanted` waits for, that waits for nothing itself. `path` is the
// way there, kept by the caller to go on from.
operation_ptr engine::first_to_run(operation_ptr const& wanted, std::vector<operation_ptr>& path) {
  if (path.empty()) path.push_back(wanted);
  for (;;) {
    operation_ptr const& here = path.back();
    auto const open = std::find_if(here->after_.begin(), here->after_.end(), [](auto const& other) {
      return other->state_ != operation::state::done;
    });
    if (open == here->after_.end()) break;
    path.push_back(*open);
  }
  operation_ptr const found = path.back();
  path.pop_back();
  return found;
}

// Holding the lock. Runs `wanted` and what it needs, and nothing else.
void engine::force(operation_ptr const& wanted, lock& held) {
  std::vector<operation_ptr> path;
  while (wanted->state_ != operation::state::done) {
    operation_ptr const next = first_to_run(wanted, path);
    if (next->state_ == operation::state::pending) {
      run(*next, held);
    } else {
      changed_.wait(held, [&] { return next->state_ == operation::state::done; });
    }
  }
}

void engine::serve(std::shared_ptr<stream_object> stream) {
  lock held(mutex_);
  for (;;) {
    changed_.wait(held, [&] { return !stream->queue.empty() || stream->closed; });
    if (stream->queue.empty()) return;
    operation_ptr const next = std::move(stream->queue.front());
    stream->queue.pop_front();
    changed_.wait(held, [&] { return is_ready(*next); });
    run(*next, held);
  }
}

void engine::wait(operation_ptr const& awaited) {
  if (awaited == nullptr) return;
  lock held(mutex_);
  if (the_settings().run_mode == mode::threaded) {
    changed_.wait(held, [&] { return awaited->state_ == operation::state::done; });
  } else {
    force(awaited, held);
  }
}

bool engine::query(operation_ptr const& asked) {
  if (asked == nullptr) return true;
  lock held(mutex_);
  if (asked->state_ == operation::state::done) return true;
  if (the_settings().run_mode == mode::deferred) {
    // One step, so that polling comes to an end.
    std::vector<operation_ptr> path;
    operation_ptr const next = first_to_run(asked, path);
    if (next->state_ == operation::state::pending) run(*next, held);
  }
  return false;
}

operation_ptr engine::last_of(std::shared_ptr<stream_object> const& stream) {
  lock const held(mutex_);
  return stream->last;
}

void engine::wait_for_device(int device) {
  std::vector<operation_ptr> all;
  {
    lock const held(mutex_);
    auto const add = [&](int of, operation_ptr const& last) {
      if (last != nullptr && (device == -1 || of == device)) all.push_back(last);
    };
    for (auto const& each : defaults_) {
      if (each != nullptr) add(each->device, each->last);
    }
    for (auto const& [handle, each] : streams_) add(each->device, each->last);
    for (auto const& [of, last] : orphans_) add(of >= 0 ? of : -1 - of, last);
  }
  for (operation_ptr const& each : all) wait(each);
}

}  // namespace roc::host_hip

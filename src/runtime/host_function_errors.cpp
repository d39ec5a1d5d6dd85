// SPDX-License-Identifier: MIT
#include "runtime/host_function_errors.hpp"

#include <atomic>
#include <compare>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/current_device.hpp"
#include "base/error.hpp"
#include "runtime/stream.hpp"

namespace roc::runtime {
namespace {

// How many exceptions wait for a synchronisation: while there are none that costs one load.
std::atomic<int> waiting = 0;

// Handles are the process's, but the default stream's is the same on every device, and that of the
// per-thread streams in every thread besides.
struct key {
  detail::native_stream* handle;
  int device;
  unsigned long thread;
  friend auto operator<=>(key const&, key const&) = default;
};

struct outcomes {
  std::mutex mutex;
  std::map<key, std::shared_ptr<host_outcome>> by_stream;

  std::shared_ptr<host_outcome> find(key const& which) {
    std::lock_guard const lock(mutex);
    auto const place = by_stream.find(which);
    return place == by_stream.end() ? nullptr : place->second;
  }

  void abandon(key const& which) noexcept {
    std::exception_ptr unseen;
    {
      std::lock_guard const lock(mutex);
      auto const place = by_stream.find(which);
      if (place == by_stream.end()) return;
      unseen = place->second->abandon();
      by_stream.erase(place);
    }
    if (unseen != nullptr) log_host_error(std::move(unseen));
  }

  void abandon_thread(unsigned long thread) noexcept;
};

// Leaked on purpose: host functions run until the very end of the process.
outcomes& state() {
  static auto* const instance = new outcomes;
  return *instance;
}

void outcomes::abandon_thread(unsigned long thread) noexcept {
  while (true) {
    key found{};
    {
      std::lock_guard const lock(mutex);
      auto place = by_stream.begin();
      while (place != by_stream.end() && place->first.thread != thread) ++place;
      if (place == by_stream.end()) return;
      found = place->first;
    }
    abandon(found);
  }
}

// A number from 1 for the calling thread, whose streams end with it.
unsigned long this_thread() {
  static std::atomic<unsigned long> last = 0;
  struct owner {
    unsigned long number = ++last;
    ~owner() { state().abandon_thread(number); }
  };
  thread_local owner const mine;
  return mine.number;
}

key key_of(stream_ref stream) {
  bool const of_thread = is_per_thread(stream.handle());
  bool const shared = stream.handle() == nullptr || of_thread;
  return {stream.handle(), shared ? device_of(stream, current_device()) : -1,
          of_thread ? this_thread() : 0};
}

}  // namespace

void host_outcome::keep(std::exception_ptr thrown) noexcept {
  {
    std::lock_guard const lock(mutex_);
    if (!abandoned_ && first_ == nullptr) {
      first_ = std::move(thrown);
      ++waiting;
      return;
    }
  }
  log_host_error(std::move(thrown));
}

std::exception_ptr host_outcome::take() noexcept {
  std::lock_guard const lock(mutex_);
  if (first_ != nullptr) --waiting;
  return std::exchange(first_, nullptr);
}

std::exception_ptr host_outcome::abandon() noexcept {
  {
    std::lock_guard const lock(mutex_);
    abandoned_ = true;
  }
  return take();
}

std::shared_ptr<host_outcome> host_outcome_of(stream_ref stream, int device) {
  key const which = key_of(stream);
  std::lock_guard const lock(state().mutex);
  auto& place = state().by_stream[which];
  if (place == nullptr) place = std::make_shared<host_outcome>(device);
  return place;
}

void rethrow_host_error(stream_ref stream) {
  if (waiting.load(std::memory_order_acquire) == 0) return;
  auto const known = state().find(key_of(stream));
  if (known == nullptr) return;
  if (auto thrown = known->take(); thrown != nullptr) std::rethrow_exception(std::move(thrown));
}

void rethrow_host_error(int device) {
  if (waiting.load(std::memory_order_acquire) == 0) return;
  std::exception_ptr thrown;
  {
    std::lock_guard const lock(state().mutex);
    for (auto const& [stream, known] : state().by_stream) {
      if (known->device() == device) thrown = known->take();
      if (thrown != nullptr) break;
    }
  }
  if (thrown != nullptr) std::rethrow_exception(std::move(thrown));
}

void abandon_host_errors(stream_ref stream) noexcept {
  state().abandon({stream.handle(), -1, 0});
}

void log_host_error(std::exception_ptr thrown) noexcept {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (std::exception const& late) {
    try {
      base::log(std::string("a host function of a stream threw: ") + late.what());
    } catch (std::bad_alloc const&) {
      base::log("a host function of a stream threw");
    }
  } catch (...) {
    base::log("a host function of a stream threw something that is no std::exception");
  }
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
#include "runtime/stream_uses.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "base/thread_sanitizer.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::runtime {
namespace {

// Returns true if nobody else has the event, which may then be recorded again. The copies were made
// under the lock of the owner.
bool is_sole_owner(shared_event const& reached) noexcept {
  if constexpr (base::has_thread_sanitizer) return false;
  bool const is_sole = reached.use_count() == 1;
  std::atomic_thread_fence(std::memory_order_acquire);  // after the last use by other owners
  return is_sole;
}

// Returns false if HIP cannot tell.
bool is_surely_captured(stream_ref stream) noexcept {
  bool is_captured = false;
  platform::retry_then_log([&] { is_captured = belongs_to_capture(stream); });
  return is_captured;
}

// From this number of uses on, those that have finished are removed before one is added.
constexpr std::size_t many_uses = 8;

}  // namespace

stream_uses::use* stream_uses::find(stream_id const& stream) noexcept {
  auto const found = std::find_if(uses_.begin(), uses_.end(),
                                  [&](use const& item) { return item.stream == stream; });
  return found == uses_.end() ? nullptr : &*found;
}

stream_uses::use& stream_uses::find_or_add(stream_id const& stream) {
  if (use* const found = find(stream)) return *found;
  if (uses_.size() >= many_uses) remove_finished();
  return uses_.emplace_back(use{stream, nullptr, false, false});
}

void stream_uses::remove(stream_id const& stream) noexcept {
  std::erase_if(uses_, [&](use const& item) { return item.stream == stream; });
}

void stream_uses::begin(stream_id const& stream) {
  use& item = find_or_add(stream);
  item.is_reached = false;
  // A use by a stream of the library needs an event after its last work. The event of a foreign one
  // stays, because it may be the only trace of earlier work; add replaces it.
  if (!stream.is_foreign()) item.done = nullptr;
}

void stream_uses::add(stream_id const& stream) {
  if (stream.is_foreign()) return add_with_event(stream);
  begin(stream);
}

void stream_uses::add_with_event(stream_id const& stream) {
  use& item = find_or_add(stream);
  item.is_reached = false;
  if (stream.is_replaced()) {
    // The work of a stream of the library is done. That of a foreign one may be pending.
    if (!stream.is_foreign() || item.done == nullptr) remove(stream);
    return;
  }
  on_device const guard(stream.device());
  // The handle may now belong to another foreign stream, which is not ordered after the event.
  if (item.done != nullptr && stream.is_foreign()) runtime::wait(stream, *item.done);
  // An older event must not remain if this fails.
  shared_event done = std::exchange(item.done, nullptr);
  if (done == nullptr || !is_sole_owner(done)) done = std::make_shared<event>();
  try {
    runtime::record(*done, stream);
  } catch (...) {
    // A foreign stream may be destroyed without notice: no event can be recorded on it later.
    item.is_lost = item.is_lost || (stream.is_foreign() && !is_surely_captured(stream.stream()));
    throw;
  }
  // If the stream has joined a capture meanwhile, the event may belong to the capture.
  if (shared_event before = event_before_join(stream.stream())) done = std::move(before);
  item.done = std::move(done);
}

void stream_uses::add_all(stream_uses const& other) {
  uses_.insert(uses_.end(), other.uses_.begin(), other.uses_.end());
}

shared_event const& stream_uses::event_of(use& item) {
  if (item.is_lost) {
    refuse_device_synchronization();  // rather than invalidate captures
    on_device const guard(item.stream.device());
    ROCARRAY_HIP(hipDeviceSynchronize);
    item.is_lost = false;
  } else if (item.done == nullptr && !item.is_reached) {
    item.done = runtime::record(item.stream);
  }
  return item.done;
}

void stream_uses::record_events() {
  for (use& item : uses_) event_of(item);
}

bool stream_uses::has_finished(use const& item) {
  if (item.is_lost) return false;
  if (item.is_reached) return true;
  return item.done != nullptr ? item.done->query() : is_finished(item.stream);
}

bool stream_uses::have_finished(stream_id const& except) const {
  for (use const& item : uses_) {
    if (!(item.stream == except) && !has_finished(item)) return false;
  }
  return true;
}

bool stream_uses::remove_finished() {
  // Not std::erase_if: a query may throw, and the elements must then be intact.
  for (std::size_t i = 0; i != uses_.size();) {
    if (has_finished(uses_[i])) {
      std::swap(uses_[i], uses_.back());
      uses_.pop_back();
    } else {
      ++i;
    }
  }
  return uses_.empty();
}

void stream_uses::order_before(stream_id const& later) {
  for (use& item : uses_) {
    // Foreign streams that had the same handle cannot be told apart.
    if (item.is_reached || (item.stream == later && !later.is_foreign())) continue;
    shared_event const& done = event_of(item);
    item.is_reached = done == nullptr || done->query();
    if (!item.is_reached) runtime::wait(later, *done);
  }
}

void stream_uses::wait() {
  std::exception_ptr failure;
  for (std::size_t i = 0; i != uses_.size();) {
    try {
      if (shared_event const done = event_of(uses_[i]); done != nullptr) done->synchronize();
      std::swap(uses_[i], uses_.back());
      uses_.pop_back();
    } catch (...) {
      if (!failure) failure = std::current_exception();
      ++i;
    }
  }
  if (failure) std::rethrow_exception(failure);
}

bool stream_uses::wait_quietly() noexcept {
  bool is_shut_down = false;
  auto const wait_for_events = [&] {
    try {
      wait();
    } catch (error const& failure) {
      is_shut_down = platform::is_runtime_shut_down(failure);
      throw;
    }
  };
  if (platform::log_if_throws(wait_for_events)) return true;
  if (is_shut_down) {
    uses_.clear();
    return true;
  }
  bool is_idle = true;
  for (use const& item : uses_) {
    bool const done = platform::log_if_throws([&] {
      if (item.stream.is_replaced() && !item.stream.is_foreign()) return;
      refuse_captured(item.stream.stream(), "a wait for its earlier work");
      on_device const guard(item.stream.device());
      // A foreign stream may not exist any more, so that only its device can be waited for.
      hipStream_t const native = item.stream.native();
      if (!item.stream.is_foreign() && ROCARRAY_HIP_QUIET(hipStreamSynchronize, native)) return;
      refuse_device_synchronization();  // rather than invalidate captures
      ROCARRAY_HIP(hipDeviceSynchronize);
    });
    is_idle = is_idle && done;
  }
  if (is_idle) uses_.clear();
  return is_idle;
}

}  // namespace roc::runtime

// SPDX-License-Identifier: MIT
#include "memory/device/allocation_record.hpp"

#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "platform/log_if_throws.hpp"

namespace roc::memory {
namespace {

using runtime::stream_id;

// Few records have uses, so that a few mutexes serve all of them.
constinit std::array<std::mutex, 32> mutexes;

std::mutex& mutex_of(allocation_record const* record) noexcept {
  return mutexes[(reinterpret_cast<std::uintptr_t>(record) >> 6) % mutexes.size()];
}

}  // namespace

allocation_visit::allocation_visit(allocation_record* record) noexcept : record_(record) {
  // First: either wait_for_visits finds this visit, or this visit finds the memory free.
  allocation_record::visit_count.fetch_add(1);
  mutex_of(record).lock();
}

allocation_visit::~allocation_visit() {
  mutex_of(record_).unlock();
  allocation_record::visit_count.fetch_sub(1);
}

void allocation_record::wait_for_visits_slow_path() noexcept {
  std::lock_guard const lock(mutex_of(this));
}

bool allocation_record::begin_use(stream_id const& stream) {
  if (has_tracked(stream)) return false;
  std::lock_guard const lock(mutex_of(this));
  return begin_use_locked(stream);
}

bool allocation_record::begin_use_locked(stream_id const& stream) {
  // Streams of several threads, or successive ones, may share the identity of a foreign stream.
  bool const is_ordered = uses_.contains(stream) && !stream.is_foreign();
  if (has_prior_work && !is_ordered && !allocation_stream.is_empty()) {
    runtime::order_after(stream, allocation_stream);
  }
  uses_.begin(stream);
  used_by_other_streams_.store(true, std::memory_order_release);
  if (stream.is_foreign()) return true;
  last_use_generation_.store(stream.generation());
  return false;
}

void allocation_record::finish_use(stream_id const& stream) {
  std::lock_guard const lock(mutex_of(this));
  finish_use_locked(stream);
}

void allocation_record::finish_use_locked(stream_id const& stream) {
  used_by_other_streams_.store(true, std::memory_order_release);
  uses_.add(stream);
}

void allocation_record::add_uses(runtime::stream_uses const& uses) {
  std::lock_guard const lock(mutex_of(this));
  used_by_other_streams_.store(true, std::memory_order_release);
  uses_.add_all(uses);
}

void allocation_record::order_before(stream_id const& stream) {
  std::lock_guard const lock(mutex_of(this));
  forget_last_use_locked();
  uses_.order_before(stream);
}

void allocation_record::move_to(stream_id const& stream) {
  std::lock_guard const lock(mutex_of(this));
  if (!allocation_stream.is_empty()) runtime::order_after(stream, allocation_stream);
  forget_last_use_locked();
  uses_.order_before(stream);
  // Not earlier: if a wait fails, the next attempt needs the allocation stream and all uses again.
  allocation_stream = stream;
  forget_uses_locked();
}

// stream_uses::order_before may record events, or find uses finished: the next work of their
// streams must be recorded again, also if it throws.
void allocation_record::forget_last_use_locked() noexcept { last_use_generation_.store(0); }

bool allocation_record::remove_finished_uses() {
  std::lock_guard const lock(mutex_of(this));
  uses_.record_events();
  if (!uses_.remove_finished()) return false;
  forget_uses_locked();
  return true;
}

bool allocation_record::wait_for_uses() noexcept {
  runtime::stream_uses awaited = take_uses();
  try {
    awaited.wait();
  } catch (error const& failure) {
    return platform::is_runtime_shut_down(failure) || awaited.wait_quietly();
  } catch (std::exception const&) {
    return awaited.wait_quietly();
  }
  return true;
}

runtime::stream_uses allocation_record::uses() const {
  std::lock_guard const lock(mutex_of(this));
  return uses_;
}

runtime::stream_uses allocation_record::take_uses() noexcept {
  std::lock_guard const lock(mutex_of(this));
  runtime::stream_uses taken = std::move(uses_);
  forget_uses_locked();
  return taken;
}

void allocation_record::forget_uses() noexcept {
  std::lock_guard const lock(mutex_of(this));
  forget_uses_locked();
}

void allocation_record::forget_uses_locked() noexcept {
  uses_.clear();
  last_use_generation_.store(0);
  used_by_other_streams_.store(false, std::memory_order_relaxed);
}

}  // namespace roc::memory

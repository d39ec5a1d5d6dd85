// SPDX-License-Identifier: MIT
#include "memory/device/allocation_record.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>

namespace roc::memory {
namespace {

using runtime::shared_event;
using runtime::stream_id;

// Few records have uses, so that a few mutexes serve all of them. Leaked on purpose: static arrays
// are freed after every other static object.
std::mutex& mutex_of(allocation_record const* record) {
  static auto* const mutexes = new std::array<std::mutex, 32>;
  return (*mutexes)[(reinterpret_cast<std::uintptr_t>(record) >> 6) % mutexes->size()];
}

// Does not block; calls HIP.
bool has_finished(allocation_record::use const& use) {
  return use.done != nullptr ? use.done->query() : runtime::is_finished(use.stream);
}

}  // namespace

bool allocation_record::begin_use(stream_id const& stream) {
  if (has_tracked(stream)) return false;
  std::lock_guard const lock(mutex_of(this));
  auto const found =
      std::find_if(uses.begin(), uses.end(), [&](use const& u) { return u.stream == stream; });
  if (found != uses.end()) {
    // The handle may now belong to another foreign stream, which is not ordered after the event.
    if (found->done != nullptr && !found->done->query()) stream.stream().wait(*found->done);
    if (!stream.is_foreign()) last_use_generation.store(stream.generation());
    return stream.is_foreign();
  }
  if (has_prior_work) runtime::order_after(stream, allocation_stream);
  // A long-lived array must not accumulate the uses of short-lived streams.
  if (uses.size() >= 8) std::erase_if(uses, has_finished);
  uses.push_back({stream, nullptr});
  used_by_other_streams.store(true, std::memory_order_release);
  // Each use by a foreign stream needs an event after it, so that none may be skipped.
  if (!stream.is_foreign()) last_use_generation.store(stream.generation());
  return stream.is_foreign();
}

void allocation_record::finish_use(stream_id stream) {
  shared_event done = runtime::record(stream);
  std::lock_guard const lock(mutex_of(this));
  for (use& u : uses) {
    if (u.stream == stream) u.done = std::move(done);
  }
}

void allocation_record::record_past_use(stream_id stream) {
  std::lock_guard const lock(mutex_of(this));
  uses.push_back({stream, nullptr});
  used_by_other_streams.store(true, std::memory_order_release);
}

std::vector<shared_event> allocation_record::events_of_uses(stream_id except) {
  std::vector<shared_event> events;
  if (!used_by_other_streams.load(std::memory_order_acquire)) return events;
  std::lock_guard const lock(mutex_of(this));
  for (use const& u : uses) {
    if (u.stream == except) continue;
    shared_event done = u.done != nullptr ? u.done : runtime::record(u.stream);
    if (done != nullptr && !done->query()) events.push_back(std::move(done));
  }
  return events;
}

void allocation_record::forget_uses() noexcept {
  std::lock_guard const lock(mutex_of(this));
  uses.clear();
  last_use_generation.store(0);
  used_by_other_streams.store(false, std::memory_order_relaxed);
}

}  // namespace roc::memory

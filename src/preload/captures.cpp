// SPDX-License-Identifier: MIT
#include "preload/captures.hpp"

#include <algorithm>
#include <mutex>

#include "preload/publication_lock.hpp"
#include "preload/request.hpp"

namespace roc::preload {
namespace {

// All is constant-initialized and never destroyed: the program may capture in its static
// constructors and destructors.
constinit std::atomic<int> count = 0;
constinit publication_lock mutex;
// Protected by the mutex.
constinit removed_captures known{};  // the captures that have begun
constinit int unknown_count = 0;     // of further ones

captured_stream* end_of_known() noexcept { return known.streams.data() + known.count; }

captured_stream* find_locked(stream_key key) noexcept {
  return std::find_if(known.streams.data(), end_of_known(),
                      [&](captured_stream const& entry) { return entry.key == key; });
}

// Moves the entries for which `condition` holds from the set to the result.
template <class Condition>
removed_captures remove_if(Condition const& condition) noexcept {
  removed_captures removed;
  std::lock_guard const lock(mutex);
  std::size_t kept = 0;
  for (std::size_t i = 0; i != known.count; ++i) {
    captured_stream const entry = known.streams[i];
    if (condition(entry)) {
      removed.streams[removed.count++] = entry;
    } else {
      known.streams[kept++] = entry;
    }
  }
  known.count = kept;
  count.fetch_sub(static_cast<int>(removed.count));
  return removed;
}

}  // namespace

stream_key key_of(void* stream) noexcept {
  // Its address is that of no other thread.
  constinit static thread_local char object = 0;
  return {stream, stream == per_thread_stream() ? &object : nullptr};
}

std::atomic<int> const& capture_count() noexcept { return count; }

void announce_capture() noexcept { count.fetch_add(1); }

void withdraw_capture() noexcept { count.fetch_sub(1); }

void add_capture(captured_stream const& stream) noexcept {
  std::lock_guard const lock(mutex);
  if (find_locked(stream.key) != end_of_known()) {
    count.fetch_sub(1);
  } else if (known.count == max_captured_streams) {
    ++unknown_count;
  } else {
    known.streams[known.count++] = stream;
  }
}

void end_capture_of(stream_key key) noexcept {
  std::lock_guard const lock(mutex);
  captured_stream* const entry = find_locked(key);
  if (entry != end_of_known()) {
    *entry = known.streams[--known.count];
  } else if (unknown_count != 0) {
    --unknown_count;
  } else {
    return;
  }
  count.fetch_sub(1);
}

removed_captures remove_capture_of(stream_key key) noexcept {
  return remove_if([&](captured_stream const& entry) { return entry.key == key; });
}

removed_captures remove_captures_in(void const* context) noexcept {
  return remove_if(
      [&](captured_stream const& entry) { return context != nullptr && entry.context == context; });
}

void put_back(removed_captures const& removed) noexcept {
  for (std::size_t i = 0; i != removed.count; ++i) {
    announce_capture();
    add_capture(removed.streams[i]);
  }
}

void clear_captures_after_fork() noexcept {
  known.count = 0;
  unknown_count = 0;
  count = 0;
  // Another thread of the parent may have held it.
  mutex.unlock();
}

}  // namespace roc::preload

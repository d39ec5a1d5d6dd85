// SPDX-License-Identifier: MIT
#include "preload/captures.hpp"

#include <algorithm>
#include <mutex>

#include "preload/publication_lock.hpp"
#include "preload/request.hpp"

namespace roc::preload {
namespace {

struct table_entry {
  captured_stream stream;
  std::uint64_t id = 0;
};

// All is constant-initialized and never destroyed: the program may capture in its static
// constructors and destructors.
constinit std::atomic<int> count = 0;
constinit publication_lock lock;
// Protected by the lock.
constinit std::array<table_entry, max_captured_streams> table{};
constinit std::size_t table_size = 0;
constinit int further_count = 0;  // captures that are not in the table
constinit std::uint64_t last_id = 0;

// Returns the captures of the table for which `condition` holds.
template <class Condition>
capture_set find_if(Condition const& condition) noexcept {
  capture_set found;
  std::lock_guard const guard(lock);
  for (std::size_t i = 0; i != table_size; ++i) {
    if (condition(table[i].stream)) found.ids[found.count++] = table[i].id;
  }
  return found;
}

}  // namespace

stream_key key_of(void* stream) noexcept {
  // No other thread has this address.
  constinit static thread_local char object = 0;
  return {stream, stream == per_thread_stream() ? &object : nullptr};
}

std::atomic<int> const& capture_count() noexcept { return count; }

void announce_capture() noexcept { count.fetch_add(1); }

void withdraw_capture() noexcept { count.fetch_sub(1); }

void add_capture(captured_stream const& stream) noexcept {
  std::lock_guard const guard(lock);
  table_entry* const end = table.data() + table_size;
  table_entry* const entry = std::find_if(
      table.data(), end, [&](table_entry const& other) { return other.stream.key == stream.key; });
  if (entry == end && table_size == max_captured_streams) {
    ++further_count;
    return;
  }
  if (entry == end) {
    ++table_size;
  } else {
    count.fetch_sub(1);
  }
  *entry = {stream, ++last_id};
}

capture_set find_capture_of(stream_key key) noexcept {
  return find_if([&](captured_stream const& stream) { return stream.key == key; });
}

capture_set find_captures_in(void const* context) noexcept {
  return find_if([&](captured_stream const& stream) {
    return context != nullptr && stream.context == context;
  });
}

void remove_captures(capture_set const& captures) noexcept {
  std::uint64_t const* const begin = captures.ids.data();
  std::uint64_t const* const end = begin + captures.count;
  std::lock_guard const guard(lock);
  std::size_t kept = 0;
  for (std::size_t i = 0; i != table_size; ++i) {
    if (std::find(begin, end, table[i].id) == end) table[kept++] = table[i];
  }
  count.fetch_sub(static_cast<int>(table_size - kept));
  table_size = kept;
}

void remove_further_capture() noexcept {
  std::lock_guard const guard(lock);
  if (further_count == 0) return;
  --further_count;
  count.fetch_sub(1);
}

void clear_captures_after_fork() noexcept {
  table_size = 0;
  further_count = 0;
  count = 0;
  // Another thread of the parent may have held it.
  lock.unlock();
}

}  // namespace roc::preload

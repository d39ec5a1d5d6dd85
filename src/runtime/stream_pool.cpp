// SPDX-License-Identifier: MIT
#include <roc/stream_pool.hpp>

#include <atomic>
#include <system_error>

#include <roc/error.hpp>

namespace roc {
namespace {

template <class... Kind>
std::vector<stream> make(std::size_t count, Kind... kind) {
  if (count == 0) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "a pool of 0 streams: give it 1 or more");
  }
  std::vector<stream> made;
  made.reserve(count);
  while (made.size() != count) made.emplace_back(kind...);
  return made;
}

}  // namespace

stream_pool::stream_pool(std::size_t count, int priority) : streams_(make(count, priority)) {}

stream_pool::stream_pool(std::size_t count, non_blocking_t kind, int priority)
    : streams_(make(count, kind, priority)) {}

stream_ref stream_pool::get() noexcept {
  return get(std::atomic_ref(next_).fetch_add(1, std::memory_order_relaxed));
}

stream_ref stream_pool::get(std::size_t index) const noexcept {
  return streams_[index % streams_.size()];
}

void stream_pool::synchronize() const {
  for (stream const& each : streams_) each.synchronize();
}

}  // namespace roc

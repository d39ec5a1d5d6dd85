// SPDX-License-Identifier: MIT
#include <roc/stream_pool.hpp>

#include <atomic>
#include <system_error>

#include <roc/error.hpp>

namespace roc {
namespace {

// Creates `count` streams, each with these constructor arguments.
template <class... Arguments>
std::vector<stream> create_streams(std::size_t count, Arguments... arguments) {
  if (count == 0) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "a stream pool cannot have 0 streams; create it with 1 or more");
  }
  std::vector<stream> streams;
  streams.reserve(count);
  while (streams.size() != count) streams.emplace_back(arguments...);
  return streams;
}

}  // namespace

stream_pool::stream_pool(std::size_t count, int priority, detail::caller at)
    : streams_((detail::call_scope("stream_pool", at), create_streams(count, priority))) {}

stream_pool::stream_pool(std::size_t count, non_blocking_t kind, int priority, detail::caller at)
    : streams_((detail::call_scope("stream_pool", at), create_streams(count, kind, priority))) {}

stream_ref stream_pool::get() noexcept {
  return get(std::atomic_ref(next_).fetch_add(1, std::memory_order_relaxed));
}

stream_ref stream_pool::get(std::size_t index) const noexcept {
  return streams_[index % streams_.size()];
}

void stream_pool::synchronize(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  for (stream const& s : streams_) s.synchronize();
}

}  // namespace roc

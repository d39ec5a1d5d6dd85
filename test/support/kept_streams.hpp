// SPDX-License-Identifier: MIT
// The reuse of the native streams that the library keeps.
#pragma once

#include <chrono>
#include <thread>
#include <vector>

#include <roc/stream.hpp>

namespace roc::test {

/// Creates streams until one has the kept native stream `handle`, and returns them: that one is the
/// last. Returns an empty list if none gets it within 20 s.
inline std::vector<stream> streams_until_reused(detail::native_stream* handle) {
  std::vector<stream> streams;
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  do {
    if (streams.emplace_back().handle() == handle) return streams;
    // Its last event may still be pending.
    if (streams.size() >= 100) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (std::chrono::steady_clock::now() < end);
  return {};
}

}  // namespace roc::test

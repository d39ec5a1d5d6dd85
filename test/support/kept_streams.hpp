// SPDX-License-Identifier: MIT
// The reuse of the native streams that the library keeps.
#pragma once

#include <chrono>
#include <thread>
#include <vector>

#include <roc/stream.hpp>

namespace roc::test {

/// Creates streams until one has the kept native stream `handle`, and returns them: that one is the
/// last. Returns an empty list if none gets it.
inline std::vector<stream> streams_until_reused(detail::native_stream* handle) {
  std::vector<stream> streams;
  for (int i = 0; i != 300; ++i) {
    if (streams.emplace_back().handle() == handle) return streams;
    // Its last event may still be pending.
    if (i >= 100) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

}  // namespace roc::test

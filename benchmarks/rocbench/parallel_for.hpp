// SPDX-License-Identifier: MIT
// Parallel loops on the host, for writing and comparing large buffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace rocbench {

/// Calls f(begin, end) for disjoint ranges that cover [0, count), and blocks until all calls have
/// returned. Starts up to 15 threads; the calling thread runs the first range, or everything if
/// the work is below 8 MiB.
/// @param unit_bytes bytes of work per index
/// @param f must not throw
template <class F>
void parallel_for(std::size_t count, std::size_t unit_bytes, F const& f) {
  constexpr std::size_t min_bytes_per_thread = std::size_t{4} << 20;
  constexpr unsigned max_threads = 16;
  std::size_t const cores = std::clamp(std::thread::hardware_concurrency(), 1u, max_threads);
  std::size_t const ranges =
      std::clamp(count * unit_bytes / min_bytes_per_thread, std::size_t{1}, cores);
  std::size_t const length = (count + ranges - 1) / ranges;
  std::vector<std::jthread> threads;
  for (std::size_t begin = length; begin < count; begin += length) {
    threads.emplace_back([&f, begin, end = std::min(begin + length, count)] { f(begin, end); });
  }
  f(std::size_t{0}, std::min(length, count));
}

}  // namespace rocbench

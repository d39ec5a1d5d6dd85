// SPDX-License-Identifier: MIT
// Work of the host shared out to threads, where there is enough of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace rocbench {

/// Calls f(begin, end) for pieces of [0, count) that cover it, each in a thread of its own; a unit
/// stands for `unit_bytes` bytes of work. Few bytes are done by the caller alone.
template <class F>
void in_pieces(std::size_t count, std::size_t unit_bytes, F const& f) {
  constexpr std::size_t worth_a_thread = std::size_t{4} << 20;
  constexpr unsigned most_threads = 16;
  std::size_t const cores = std::clamp(std::thread::hardware_concurrency(), 1u, most_threads);
  std::size_t const pieces = std::clamp(count * unit_bytes / worth_a_thread, std::size_t{1}, cores);
  std::size_t const piece = (count + pieces - 1) / pieces;
  std::vector<std::jthread> threads;
  for (std::size_t begin = piece; begin < count; begin += piece) {
    threads.emplace_back([&f, begin, end = std::min(begin + piece, count)] { f(begin, end); });
  }
  f(std::size_t{0}, std::min(piece, count));
}

}  // namespace rocbench

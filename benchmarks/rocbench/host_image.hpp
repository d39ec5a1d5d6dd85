// SPDX-License-Identifier: MIT
// Images in host memory, written and compared by several threads if they are large.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "image.hpp"

namespace rocbench {

/// Calls f(begin, end) for `threads` disjoint ranges that cover [0, count), each in its own thread,
/// the first in the calling one. Blocks until all calls have returned. `f` must not throw.
template <class F>
void in_threads(std::size_t threads, std::size_t count, F const& f) {
  std::size_t const length = (count + threads - 1) / threads;
  std::vector<std::jthread> others;
  for (std::size_t begin = length; begin < count; begin += length) {
    others.emplace_back([&f, begin, end = std::min(begin + length, count)] { f(begin, end); });
  }
  f(std::size_t{0}, std::min(length, count));
}

/// As in_threads(), with up to 16 threads; the calling thread does everything if the work is below
/// 8 MiB.
/// @param unit_bytes bytes of work per index
template <class F>
void parallel_for(std::size_t count, std::size_t unit_bytes, F const& f) {
  constexpr std::size_t min_bytes_per_thread = std::size_t{4} << 20;
  constexpr unsigned max_threads = 16;
  std::size_t const cores = std::clamp(std::thread::hardware_concurrency(), 1u, max_threads);
  in_threads(std::clamp(count * unit_bytes / min_bytes_per_thread, std::size_t{1}, cores), count,
             f);
}

/// Writes the bytes [begin, end) of an image, in the calling thread. `memory` is the start of the
/// whole image.
void write_image_range(std::byte* memory, image const& contents, std::uint64_t begin,
                       std::uint64_t end);

/// Returns the offset of the first byte in [begin, end) that differs from the image, or `end` if
/// none does. Works in the calling thread; `memory` is the start of the whole image.
std::uint64_t first_mismatch_in_range(std::byte const* memory, image const& contents,
                                      std::uint64_t begin, std::uint64_t end);

/// Writes a whole image of contents.size() bytes.
void write_image(std::byte* memory, image const& contents);

/// Returns the offset of the first byte that differs from the image, if there is one.
std::optional<std::uint64_t> find_first_mismatch(std::byte const* memory, image const& contents);

/// Fills memory with one value.
void fill_bytes(std::byte* memory, std::size_t bytes, std::uint8_t value);

}  // namespace rocbench

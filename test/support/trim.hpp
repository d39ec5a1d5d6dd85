// SPDX-License-Identifier: MIT
// Trims memory resources on a busy machine.
#pragma once

#include <chrono>
#include <cstddef>

#include <roc/memory/memory_resource.hpp>

namespace roc::test {

/// Trims the resource until `is_done()` returns true, or for 20 s. One trim of a pool is enough
/// after device::synchronize() and without failures of HIP. Otherwise it waits at most 10 ms until
/// the device has reached the pool's events, which is short for a busy machine.
/// Precondition: all work that uses deallocated memory has finished.
template <class Predicate>
void trim_until(memory_resource& resource, Predicate is_done) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  do {
    resource.trim();
  } while (!is_done() && std::chrono::steady_clock::now() < end);
}

/// Trims the pool until it has reserved at most `bytes`, or for 20 s: see trim_until.
inline void trim_to(memory_resource& pool, std::size_t bytes) {
  trim_until(pool, [&] { return pool.statistics().reserved_bytes <= bytes; });
}

}  // namespace roc::test

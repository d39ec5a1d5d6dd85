// SPDX-License-Identifier: MIT
// Broadcasts in which each device forwards what it receives to the next one, so that every link
// carries each byte once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <roc/detail/strided_region.hpp>

#include "copy/concurrent_copies.hpp"

namespace roc::transfer {

/// Where the destinations of a broadcast get the data from.
struct broadcast_routes {
  /// The index of source in `parents`.
  static constexpr std::size_t source = static_cast<std::size_t>(-1);

  /// By destination: the destination whose data it copies, or `source`.
  std::vector<std::size_t> parents;
  /// The destinations, each after its parent.
  std::vector<std::size_t> order;
  /// The number of copies from one device to another.
  std::size_t hops = 0;
};

/// Returns the routes of a chain: the source's device sends to one device, and every device to at
/// most one other, which is the one of the remaining devices to which it has the fastest link.
/// Destinations on the same device copy from the first of them, and those on the source's device
/// from the source. Calls HIP. Throws roc::error, std::bad_alloc.
broadcast_routes find_chain(int source_device, std::span<int const> destination_devices);

/// Returns into how many slabs a broadcast of `bytes` bytes over a chain of `hops` hops is divided;
/// 0 if copying to each device directly from the source is estimated to be at least as fast.
std::size_t chain_slabs(std::size_t bytes, std::size_t hops) noexcept;

/// Enqueues the broadcast along the routes in about `slabs` slabs, each of which is forwarded while
/// the next one is received. Work enqueued later on the stream of a destination comes after the
/// copies from it. The regions have the same shape and at least one element, and do not overlap.
/// If it throws, no work of the broadcast is pending on the streams, one for each destination.
/// Throws roc::error, out_of_memory, std::bad_alloc.
void enqueue_chain(detail::strided_region const& source,
                   std::span<detail::strided_region const> destinations,
                   std::span<stream_on_device const> streams, broadcast_routes const& routes,
                   std::size_t slabs);

}  // namespace roc::transfer

// SPDX-License-Identifier: MIT
// The entry points of calls that copy from or to several devices: the checks, and the choice of how
// a broadcast is executed.
#include <roc/several_devices.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <roc/error.hpp>

#include "base/options.hpp"
#include "copy/broadcast_chain.hpp"
#include "copy/concurrent_copies.hpp"
#include "copy/operation.hpp"
#include "copy/validate.hpp"
#include "layout/canonical_layout.hpp"
#include "layout/overlap.hpp"
#include "layout/region_bounds.hpp"
#include "memory/host/device_aliases.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"

namespace roc {

namespace transfer {
namespace {

using detail::strided_region;

[[noreturn]] void throw_invalid(std::string const& problem) {
  throw error(std::make_error_code(std::errc::invalid_argument), problem);
}

// Throws shape_error unless the parts, one after the other along an existing axis, have the shape
// of the whole.
void check_parts(strided_region const& whole, std::span<strided_region const> parts,
                 std::size_t axis) {
  std::size_t total = 0;
  for (std::size_t number = 0; number != parts.size(); ++number) {
    strided_region const& part = parts[number];
    for (std::size_t i = 0; i != whole.rank; ++i) {
      if (i == axis || part.shape[i] == whole.shape[i]) continue;
      throw shape_error("part " + std::to_string(number) + " has shape " + shape_text(part) +
                        ", but the whole array has shape " + shape_text(whole) +
                        "; extents may differ along axis " + std::to_string(axis) + " only");
    }
    total += part.shape[axis];
  }
  if (total == whole.shape[axis]) return;
  throw shape_error("the " + std::to_string(parts.size()) + " parts have " + std::to_string(total) +
                    " indices of axis " + std::to_string(axis) +
                    " in total, but the whole array of shape " + shape_text(whole) + " has " +
                    std::to_string(whole.shape[axis]) + "; use parts that add up to it");
}

void check_destination_shapes(strided_region const& source,
                              std::span<strided_region const> destinations) {
  for (std::size_t number = 0; number != destinations.size(); ++number) {
    if (have_equal_shapes(source, destinations[number])) continue;
    throw shape_error("destination " + std::to_string(number) + " has shape " +
                      shape_text(destinations[number]) + ", but the source has shape " +
                      shape_text(source) + "; use destinations of the source's shape");
  }
}

// Returns the device of each part. -1 in a region stands for the current device.
std::vector<int> devices_of(std::span<strided_region const> parts) {
  std::vector<int> devices;
  devices.reserve(parts.size());
  for (strided_region const& part : parts) {
    devices.push_back(part.device >= 0 ? part.device : runtime::current_device());
  }
  return devices;
}

// Throws roc::error unless there is a stream of the device of each part.
void check_streams(stream_list const* streams, std::span<int const> devices) {
  if (streams == nullptr) return;
  if (streams->size() != devices.size()) {
    throw_invalid(std::to_string(streams->size()) + " streams were given for " +
                  std::to_string(devices.size()) + " parts; give one stream for each part");
  }
  for (std::size_t number = 0; number != devices.size(); ++number) {
    static_cast<void>(runtime::handle((*streams)[number]));  // throws if there is no such stream
    int const device = (*streams)[number].device_ordinal();
    if (device < 0 || device == devices[number]) continue;
    throw_invalid("stream " + std::to_string(number) + " is on device " + std::to_string(device) +
                  ", but part " + std::to_string(number) + " is on device " +
                  std::to_string(devices[number]) + "; use a stream of the part's device");
  }
}

stream_ref const* stream_of(stream_list const* streams, std::size_t number) {
  return streams == nullptr ? nullptr : &(*streams)[number];
}

timing timing_of(stream_list const* streams) {
  return streams == nullptr ? timing::now : timing::enqueued;
}

// Returns the canonical layout of a region as both sides of a copy.
layout::canonical_layout layout_of(strided_region const& region) {
  return layout::canonicalize(region, region, layout::side::destination);
}

[[noreturn]] void throw_overlap(std::string const& first, std::string const& second) {
  throw overlap_error(first + " and " + second +
                      " overlap; use memory of its own for each of them");
}

// Throws overlap_error if the destinations of two copies share a byte.
void check_disjoint_destinations(concurrent_copies const& copies, std::string const& name) {
  for (std::size_t i = 0; i != copies.size(); ++i) {
    if (copies.plan_of(i).path == copy_path::none) continue;
    for (std::size_t j = i + 1; j != copies.size(); ++j) {
      if (copies.plan_of(j).path == copy_path::none) continue;
      bool const overlap =
          layout::regions_overlap(copies.plan_of(i).canonical, layout::side::destination,
                                  copies.plan_of(j).canonical, layout::side::destination);
      if (overlap) throw_overlap(name + " " + std::to_string(i), name + " " + std::to_string(j));
    }
  }
}

// Throws overlap_error if one side of a copy shares a byte with `whole`, which is not empty.
void check_disjoint(concurrent_copies const& copies, layout::side side, strided_region const& whole,
                    char const* whole_name) {
  if (whole.space != detail::memory_space::device) return;
  layout::canonical_layout const canonical = layout_of(whole);
  for (std::size_t i = 0; i != copies.size(); ++i) {
    if (copies.plan_of(i).path == copy_path::none) continue;
    if (!layout::regions_overlap(canonical, side, copies.plan_of(i).canonical, side)) continue;
    throw_overlap("part " + std::to_string(i), whole_name);
  }
}

// Returns the region of `whole` that corresponds to `part` and begins at index `first` of the axis.
strided_region region_of_part(strided_region whole, strided_region const& part, std::size_t axis,
                              std::size_t first) {
  // Strides of an empty array may not be applied.
  if (whole.data != nullptr && !is_empty(part)) {
    whole.data = static_cast<std::byte*>(whole.data) +
                 static_cast<std::ptrdiff_t>(first) * whole.strides[axis] *
                     static_cast<std::ptrdiff_t>(whole.element_size);
  }
  whole.shape = part.shape;
  return whole;
}

// Plans the copies between an array and its parts.
void add_parts(concurrent_copies& copies, strided_region const& whole,
               std::span<strided_region const> parts, std::size_t axis, bool to_parts,
               stream_list const* streams) {
  std::vector<int> const devices = devices_of(parts);
  check_streams(streams, devices);
  if (whole.data != nullptr && !is_empty(whole)) {
    layout::checked_range(whole, to_parts ? "the source" : "the destination");
  }
  std::size_t first = 0;
  for (std::size_t number = 0; number != parts.size(); ++number) {
    strided_region part = parts[number];
    part.device = devices[number];
    strided_region const of_whole = region_of_part(whole, part, axis, first);
    copies.add(to_parts ? of_whole : part, to_parts ? part : of_whole, devices[number],
               stream_of(streams, number));
    first += part.shape[axis];
  }
}

// Returns the region, with its device in place of -1.
strided_region with_device(strided_region region) {
  bool const is_unnamed = region.space == detail::memory_space::device && region.device < 0;
  if (is_unnamed) region.device = runtime::current_device();
  return region;
}

// The streams of a broadcast, by destination: those of the caller, or internal ones.
std::vector<stream_on_device> streams_of(std::span<int const> devices, stream_list const* streams) {
  std::vector<stream_on_device> result;
  for (std::size_t number = 0; number != devices.size(); ++number) {
    result.push_back(streams == nullptr ? concurrent_stream(devices[number])
                                        : stream_on_device{(*streams)[number], devices[number]});
  }
  return result;
}

// Blocks until no pending work uses a region that is the device address of mapped host memory,
// which other devices may use too.
void wait_for_mapped_memory(strided_region const& region, layout::side operand) {
  if (memory::device_aliases::instance().empty()) return;
  auto const canonical = layout::canonicalize(region, region, operand);
  auto const range =
      memory::device_aliases::instance().host_range_of(layout::byte_range_of(canonical, operand));
  if (!range) return;
  bool const is_read = operand == layout::side::source;
  wait_for_host_uses({&*range, is_read ? 1u : 0u}, {&*range, is_read ? 0u : 1u});
}

// Broadcasts along the routes. Complete on return if `streams` is null.
void broadcast_in_chain(strided_region const& source, std::span<strided_region const> destinations,
                        std::span<int const> devices, stream_list const* streams,
                        broadcast_routes const& routes, std::size_t slabs) {
  std::vector<stream_on_device> const executors = streams_of(devices, streams);
  if (streams != nullptr) {
    for (stream_on_device const& item : executors) {
      runtime::refuse_uncaptured_call(&item.stream);
      runtime::refuse_captured(
          item.stream,
          "a broadcast that devices forward to each other; capture copies to each destination");
    }
  } else {
    runtime::refuse_uncaptured_call(nullptr);
    std::vector<device_dependency> work;
    for (std::size_t number = 0; number != executors.size(); ++number) {
      std::size_t const parent = routes.parents[number];
      bool const is_first = parent == broadcast_routes::source;
      work.push_back({executors[number], devices[number]});
      work.push_back({executors[number], is_first ? source.device : devices[parent]});
    }
    order_after_earlier_work(work);
    wait_for_mapped_memory(source, layout::side::source);
    for (strided_region const& destination : destinations) {
      wait_for_mapped_memory(destination, layout::side::destination);
    }
  }
  enqueue_chain(source, destinations, executors, routes, slabs);
  if (streams != nullptr) return;
  try {
    wait_for(executors);
  } catch (...) {
    synchronize_quietly(executors);
    throw;
  }
}

}  // namespace
}  // namespace transfer

using transfer::concurrent_copies;

void detail::check_device_list(std::vector<device> const& devices) {
  if (devices.empty()) transfer::throw_invalid("the list of devices is empty; give one or more");
}

void detail::check_parts_and_axis(std::size_t parts, std::size_t axis, std::size_t rank) {
  if (parts == 0) transfer::throw_invalid("the list of parts is empty; give one part or more");
  if (axis < rank) return;
  throw shape_error("axis " + std::to_string(axis) + " is out of bounds for an array of rank " +
                    std::to_string(rank) + "; use an axis of the array");
}

void detail::check_part_streams(std::vector<device> const& devices, stream_list const* streams) {
  std::vector<int> ordinals;
  for (device const& item : devices) ordinals.push_back(item.ordinal());
  transfer::check_streams(streams, ordinals);
}

void detail::split(strided_region const& source, strided_region const* parts, std::size_t count,
                   std::size_t axis, stream_list const* streams) {
  platform::refuse_in_host_function();
  base::options_scope const options;
  std::span<strided_region const> const list(parts, count);
  transfer::check_parts(source, list, axis);
  transfer::trace_scope const trace("roc::split_to_devices");
  concurrent_copies copies(transfer::timing_of(streams));
  strided_region const whole = transfer::with_device(source);
  transfer::add_parts(copies, whole, list, axis, true, streams);
  if (transfer::is_empty(whole)) return;
  transfer::check_disjoint_destinations(copies, "part");
  transfer::check_disjoint(copies, layout::side::destination, whole, "the source");
  copies.execute();
}

void detail::gather(strided_region const* parts, std::size_t count,
                    strided_region const& destination, std::size_t axis,
                    stream_list const* streams) {
  platform::refuse_in_host_function();
  base::options_scope const options;
  std::span<strided_region const> const list(parts, count);
  transfer::check_parts(destination, list, axis);
  transfer::trace_scope const trace("roc::gather");
  concurrent_copies copies(transfer::timing_of(streams));
  strided_region const whole = transfer::with_device(destination);
  transfer::add_parts(copies, whole, list, axis, false, streams);
  if (transfer::is_empty(whole)) return;
  transfer::check_destination(transfer::layout_of(whole));
  transfer::check_disjoint(copies, layout::side::source, whole, "the destination");
  copies.execute();
}

void detail::broadcast(strided_region const& source, strided_region const* destinations,
                       std::size_t count, stream_list const* streams) {
  platform::refuse_in_host_function();
  base::options_scope const options;
  std::vector<strided_region> regions(destinations, destinations + count);
  transfer::check_destination_shapes(source, regions);
  std::vector<int> const devices = transfer::devices_of(regions);
  transfer::check_streams(streams, devices);
  if (regions.empty()) return;
  transfer::trace_scope const trace("roc::broadcast");
  strided_region const from = transfer::with_device(source);
  concurrent_copies copies(transfer::timing_of(streams));
  for (std::size_t number = 0; number != count; ++number) {
    regions[number].device = devices[number];
    copies.add(from, regions[number], devices[number], transfer::stream_of(streams, number));
  }
  if (transfer::is_empty(from)) return;
  transfer::check_disjoint_destinations(copies, "destination");
  if (from.space == memory_space::device) {
    std::set<int> others(devices.begin(), devices.end());
    others.erase(from.device);
    std::size_t const bytes = copies.plan_of(0).canonical.bytes();
    std::size_t const slabs = transfer::chain_slabs(bytes, others.size());
    if (slabs != 0) {
      auto const routes = transfer::find_chain(from.device, devices);
      return transfer::broadcast_in_chain(from, regions, devices, streams, routes, slabs);
    }
  }
  copies.execute();
}

}  // namespace roc

// SPDX-License-Identifier: MIT
#include "copy/validate.hpp"

#include <cstdio>
#include <string>

#include <roc/error.hpp>

#include "layout/overlap.hpp"
#include "layout/region_bounds.hpp"

namespace roc::transfer {
namespace {

// Returns the beginning of a region's description in a message.
char const* space_prefix(detail::memory_space space) {
  return space == detail::memory_space::device ? "device " : "host ";
}

std::string address_range_text(void const* base, layout::byte_span span) {
  auto const* const bytes = static_cast<std::byte const*>(base);
  char text[64];
  std::snprintf(text, sizeof text, "[%p, %p)", static_cast<void const*>(bytes + span.low),
                static_cast<void const*>(bytes + span.high));
  return text;
}

}  // namespace

std::string shape_text(detail::strided_region const& region) {
  std::string text = "(";
  for (std::size_t i = 0; i < region.rank; ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(region.shape[i]);
  }
  return text + ")";
}

void throw_shape_error(detail::strided_region const& source,
                       detail::strided_region const& destination) {
  // The message names the device side first, whatever the direction of the copy.
  bool const swap = source.space == detail::memory_space::host &&
                    destination.space == detail::memory_space::device;
  detail::strided_region const& first = swap ? destination : source;
  detail::strided_region const& second = swap ? source : destination;
  throw shape_error("incompatible shape: " + (space_prefix(first.space) + shape_text(first)) +
                    ", " + space_prefix(second.space) + shape_text(second));
}

void throw_null_pointer(detail::strided_region const& source) {
  throw lifetime_error(std::string(source.data == nullptr ? "the source" : "the destination") +
                       " was moved from or never allocated; use an array that owns memory");
}

void check_overlap(layout::canonical_layout const& canonical) {
  if (!layout::sides_overlap(canonical)) return;
  auto const source = layout::span_of(canonical, layout::side::source);
  auto const destination = layout::span_of(canonical, layout::side::destination);
  throw overlap_error("source and destination overlap: source " +
                      address_range_text(canonical.source, source) + ", destination " +
                      address_range_text(canonical.destination, destination) +
                      "; copy through a temporary array");
}

void check_destination(layout::canonical_layout const& canonical) {
  if (!layout::destination_overlaps_itself(canonical)) return;
  throw layout_error(
      "the destination's strides map two indices to the same memory; copy to a layout in which "
      "every element has its own address");
}

layout::canonical_layout validate_strided(detail::strided_region const& source,
                                          detail::strided_region const& destination,
                                          copy_kind kind) {
  layout::checked_range(source, "the source");
  layout::checked_range(destination, "the destination");
  // The axes follow the device side, so that it is contiguous in the linear order whenever
  // possible: the CPU can pack in any order, and then no kernel has to rearrange on the device.
  bool const source_leads = kind == copy_kind::device_to_host;
  layout::canonical_layout const canonical = layout::canonicalize(
      source, destination, source_leads ? layout::side::source : layout::side::destination);
  check_destination(canonical);
  return canonical;
}

}  // namespace roc::transfer

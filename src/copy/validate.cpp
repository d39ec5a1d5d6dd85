// SPDX-License-Identifier: MIT
#include "copy/validate.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include <roc/error.hpp>

#include "layout/overlap.hpp"

namespace roc::transfer {
namespace {

char const* name(detail::place where) {
  return where == detail::place::device ? "device " : "host ";
}

std::string to_string(detail::region const& r) {
  std::string text = "(";
  for (std::size_t i = 0; i < r.rank; ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(r.shape[i]);
  }
  return text + ")";
}

std::string addresses(void const* base, layout::byte_span span) {
  auto const* const bytes = static_cast<std::byte const*>(base);
  char text[64];
  std::snprintf(text, sizeof text, "[%p, %p)", static_cast<void const*>(bytes + span.low),
                static_cast<void const*>(bytes + span.high));
  return text;
}

}  // namespace

void check_shapes(detail::region const& source, detail::region const& destination) {
  if (source.rank == destination.rank &&
      std::equal(source.shape, source.shape + source.rank, destination.shape)) {
    return;
  }
  // The device side is named first, whichever way the copy goes.
  bool const swap = source.where == detail::place::host &&
                    destination.where == detail::place::device;
  detail::region const& first = swap ? destination : source;
  detail::region const& second = swap ? source : destination;
  throw shape_error("incompatible shape: " + (name(first.where) + to_string(first)) + ", " +
                    name(second.where) + to_string(second));
}

bool is_empty(detail::region const& r) noexcept {
  return std::find(r.shape, r.shape + r.rank, std::size_t{0}) != r.shape + r.rank;
}

void check_pointers(detail::region const& source, detail::region const& destination) {
  if (source.data != nullptr && destination.data != nullptr) return;
  throw lifetime_error("copy with a null pointer: the array was moved from or never made");
}

void check_overlap(layout::canonical_layout const& form) {
  if (!layout::sides_overlap(form)) return;
  throw overlap_error("source " + addresses(form.source, layout::span_of(form, layout::side::source)) +
                      " and destination " +
                      addresses(form.destination, layout::span_of(form, layout::side::destination)) +
                      " overlap: copy through another array");
}

layout::canonical_layout validate_and_canonicalize(detail::region const& source, detail::region const& destination,
                         direction way) {
  check_pointers(source, destination);
  // The side on the device leads, so that it is contiguous where it can be: the CPU packs in any
  // order, a kernel is then not needed.
  bool const source_leads = way == direction::device_to_host;
  layout::canonical_layout const form =
      layout::canonicalize(source, destination, source_leads ? layout::side::source : layout::side::destination);
  if (layout::destination_repeats(form)) {
    throw layout_error("the destination's strides name one place twice: copy to a layout in which "
                       "every element has its own");
  }
  if (source.where == destination.where) check_overlap(form);
  return form;
}

}  // namespace roc::transfer

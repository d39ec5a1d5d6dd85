// SPDX-License-Identifier: MIT
#include "transfer/plan.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include <roc/copy.hpp>
#include <roc/error.hpp>

#include "memory/host_table.hpp"
#include "transfer/overlap.hpp"
#include "transfer/path_choice.hpp"

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

bool is_empty(detail::region const& r) {
  return std::find(r.shape, r.shape + r.rank, std::size_t{0}) != r.shape + r.rank;
}

direction direction_of(detail::region const& source, detail::region const& destination) {
  bool const from_host = source.where == detail::place::host;
  bool const to_host = destination.where == detail::place::host;
  if (from_host) return to_host ? direction::host_to_host : direction::host_to_device;
  return to_host ? direction::device_to_host : direction::device_to_device;
}

std::string addresses(void const* base, byte_span span) {
  auto const* const bytes = static_cast<std::byte const*>(base);
  char text[64];
  std::snprintf(text, sizeof text, "[%p, %p)", static_cast<void const*>(bytes + span.low),
                static_cast<void const*>(bytes + span.high));
  return text;
}

void check_overlap(normal_form const& form) {
  if (!sides_overlap(form)) return;
  throw overlap_error("source " + addresses(form.source, span_of(form, side::source)) +
                      " and destination " +
                      addresses(form.destination, span_of(form, side::destination)) +
                      " overlap: copy through another array");
}

}  // namespace

plan make_plan(detail::region const& source, detail::region const& destination, timing when) {
  check_shapes(source, destination);
  plan result;
  result.way = direction_of(source, destination);
  if (is_empty(source)) return result;
  if (source.data == nullptr || destination.data == nullptr) {
    throw lifetime_error("copy with a null pointer: the array was moved from or never made");
  }
  // The side on the device leads, so that it is contiguous where it can be: the CPU packs in any
  // order, a kernel is then not needed.
  bool const source_leads = result.way == direction::device_to_host;
  result.form =
      normalise(source, destination, source_leads ? side::source : side::destination);
  if (destination_repeats(result.form)) {
    throw layout_error("the destination's strides name one place twice: copy to a layout in which "
                       "every element has its own");
  }
  if (source.where == destination.where) check_overlap(result.form);
  auto const& table = memory::host_table::instance();
  if (result.way != direction::device_to_device) {
    bool const reads_host = result.way != direction::device_to_host;
    auto const where = bytes_of(result.form, reads_host ? side::source : side::destination);
    auto const memory = table.about_to_use(where, !reads_host);
    result.host_pinned = memory.pinned;
    result.host_managed = memory.managed;
  }
  auto const is_mapped = [&](detail::region const& r, side which) {
    return r.where == detail::place::device &&
           table.behind_device_address(bytes_of(result.form, which));
  };
  result.mapped = is_mapped(source, side::source) || is_mapped(destination, side::destination);
  result.path = choose_path(result, when);
  return result;
}

}  // namespace roc::transfer

roc::copy_path roc::detail::planned_path(region const& source, region const& destination) {
  return transfer::make_plan(source, destination, transfer::timing::now).path;
}

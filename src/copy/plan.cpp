// SPDX-License-Identifier: MIT
#include "copy/plan.hpp"

#include <roc/copy.hpp>

#include "memory/host/host_table.hpp"
#include "copy/validate.hpp"
#include "copy/path_choice.hpp"

namespace roc::transfer {
namespace {

plan plan_of(detail::region const& source, detail::region const& destination, direction way,
             timing when) {
  plan result(source, destination, way);
  auto const& table = memory::host_table::instance();
  if (result.way != direction::device_to_device) {
    bool const reads_host = result.way != direction::device_to_host;
    auto const where = layout::bytes_of(result.form, reads_host ? layout::side::source : layout::side::destination);
    auto const memory = table.about_to_use(where, !reads_host);
    result.host_pinned = memory.pinned;
    result.host_managed = memory.managed;
  }
  auto const is_mapped = [&](detail::region const& r, layout::side which) {
    return r.where == detail::place::device &&
           table.behind_device_address(layout::bytes_of(result.form, which));
  };
  result.mapped = table.gave_device_addresses() && (is_mapped(source, layout::side::source) ||
                                                    is_mapped(destination, layout::side::destination));
  result.path = choose_path(result, when);
  return result;
}

}  // namespace

plan make_plan(detail::region const& source, detail::region const& destination, timing when) {
  check_shapes(source, destination);
  direction const way = direction_of(source, destination);
  if (is_empty(source)) return plan(way);
  return plan_of(source, destination, way, when);
}

}  // namespace roc::transfer

roc::copy_path roc::detail::planned_path(region const& source, region const& destination) {
  return transfer::make_plan(source, destination, transfer::timing::now).path;
}

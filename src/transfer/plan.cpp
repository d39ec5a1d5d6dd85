// SPDX-License-Identifier: MIT
#include "transfer/plan.hpp"

#include <roc/copy.hpp>

#include "memory/host_table.hpp"
#include "transfer/checked_form.hpp"
#include "transfer/path_choice.hpp"

namespace roc::transfer {
namespace {

plan plan_of(detail::region const& source, detail::region const& destination, direction way,
             timing when) {
  plan result(source, destination, way);
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
  result.mapped = table.gave_device_addresses() && (is_mapped(source, side::source) ||
                                                    is_mapped(destination, side::destination));
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

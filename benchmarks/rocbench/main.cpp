// SPDX-License-Identifier: MIT
// rocbench: how fast memory travels to, from and on a GPU, and whether it arrives.
#include <exception>
#include <variant>

#include <fmt/format.h>

#include <roc/device.hpp>

#include "command_plan.hpp"
#include "compare_command.hpp"
#include "info_command.hpp"
#include "options.hpp"
#include "report_command.hpp"
#include "run_command.hpp"
#include "table.hpp"

namespace rocbench {
namespace {

exit_code on_device(options const& chosen, std::vector<benchmark_case> const& cases) {
  int const devices = roc::device::count();
  if (devices == 0) return fail(exit_code::nothing_to_run, "no device was found");
  if (chosen.device >= devices) {
    return fail(exit_code::nothing_to_run,
                fmt::format("no device {}: there are {}, counted from 0", chosen.device, devices));
  }
  roc::device const device(chosen.device);
  device.make_current();
  return chosen.what == command::info ? info(device) : run(chosen, cases, device);
}

exit_code execute(options const& chosen) {
  if (chosen.what == command::compare) return compare(chosen.comparing);
  if (chosen.what == command::report) return report(chosen.reporting);
  auto const cases = planned_cases(chosen);
  if (cases.empty()) {
    return fail(exit_code::nothing_to_run, "no case matches; `rocbench list` names them all");
  }
  if (chosen.what != command::list) return on_device(chosen, cases);
  print_list(cases);
  return exit_code::ok;
}

}  // namespace
}  // namespace rocbench

int main(int argc, char** argv) {
  using namespace rocbench;
  try {
    auto const parsed = parse_options(argc, argv);
    if (auto const* const code = std::get_if<exit_code>(&parsed)) return static_cast<int>(*code);
    return static_cast<int>(execute(std::get<options>(parsed)));
  } catch (std::exception const& e) {
    return static_cast<int>(fail(exit_code::usage, e.what()));
  }
}

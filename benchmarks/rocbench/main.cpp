// SPDX-License-Identifier: MIT
// rocbench measures memory transfers to, from and on a GPU, and verifies the data.
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <roc/device.hpp>

#include "benchmark_case.hpp"
#include "command_line.hpp"
#include "comparison.hpp"
#include "doctor.hpp"
#include "machine.hpp"
#include "report.hpp"
#include "result_table.hpp"
#include "run_command.hpp"

namespace rocbench {
namespace {

exit_code run_on_device(command_line const& options) {
  int const devices = roc::device::count();
  if (devices == 0) return fail(exit_code::nothing_to_run, "no device was found");
  if (options.device >= devices) {
    return fail(exit_code::nothing_to_run,
                fmt::format("device {} does not exist: found {} devices, numbered from 0",
                            options.device, devices));
  }
  roc::device const device(options.device);
  device.make_current();
  if (options.command == command_kind::doctor) return doctor(device);
  if (options.command != command_kind::info) return run(options, device);
  run_environment const environment = describe_environment(device);
  print_environment(stdout, environment, find_machine_limits(device, environment));
  print_facts(stdout, environment);
  return exit_code::ok;
}

// Reports each pattern on standard error, with the most similar case. Precondition: no pattern
// matches a case.
exit_code report_unknown_cases(std::vector<std::string> const& patterns) {
  std::vector<std::string> names;
  for (benchmark_case const& candidate : all_cases()) names.push_back(candidate.name);
  for (std::string const& pattern : patterns) {
    std::string const nearest = nearest_name(pattern, names);
    fail(exit_code::nothing_to_run,
         fmt::format("no case matches '{}'; {}", pattern,
                     nearest.empty() ? "`rocbench list` prints all cases"
                                     : fmt::format("did you mean '{}'?", nearest)));
  }
  return exit_code::nothing_to_run;
}

exit_code execute(command_line const& options) {
  if (options.command == command_kind::compare) return compare(options.comparing);
  if (options.command == command_kind::report) return report(options.reporting);
  auto const cases = make_plan(options).cases();
  if (cases.empty()) return report_unknown_cases(options.cases);
  if (options.command != command_kind::list) return run_on_device(options);
  for (benchmark_case const& listed : cases) {
    fmt::print("{:<27} {} {}\n", listed.name, listed.by_default ? '*' : ' ', listed.description);
  }
  return exit_code::ok;
}

}  // namespace
}  // namespace rocbench

int main(int argc, char** argv) {
  using namespace rocbench;
  try {
    auto const parsed = parse_command_line(argc, argv);
    if (auto const* const code = std::get_if<exit_code>(&parsed)) return static_cast<int>(*code);
    return static_cast<int>(execute(std::get<command_line>(parsed)));
  } catch (std::exception const& e) {
    return static_cast<int>(fail(exit_code::usage, e.what()));
  }
}

// SPDX-License-Identifier: MIT
// rocbench: how fast memory travels to, from and on a GPU, and whether it arrives.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <roc/device.hpp>
#include <roc/error.hpp>

#include "cases.hpp"
#include "environment.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace rocbench {
namespace {

exit_code fail(exit_code code, std::string const& problem) {
  fmt::print(stderr, "rocbench: {}\n", problem);
  return code;
}

exit_code run(options const& chosen, std::vector<benchmark_case> const& cases) {
  int const devices = roc::device::count();
  if (devices == 0) return fail(exit_code::nothing_to_run, "no device was found");
  if (chosen.device >= devices) {
    return fail(exit_code::nothing_to_run,
                fmt::format("no device {}: there are {}, counted from 0", chosen.device, devices));
  }
  roc::device const device(chosen.device);
  device.make_current();
  environment const where = describe(device);
  std::size_t const bytes = chosen.size != 0 ? chosen.size : default_size(device, where);
  print_header(where);

  progress shown(cases.size());
  exit_code result = exit_code::ok;
  for (benchmark_case const& each : cases) {
    shown.begin(each.name);
    auto const subject = each.make(bytes);
    measurement const measured = measure(*subject, chosen.measuring);
    shown.clear();
    print_row(each, bytes, subject->path(), measured);
    if (measured.mismatch) {
      result = fail(exit_code::mismatch, each.name + ": " + *measured.mismatch);
    }
  }
  return result;
}

exit_code run_command(options const& chosen) {
  auto const cases = matching_cases(chosen.cases);
  if (cases.empty()) {
    return fail(exit_code::nothing_to_run, "no case matches; `rocbench list` names them all");
  }
  switch (chosen.what) {
    case command::list: print_list(cases); return exit_code::ok;
    case command::run: break;
  }
  return run(chosen, cases);
}

}  // namespace
}  // namespace rocbench

int main(int argc, char** argv) {
  using namespace rocbench;
  try {
    auto const parsed = parse_options(argc, argv);
    if (auto const* const code = std::get_if<exit_code>(&parsed)) return static_cast<int>(*code);
    return static_cast<int>(run_command(std::get<options>(parsed)));
  } catch (std::exception const& e) {
    return static_cast<int>(fail(exit_code::usage, e.what()));
  }
}

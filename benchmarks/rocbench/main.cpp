// SPDX-License-Identifier: MIT
// rocbench: how fast memory travels to, from and on a GPU, and whether it arrives.
#include <exception>
#include <variant>
#include <vector>

#include "cases.hpp"
#include "compare_command.hpp"
#include "options.hpp"
#include "run_command.hpp"
#include "table.hpp"

namespace rocbench {
namespace {

exit_code with_cases(options const& chosen) {
  bool const list = chosen.what == command::list;
  auto const cases = !chosen.cases.empty() ? matching_cases(chosen.cases)
                     : list                ? all_cases()
                                           : default_cases();
  if (cases.empty()) {
    return fail(exit_code::nothing_to_run, "no case matches; `rocbench list` names them all");
  }
  if (!list) return run(chosen, cases);
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
    options const& chosen = std::get<options>(parsed);
    if (chosen.what == command::compare) return static_cast<int>(compare(chosen.comparing));
    return static_cast<int>(with_cases(chosen));
  } catch (std::exception const& e) {
    return static_cast<int>(fail(exit_code::usage, e.what()));
  }
}

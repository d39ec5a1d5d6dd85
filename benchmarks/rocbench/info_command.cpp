// SPDX-License-Identifier: MIT
#include "info_command.hpp"

#include "machine_limits.hpp"
#include "result_table.hpp"
#include "run_environment.hpp"

namespace rocbench {

exit_code info(roc::device const& device) {
  run_environment const environment = describe_environment(device);
  print_environment(stdout, environment, find_machine_limits(device, environment));
  print_facts(stdout, environment);
  return exit_code::ok;
}

}  // namespace rocbench

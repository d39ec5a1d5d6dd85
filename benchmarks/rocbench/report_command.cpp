// SPDX-License-Identifier: MIT
#include "report_command.hpp"

#include "json_reader.hpp"
#include "output_file.hpp"
#include "report.hpp"

namespace rocbench {

exit_code report(report_options const& chosen) {
  document const first = read_document(chosen.first);
  bool const one = chosen.second.empty();
  std::string const page =
      one ? html_report(first) : html_report(read_document(chosen.second), first);
  output_file(chosen.output).write(page);
  return exit_code::ok;
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "report_command.hpp"

#include "json_reader.hpp"
#include "output_file.hpp"
#include "report.hpp"

namespace rocbench {

exit_code report(report_options const& chosen) {
  bool const one = chosen.second.empty();
  bool const picture = chosen.output.ends_with(".svg");
  if (picture && !one) {
    return fail(exit_code::usage,
                chosen.output +
                    " can show one run, but two were given: a report of both is HTML, "
                    "give it a name that does not end with .svg");
  }
  document const first = read_document(chosen.first);
  std::string const text = picture ? svg_report(first)
                           : one   ? html_report(first)
                                   : html_report(read_document(chosen.second), first);
  if (text.empty()) {
    return fail(exit_code::usage,
                chosen.first +
                    " has no rates to draw; give the report a name that does not end "
                    "with .svg for times and everything else");
  }
  output_file(chosen.output).write(text);
  return exit_code::ok;
}

}  // namespace rocbench

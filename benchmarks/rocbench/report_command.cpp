// SPDX-License-Identifier: MIT
#include "report_command.hpp"

#include "html_report.hpp"
#include "json_reader.hpp"
#include "output_file.hpp"
#include "svg_report.hpp"

namespace rocbench {

exit_code report(report_options const& options) {
  bool const is_single = options.later.empty();
  bool const is_picture = options.output.ends_with(".svg");
  if (is_picture && !is_single) {
    return fail(
        exit_code::usage,
        options.output +
            ": a picture shows one run, but two were given; for both, use a file name that does "
            "not end with .svg");
  }
  benchmark_run const first = read_run(options.results);
  std::string const text = is_picture  ? svg_report(first)
                           : is_single ? html_report(first)
                                       : html_report(read_run(options.later), first);
  if (text.empty()) {
    return fail(
        exit_code::usage,
        options.results +
            " has no rates to draw; for times, use a file name that does not end with .svg");
  }
  output_file(options.output).write(text);
  return exit_code::ok;
}

}  // namespace rocbench

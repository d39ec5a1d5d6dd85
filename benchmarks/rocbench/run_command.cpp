// SPDX-License-Identifier: MIT
#include "run_command.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "benchmark_run.hpp"
#include "command_plan.hpp"
#include "csv_writer.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_writer.hpp"
#include "machine_limits.hpp"
#include "output_file.hpp"
#include "result_table.hpp"
#include "run_environment.hpp"
#include "runner.hpp"

namespace rocbench {
namespace {

std::uint64_t host_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Returns the largest array size, in bytes, of which three arrays fit in device and host memory.
std::uint64_t largest_array_that_fits(roc::device const& device) {
  return std::min<std::uint64_t>(device.memory().free / 4, host_memory() / 4);
}

// Returns an error message if the size exceeds the machine's memory. Otherwise the system would
// swap for hours or kill the process.
std::optional<std::string> check_size(std::uint64_t bytes, roc::device const& device) {
  std::size_t const device_bytes = device.memory().total;
  std::uint64_t const host_bytes = host_memory();
  std::uint64_t const max_bytes = std::min<std::uint64_t>(device_bytes / 2, host_bytes / 4);
  if (bytes <= max_bytes) return std::nullopt;
  return fmt::format(
      "size {} exceeds this machine's memory (device {}, host {}); use --size {} or less",
      format_size(static_cast<double>(bytes)), format_size(static_cast<double>(device_bytes)),
      format_size(static_cast<double>(host_bytes)), format_size(static_cast<double>(max_bytes)));
}

std::vector<job> make_jobs(command_line const& options, std::vector<benchmark_case> const& cases,
                           std::vector<std::uint64_t> const& sizes) {
  std::vector<job> jobs;
  for (benchmark_case const& benchmark : cases) {
    for (std::uint64_t const bytes : sizes) {
      jobs.push_back({benchmark, {bytes, options.row, options.pitch, options.element}});
    }
  }
  return jobs;
}

// Returns the exit code of the worst result; wrong data is worst.
exit_code exit_code_of(std::vector<case_result> const& results, bool strict) {
  auto const any_result = [&](auto const& predicate) {
    return std::ranges::any_of(results, predicate);
  };
  auto const has_status = [](outcome status) {
    return [status](case_result const& result) { return result.status == status; };
  };
  if (any_result([](case_result const& result) { return result.measured.mismatch.has_value(); })) {
    return exit_code::mismatch;
  }
  if (any_result(has_status(outcome::failed))) return exit_code::usage;
  if (interrupted()) return fail(exit_code::interrupted, "interrupted: the results are incomplete");
  if (!any_result(has_status(outcome::measured))) return exit_code::skipped;
  if (strict && any_result([](case_result const& result) { return result.measured.noisy; })) {
    return fail(exit_code::noisy, "a case is noisy; increase --max-time to take more samples");
  }
  return exit_code::ok;
}

}  // namespace

exit_code run(command_line const& options, std::vector<benchmark_case> const& cases,
              roc::device const& device) {
  run_environment const environment = describe_environment(device);
  auto const sizes =
      planned_sizes(options, default_size(device, environment), largest_array_that_fits(device));
  for (std::uint64_t const bytes : sizes) {
    if (auto const error = check_size(bytes, device)) return fail(exit_code::usage, *error);
  }
  std::optional<output_file> json;
  std::optional<output_file> csv;
  if (!options.json.empty()) json.emplace(options.json);
  if (!options.csv.empty()) csv.emplace(options.csv);
  std::FILE* const output = options.json == "-" || options.csv == "-" ? stderr : stdout;

  handle_interrupts();
  benchmark_run measured_run{environment, find_machine_limits(device, environment), {}};
  print_environment(output, environment, measured_run.limits);
  if (options.like == like_tool::babelstream && sizes.at(0) < babelstream_bytes) {
    fmt::print(
        output, "Arrays of {} instead of BabelStream's {}: {}.\n",
        format_size(static_cast<double>(sizes[0])),
        format_size(static_cast<double>(babelstream_bytes)),
        options.sizes.empty() ? "three larger arrays do not fit in memory" : "as given by --size");
  }
  result_table table(output);
  auto const jobs = make_jobs(options, cases, sizes);
  run_jobs(jobs, planned_measuring(options), measured_run.limits, [&](case_result const& result) {
    options.command == command_kind::check ? print_check_result(output, result)
                                           : table.print_row(result);
    if (result.measured.mismatch) {
      fail(exit_code::mismatch, result.name + ": " + *result.measured.mismatch);
    }
    measured_run.results.push_back(result);
  });
  if (json) json->write(to_json(measured_run));
  if (csv) csv->write(to_csv(measured_run));
  return exit_code_of(measured_run.results, options.strict);
}

}  // namespace rocbench

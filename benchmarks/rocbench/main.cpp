// SPDX-License-Identifier: MIT
// rocbench measures memory transfers to, from and on a GPU, and verifies the data.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <roc/device.hpp>

#include "command_line.hpp"
#include "format.hpp"
#include "result_file.hpp"
#include "result_table.hpp"

namespace rocbench {
namespace {

// Returns true for the cases whose rows are at the pitch of the command line.
bool has_pitch(std::string const& name) {
  bool const is_peer = name.find("peer/") != std::string::npos;
  return name.find("strided/") != std::string::npos ||
         name.find("async/rows/") != std::string::npos ||
         (is_peer && (name.ends_with("/rows") || name.ends_with("/planes")));
}

// Returns an error message if the bytes, the rows at their pitch, or the copies of a batch and what
// is between them exceed the machine's memory. Otherwise the system would swap for hours or kill
// the process.
std::optional<std::string> check_size(job const& planned, std::uint64_t device_bytes) {
  std::uint64_t const bytes = planned.parameters.bytes;
  // Source and destination fit in device and host memory.
  std::uint64_t const max_bytes = std::min(device_bytes / 2, host_memory() / 4);
  if (bytes > max_bytes) {
    return fmt::format(
        "size {} exceeds this machine's memory (device {}, host {}); use --size {} or less",
        format_size(bytes), format_size(device_bytes), format_size(host_memory()),
        format_size_option(max_bytes));
  }
  std::string const& name = planned.benchmark.name;
  bool const is_batch = name.find("batch") != std::string::npos;
  if (!is_batch && !has_pitch(name)) return std::nullopt;
  std::uint64_t const row = planned.parameters.row;
  double const step =
      static_cast<double>(is_batch ? std::min(row, bytes) : planned.parameters.pitch) +
      (is_batch ? static_cast<double>(batch_gap) : 0);
  double const rows = std::ceil(static_cast<double>(bytes) / static_cast<double>(row));
  if (rows * step <= 2 * static_cast<double>(max_bytes)) return std::nullopt;
  if (is_batch) {
    return fmt::format(
        "{:.0f} copies of {} with {} between them exceed this machine's memory; use a larger --row",
        rows, format_size(row), format_size(batch_gap));
  }
  return fmt::format(
      "{:.0f} rows at a pitch of {} exceed this machine's memory; use a smaller --pitch", rows,
      format_size(planned.parameters.pitch));
}

// Returns the exit code of the worst result; wrong data is worst.
exit_code exit_code_of(std::vector<case_result> const& results, bool strict) {
  auto const any = [&](auto const& predicate) { return std::ranges::any_of(results, predicate); };
  auto const has_status = [](outcome status) {
    return [=](case_result const& result) { return result.status == status; };
  };
  if (any([](case_result const& result) { return result.measured.mismatch.has_value(); }))
    return exit_code::mismatch;
  if (any(has_status(outcome::failed))) return exit_code::usage;
  if (interrupted()) return fail(exit_code::interrupted, "interrupted: the results are incomplete");
  if (!any(has_status(outcome::measured))) return exit_code::skipped;
  if (strict && any([](case_result const& result) { return result.measured.noisy; }))
    return fail(exit_code::noisy, "a case is noisy; increase --max-time to take more samples");
  return exit_code::ok;
}

// Measures the cases, prints the table and writes the result files. Precondition: `device` is
// current. Throws roc::error, file_error.
exit_code run(command_line const& options, roc::device const& device) {
  run_environment environment = describe_environment(device);
  std::ranges::copy(parameter_facts({0, options.row, options.pitch, options.element}),
                    std::back_inserter(environment.facts));
  // Three arrays of BabelStream fit in device and host memory.
  measuring_plan const plan = make_plan(options, default_size(device, environment),
                                        std::min(device.memory().free / 4, host_memory() / 4));
  auto const cases = plan.cases();
  std::vector<job> jobs;
  for (benchmark_case const& benchmark : cases) {
    for (std::uint64_t const bytes : plan.sizes_of(benchmark))
      jobs.push_back({benchmark, {bytes, options.row, options.pitch, options.element}});
  }
  std::uint64_t const device_bytes = device.memory().total;
  for (job const& planned : jobs) {
    if (auto const error = check_size(planned, device_bytes)) return fail(exit_code::usage, *error);
  }
  for (std::string const& file : {options.json, options.csv}) {
    if (!file.empty()) check_writable(file);
  }
  std::FILE* const output = options.json == "-" || options.csv == "-" ? stderr : stdout;

  handle_interrupts();
  benchmark_run measured_run{environment, find_machine_limits(device, environment), {}};
  print_environment(output, environment, measured_run.limits);
  if (options.like == like_tool::babelstream && plan.sizes.at(0) < babelstream_bytes) {
    fmt::print(
        output, "Arrays of {} instead of BabelStream's {}: {}.\n", format_size(plan.sizes[0]),
        format_size(babelstream_bytes),
        options.sizes.empty() ? "three larger arrays do not fit in memory" : "as given by --size");
  }
  bool const is_check = options.command == command_kind::check;
  result_table table(output, cases);
  run_jobs(jobs, plan.measuring, measured_run.limits, [&](case_result const& result) {
    is_check ? print_check_result(output, result) : table.print_row(result);
    if (result.measured.mismatch)
      fail(exit_code::mismatch, result.name + ": " + *result.measured.mismatch);
    measured_run.results.push_back(result);
  });
  record_final_state(measured_run.environment);
  if (!is_check) table.finish(measured_run);
  if (!options.json.empty()) write_file(options.json, to_json(measured_run));
  if (!options.csv.empty()) write_file(options.csv, to_csv(measured_run));
  return exit_code_of(measured_run.results, options.strict);
}

exit_code execute_on_device(command_line const& options) {
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

// Reports each pattern that matches no case on standard error, with the most similar case.
exit_code report_unknown_cases(std::vector<std::string> const& patterns) {
  std::vector<std::string> names;
  for (benchmark_case const& candidate : all_cases()) names.push_back(candidate.name);
  for (std::string const& pattern : patterns) {
    if (!matching_cases({pattern}).empty()) continue;
    if (pattern.find("mpi/") != std::string::npos) {
      fail(exit_code::nothing_to_run,
           fmt::format("no case matches '{0}'; for the cases of MPI, run mpirun -n 2 rocbench-mpi "
                       "'{0}'",
                       pattern));
      continue;
    }
    std::string const nearest = nearest_name(pattern, names);
    fail(exit_code::nothing_to_run,
         fmt::format("no case matches '{}'; {}", pattern,
                     nearest.empty() ? "`rocbench list` prints all cases"
                                     : fmt::format("did you mean '{}'?", nearest)));
  }
  return exit_code::nothing_to_run;
}

// Returns the exit code of a command whose output is complete, `usage` instead of `ok` if it is
// not.
exit_code finish_output(exit_code code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::string const reason =
      errno == 0 ? "an earlier write failed" : std::generic_category().message(errno);
  fail(exit_code::usage, "cannot write to standard output: " + reason);
  return code == exit_code::ok ? exit_code::usage : code;
}

exit_code execute(command_line const& options) {
  if (options.command == command_kind::compare) return compare(options.comparing);
  if (options.command == command_kind::report) return report(options.reporting);
  auto const cases = make_plan(options).cases();
  exit_code const unknown = report_unknown_cases(options.cases);
  if (cases.empty()) return unknown;
  if (options.command != command_kind::list) return execute_on_device(options);
  for (benchmark_case const& listed : cases)
    fmt::print("{:<27} {} {}\n", listed.name, listed.by_default ? '*' : ' ', listed.description);
  return exit_code::ok;
}

}  // namespace
}  // namespace rocbench

int main(int argc, char** argv) {
  using namespace rocbench;
  try {
    auto const parsed = parse_command_line(argc, argv);
    auto const* const ended = std::get_if<exit_code>(&parsed);
    exit_code const code = ended != nullptr ? *ended : execute(std::get<command_line>(parsed));
    errno = 0;
    return static_cast<int>(finish_output(code));
  } catch (std::exception const& e) {
    return static_cast<int>(fail(exit_code::usage, e.what()));
  }
}

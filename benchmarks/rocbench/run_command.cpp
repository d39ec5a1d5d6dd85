// SPDX-License-Identifier: MIT
#include "run_command.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "files.hpp"
#include "format.hpp"
#include "machine.hpp"
#include "result_file.hpp"
#include "result_table.hpp"

namespace rocbench {
namespace {

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

measuring_plan defaults_of(command_line const& options, std::uint64_t largest,
                           std::uint64_t largest_array) {
  constexpr std::uint64_t kibi = 1024;
  if (options.like == like_tool::nvbandwidth)
    return {{"?2?/pinned", "raw/?2?/pinned"}, {512 * mebi}, {.fixed = {{4, 16, 3}}}};
  if (options.like == like_tool::babelstream) {
    std::uint64_t const fitting = std::bit_floor(std::max(largest_array, std::uint64_t{1}));
    return {{"stream/*", "raw/stream/*"},
            {std::min(babelstream_bytes, fitting)},
            {.fixed = {{0, 1, 100, true, true}}}};
  }
  std::vector<std::uint64_t> sizes;
  switch (options.command) {
    case command_kind::latency:
      return {{"latency/*", "raw/latency/*"}, {4, 4 * kibi, 64 * kibi}, {0.2, 1, 2}};
    case command_kind::alloc:
      return {{"alloc/*", "raw/alloc/*"}, {4 * kibi, mebi, 64 * mebi}, {0.2, 1, 2}};
    // Sizes around words and pages, and sizes of several chunks of a staged copy.
    case command_kind::check: return {{"*"}, {1, 4097, mebi + 3, 9 * mebi + 5}, {0, 0, 1}};
    case command_kind::list: return {{"*"}, {}, {}};
    case command_kind::sweep:
      for (std::uint64_t bytes = 4 * kibi; bytes <= largest; bytes *= 4) sizes.push_back(bytes);
      return {{"?2?/pinned", "?2?/pageable", "d2d/copy", "raw/?2?/pinned", "raw/?2?/pageable",
               "raw/d2d/copy"},
              sizes,
              {0.1, 0.5, 2}};
    // If all 27 cases are noisy, this takes half a minute including preparation. The remaining time
    // is spent on noisy cases in short rounds, which see more of a machine's drift than one long
    // round.
    default:
      return {
          {}, {largest}, {.min_time = 0.2, .max_time = 0.9, .rounds = 2, .extra = {{0.3, 8, 27}}}};
  }
}

std::uint64_t host_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Returns the largest array size, in bytes, of which three arrays fit in device and host memory.
std::uint64_t largest_array_that_fits(roc::device const& device) {
  return std::min<std::uint64_t>(device.memory().free / 4, host_memory() / 4);
}

// Returns the most bytes of which source and destination fit in device and host memory.
std::uint64_t largest_copy(roc::device const& device) {
  return std::min<std::uint64_t>(device.memory().total / 2, host_memory() / 4);
}

// Returns an error message if the size exceeds the machine's memory. Otherwise the system would
// swap for hours or kill the process.
std::optional<std::string> check_size(std::uint64_t bytes, roc::device const& device) {
  std::size_t const device_bytes = device.memory().total;
  std::uint64_t const host_bytes = host_memory();
  std::uint64_t const max_bytes = largest_copy(device);
  if (bytes <= max_bytes) return std::nullopt;
  return fmt::format(
      "size {} exceeds this machine's memory (device {}, host {}); use --size {} or less",
      format_size(bytes), format_size(device_bytes), format_size(host_bytes),
      format_size(max_bytes));
}

// Returns an error message if the rows of strided cases, at their pitch, exceed the machine's
// memory.
std::optional<std::string> check_pitch(std::uint64_t bytes, command_line const& options,
                                       std::vector<benchmark_case> const& cases,
                                       roc::device const& device) {
  auto const has_rows = [](benchmark_case const& candidate) {
    return candidate.name.find("strided/") != std::string::npos;
  };
  double const rows = std::ceil(static_cast<double>(bytes) / static_cast<double>(options.row));
  double const span = rows * static_cast<double>(options.pitch);
  double const max_bytes = 2 * static_cast<double>(largest_copy(device));
  if (span <= max_bytes || std::ranges::none_of(cases, has_rows)) return std::nullopt;
  return fmt::format(
      "{:.0f} rows at a pitch of {} exceed this machine's memory; use a smaller --pitch", rows,
      format_size(options.pitch));
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

measuring_plan make_plan(command_line const& options, std::uint64_t largest,
                         std::uint64_t largest_array) {
  measuring_plan plan = defaults_of(options, largest, largest_array);
  if (options.like == like_tool::none)
    std::erase_if(plan.sizes, [&](std::uint64_t bytes) { return bytes > largest; });
  if (!options.cases.empty()) plan.globs = options.cases;
  if (!options.sizes.empty()) plan.sizes = options.sizes;
  measure_options& measuring = plan.measuring;
  measuring.inject = options.inject;
  if (measuring.fixed) return plan;
  measuring.min_time = options.min_time.value_or(measuring.min_time);
  measuring.max_time = std::max(options.max_time.value_or(measuring.max_time), measuring.min_time);
  if (options.max_time) measuring.extra.reset();  // the given time is the limit
  // A --max-time below the default minimum also lowers the minimum.
  if (options.max_time && !options.min_time) {
    measuring.min_time = std::min(measuring.min_time, *options.max_time);
    measuring.max_time = *options.max_time;
  }
  measuring.rounds = options.rounds.value_or(measuring.rounds);
  return plan;
}

exit_code run(command_line const& options, roc::device const& device) {
  run_environment const environment = describe_environment(device);
  measuring_plan const plan =
      make_plan(options, default_size(device, environment), largest_array_that_fits(device));
  auto const& sizes = plan.sizes;
  auto const cases = plan.cases();
  for (std::uint64_t const bytes : sizes) {
    if (auto const error = check_size(bytes, device)) return fail(exit_code::usage, *error);
    if (auto const error = check_pitch(bytes, options, cases, device))
      return fail(exit_code::usage, *error);
  }
  if (!options.json.empty()) check_writable(options.json);
  if (!options.csv.empty()) check_writable(options.csv);
  std::FILE* const output = options.json == "-" || options.csv == "-" ? stderr : stdout;

  handle_interrupts();
  benchmark_run measured_run{environment, find_machine_limits(device, environment), {}};
  print_environment(output, environment, measured_run.limits);
  if (options.like == like_tool::babelstream && sizes.at(0) < babelstream_bytes) {
    fmt::print(
        output, "Arrays of {} instead of BabelStream's {}: {}.\n", format_size(sizes[0]),
        format_size(babelstream_bytes),
        options.sizes.empty() ? "three larger arrays do not fit in memory" : "as given by --size");
  }
  result_table table(output, cases);
  auto const jobs = make_jobs(options, cases, sizes);
  run_jobs(jobs, plan.measuring, measured_run.limits, [&](case_result const& result) {
    options.command == command_kind::check ? print_check_result(output, result)
                                           : table.print_row(result);
    if (result.measured.mismatch) {
      fail(exit_code::mismatch, result.name + ": " + *result.measured.mismatch);
    }
    measured_run.results.push_back(result);
  });
  record_final_state(measured_run.environment);
  if (options.command != command_kind::check) table.finish(measured_run);
  if (!options.json.empty()) write_file(options.json, to_json(measured_run));
  if (!options.csv.empty()) write_file(options.csv, to_csv(measured_run));
  return exit_code_of(measured_run.results, options.strict);
}

}  // namespace rocbench

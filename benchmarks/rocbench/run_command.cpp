// SPDX-License-Identifier: MIT
#include "run_command.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "command_plan.hpp"
#include "csv_writer.hpp"
#include "document.hpp"
#include "environment.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_writer.hpp"
#include "limits.hpp"
#include "output_file.hpp"
#include "runner.hpp"
#include "table.hpp"

namespace rocbench {
namespace {

std::uint64_t host_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Bytes of arrays of which three are needed at once.
std::uint64_t fitting_array(roc::device const& device) {
  return std::min<std::uint64_t>(device.memory().free / 4, host_memory() / 4);
}

// A size that cannot be there is refused before hours of swapping, or the system's killer, say so.
std::optional<std::string> too_large(std::uint64_t bytes, roc::device const& device) {
  std::size_t const on_device = device.memory().total;
  std::uint64_t const host = host_memory();
  std::uint64_t const most = std::min<std::uint64_t>(on_device / 2, host / 4);
  if (bytes <= most) return std::nullopt;
  return fmt::format(
      "size {} is beyond this machine (device memory {}, host memory {}): give {} at most",
      format_size(static_cast<double>(bytes)), format_size(static_cast<double>(on_device)),
      format_size(static_cast<double>(host)), format_size(static_cast<double>(most)));
}

std::vector<job> make_jobs(options const& chosen, std::vector<benchmark_case> const& cases,
                           std::vector<std::uint64_t> const& sizes) {
  std::vector<job> jobs;
  for (benchmark_case const& each : cases) {
    for (std::uint64_t const bytes : sizes) {
      jobs.push_back({each, {bytes, chosen.row, chosen.pitch, chosen.element}});
    }
  }
  return jobs;
}

// The worst of what happened: wrong data before anything else.
exit_code verdict(std::vector<case_result> const& results, bool strict) {
  auto const any = [&](auto const& is) { return std::ranges::any_of(results, is); };
  auto const ended = [](outcome wanted) {
    return [wanted](case_result const& each) { return each.ended == wanted; };
  };
  if (any([](case_result const& each) { return each.measured.mismatch.has_value(); })) {
    return exit_code::mismatch;
  }
  if (any(ended(outcome::failed))) return exit_code::usage;
  if (interrupted()) return fail(exit_code::interrupted, "interrupted: the table is not complete");
  if (!any(ended(outcome::measured))) return exit_code::skipped;
  if (strict && any([](case_result const& each) { return each.measured.noisy; })) {
    return fail(exit_code::noisy, "a case is noisy; --max-time gives it longer");
  }
  return exit_code::ok;
}

}  // namespace

exit_code run(options const& chosen, std::vector<benchmark_case> const& cases,
              roc::device const& device) {
  environment const where = describe(device);
  auto const sizes = planned_sizes(chosen, default_size(device, where), fitting_array(device));
  for (std::uint64_t const bytes : sizes) {
    if (auto const problem = too_large(bytes, device)) return fail(exit_code::usage, *problem);
  }
  std::optional<output_file> json;
  std::optional<output_file> csv;
  if (!chosen.json.empty()) json.emplace(chosen.json);
  if (!chosen.csv.empty()) csv.emplace(chosen.csv);
  std::FILE* const shown = chosen.json == "-" || chosen.csv == "-" ? stderr : stdout;

  note_interrupts();
  document all{where, find_limits(device, where), {}};
  print_environment(shown, where, all.known);
  if (chosen.like == like_tool::babelstream && sizes.at(0) < babelstream_bytes) {
    fmt::print(shown, "Arrays of {}, not BabelStream's of {}: {}.\n",
               format_size(static_cast<double>(sizes[0])),
               format_size(static_cast<double>(babelstream_bytes)),
               chosen.sizes.empty() ? "three of those do not fit" : "as asked for");
  }
  table rows(shown);
  auto const jobs = make_jobs(chosen, cases, sizes);
  run_jobs(jobs, planned_measuring(chosen), all.known, [&](case_result const& row) {
    chosen.what == command::check ? print_checked(shown, row) : rows.row(row);
    if (row.measured.mismatch) {
      fail(exit_code::mismatch, row.name + ": " + *row.measured.mismatch);
    }
    all.results.push_back(row);
  });
  if (json) json->write(to_json(all));
  if (csv) csv->write(to_csv(all));
  return verdict(all.results, chosen.strict);
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <roc/config.hpp>

namespace rocbench {
namespace {

constexpr char const* footer =
    "Cases are named by glob, * matches slashes too: rocbench run 'h2d/*' '*pinned'\n"
    "Exit codes: 0 ok; 1 wrong usage, or a call that failed; 2 data that did not arrive whole;\n"
    "            3 slower than before or below a threshold (compare); 4 noisy under --strict;\n"
    "            5 no device, or no case of that name; 77 all cases were skipped; 130 interrupted";

std::string not_zero(std::string const& text) {
  bool const zero = text.find_first_not_of('0') == std::string::npos;
  return zero ? "give at least one byte" : "";
}

void add_run_options(CLI::App& app, options& chosen) {
  app.add_option("--size", chosen.sizes,
                 "Bytes of a copy, or several sizes with commas; K, M and G are powers of 1024. "
                 "Default of run: 256M on a GPU, 64M on the host, at most a quarter of the free "
                 "device memory; the other commands take several")
      ->delimiter(',')
      // Checked behind the suffix's conversion.
      ->check(CLI::Validator(not_zero, "BYTES"))
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--row", chosen.row,
                 "Bytes of a row of the strided cases, and of a piece of the batches")
      ->check(CLI::Validator(not_zero, "BYTES"))
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--pitch", chosen.pitch,
                 "Bytes from one of these rows to the next. Default: an eighth more than the row")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--element", chosen.element, "Bytes of an element of the permute cases")
      ->check(CLI::IsMember({1, 2, 4, 8, 16}))
      ->capture_default_str();
  app.add_option("--min-time", chosen.min_time,
                 "Seconds for a case at least. Default: 0.2 (sweep 0.1, check 0)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--max-time", chosen.max_time,
                 "Seconds for a case at most; it is called noisy if its samples disagree then. "
                 "Default: 0.9 (sweep 0.5, latency and alloc 1, check 0), and run gives cases whose "
                 "median is not known to 1 % up to 8 turns of 0.3 more, within half a minute in all")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--rounds", chosen.rounds,
                 "Parts that this time is divided into: cases take turns, so that a slow minute "
                 "of the machine meets them all. Default: 2 (check 1)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", chosen.json,
                 "File for the results in Google Benchmark's format and more; - is standard "
                 "output, the table then goes to standard error");
  app.add_option("--csv", chosen.csv, "File for the results as CSV");
  app.add_flag("--strict", chosen.strict, "Ends with 4 where a case is noisy");
  app.add_option("--device", chosen.device, "Ordinal of the device")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--like",
         [&](std::string const& name) {
           chosen.like = name == "nvbandwidth" ? like_tool::nvbandwidth : like_tool::babelstream;
         },
         "Measures as that tool does, so that figures can be held against its: nvbandwidth "
         "(512 MiB, 4 copies to warm up, 16 between two events, the median of 3), babelstream "
         "(arrays of 2^28 doubles, or the largest power of two that fits, 100 times, each waited "
         "for, the least time of all but the first)")
      ->check(CLI::IsMember({"nvbandwidth", "babelstream"}));
  app.add_flag("--inject{data}", chosen.inject,
               "Corrupts one byte before each check: shows that a wrong byte is found (ends with "
               "2). --inject=gap, =before, =behind: not of the data, but between its rows, or of "
               "the guard bands; cases without such a place are skipped")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, inject_place>{{"data", inject_place::data},
                                              {"gap", inject_place::gap},
                                              {"before", inject_place::before},
                                              {"behind", inject_place::behind}}));
}

void add_cases(CLI::App& app, options& chosen) {
  app.add_option("case", chosen.cases,
                 "Names of cases, with * and ?; without any those that the command is for");
}

struct measuring_command {
  char const* name;
  char const* words;
  command what;
};

constexpr measuring_command measuring_commands[] = {
    {"run", "Measures cases and prints a table", command::run},
    {"sweep", "Measures cases over many sizes", command::sweep},
    {"latency", "Measures how long small copies take that are waited for", command::latency},
    {"alloc", "Measures how long it takes to get memory and give it back", command::alloc},
    {"check", "Copies once with every case, at odd sizes, and checks what arrives", command::check},
};

void add_compare_options(CLI::App& app, compare_options& chosen) {
  app.footer(
      "A case is faster or slower where the whole range of the change is beyond the tolerance, "
      "the\n"
      "same where it is within, and unclear otherwise. The range is that of the medians' 95 %\n"
      "intervals. Of a case that either run called noisy it takes in the samples' spread, so that "
      "it\n"
      "is faster or slower only where each median lies outside of the other run's p5 to p95.\n"
      "The last line is the verdict on all; its first word is the worst that was found: wrong data,\n"
      "below (a threshold), slower, faster, same, or unclear where no case tells even that.");
  app.add_option("before", chosen.before, "File of the earlier run, from --json")->required();
  app.add_option("after", chosen.after, "File of the later run")->required();
  app.add_option("--tolerance", chosen.tolerance, "Percent of change that is called the same")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--thresholds", chosen.thresholds,
                 "File of rates to reach, a line each: a case (or glob), a number, and GB/s, "
                 "% of limit or % of before; # begins a comment");
}

void add_report_options(CLI::App& app, report_options& chosen) {
  app.add_option("results", chosen.first, "File of a run, from --json")->required();
  app.add_option("later", chosen.second,
                 "File of a later run: it is shown, and what changed since the first");
  app.add_option(
         "-o,--output", chosen.output,
         "File to write: HTML, or, where its name ends with .svg, a picture of the efficiency "
         "bars of one run alone; - is standard output")
      ->required();
}

}  // namespace

std::variant<options, exit_code> parse_options(int argc, char** argv) {
  options chosen;
  CLI::App app(
      "Measures memory transfers of a GPU, through rocarray and through HIP, and checks "
      "every byte. Without a command: run.",
      "rocbench");
  app.footer(footer);
  app.set_version_flag("--version", fmt::format("rocbench {}.{}.{}", ROCARRAY_VERSION_MAJOR,
                                                ROCARRAY_VERSION_MINOR, ROCARRAY_VERSION_PATCH));
  app.require_subcommand(0, 1);
  add_run_options(app, chosen);
  std::vector<std::pair<CLI::App*, command>> commands;
  auto const add = [&](char const* name, char const* words, command what) {
    commands.emplace_back(app.add_subcommand(name, words), what);
    return commands.back().first;
  };
  for (measuring_command const& each : measuring_commands) {
    CLI::App* const one = add(each.name, each.words, each.what);
    add_cases(*one, chosen);
    add_run_options(*one, chosen);
    one->footer(footer);
  }
  add_cases(*add("list", "Lists all cases", command::list), chosen);
  add("info", "Tells about the device and its limits", command::info)
      ->add_option("--device", chosen.device, "Ordinal of the device")
      ->check(CLI::NonNegativeNumber);
  add_compare_options(
      *add("compare", "Tells what changed between two runs; ends with 3 where a case became slower",
           command::compare),
      chosen.comparing);
  add_report_options(
      *add("report",
           "Draws a run, or what changed between two, as one HTML file, or its bars as SVG",
           command::report),
      chosen.reporting);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? exit_code::ok : exit_code::usage;
  }
  if (chosen.pitch == 0) chosen.pitch = chosen.row + chosen.row / 8;
  if (chosen.pitch < chosen.row) {
    return fail(exit_code::usage, fmt::format("a pitch of {} bytes is less than the row of {}",
                                              chosen.pitch, chosen.row));
  }
  for (auto const& [app_of, what] : commands) {
    if (app_of->parsed()) chosen.what = what;
  }
  return chosen;
}

}  // namespace rocbench

// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <roc/config.hpp>

#include "nearest_name.hpp"

namespace rocbench {
namespace {

constexpr char const* footer =
    "Cases are selected by name or glob; * also matches slashes: rocbench run 'h2d/*' '*pinned'\n"
    "Exit codes: 0 success; 1 wrong usage, or a call failed; 2 wrong data;\n"
    "            3 slower than before, or below a threshold (compare); 4 noisy, with --strict;\n"
    "            5 no device, or no matching case; 77 all cases were skipped; 130 interrupted";

// CLI11's form of a validator: returns an error message, empty if the text is valid.
std::string check_not_zero(std::string const& text) {
  bool const is_zero = text.find_first_not_of('0') == std::string::npos;
  return is_zero ? "size 0 is not allowed; use at least one byte" : "";
}

void add_measuring_options(CLI::App& app, command_line& options) {
  app.add_option("--size", options.sizes,
                 "Bytes per copy, or several sizes separated by commas; K, M and G are powers of "
                 "1024. Default of run: 256M on a GPU, 64M on the host, at most a quarter of the "
                 "free device memory; the other commands use several sizes")
      ->delimiter(',')
      // Validators run after transformations, on the number of bytes.
      ->check(CLI::Validator(check_not_zero, "BYTES"))
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--row", options.row,
                 "Bytes per row of the strided cases and per copy of the batch cases")
      ->check(CLI::Validator(check_not_zero, "BYTES"))
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--pitch", options.pitch,
                 "Bytes from one row to the next. Default: 9/8 of the row")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--element", options.element, "Bytes per element of the permute cases")
      ->check(CLI::IsMember({1, 2, 4, 8, 16}))
      ->capture_default_str();
  app.add_option("--min-time", options.min_time,
                 "Minimal seconds per case. Default: 0.2 (sweep 0.1, check 0)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--max-time", options.max_time,
                 "Maximal seconds per case; a case is noisy if its samples still disagree then. "
                 "Default: 0.9 (sweep 0.5, latency and alloc 1, check 0); without this option, run "
                 "measures cases whose median is not precise to 1 % in up to 8 extra rounds of 0.3 "
                 "seconds, within half a minute in total")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--rounds", options.rounds,
                 "Rounds that divide this time: cases take turns, so that a temporary slowdown of "
                 "the machine affects all of them. Default: 2 (check 1)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", options.json,
                 "Writes the results to this file, in an extension of Google Benchmark's format; - "
                 "is standard output, and moves the table to standard error");
  app.add_option("--csv", options.csv, "Writes the results to this file as CSV");
  app.add_flag("--strict", options.strict, "Returns exit code 4 if a case is noisy");
  app.add_option("--device", options.device, "Ordinal of the device")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--like",
         [&](std::string const& name) {
           options.like = name == "nvbandwidth" ? like_tool::nvbandwidth : like_tool::babelstream;
         },
         "Measures as another tool does, for comparison with its figures: nvbandwidth (512 MiB, 4 "
         "warm-up copies, 16 copies between two events, median of 3), babelstream (arrays of 2^28 "
         "doubles, or the largest power of two that fits; 100 synchronized executions, the "
         "shortest time without the first)")
      ->check(CLI::IsMember({"nvbandwidth", "babelstream"}));
  app.add_flag("--inject{data}", options.inject,
               "Corrupts one byte before each verification, which must fail (exit code 2). "
               "--inject=gap corrupts a byte between rows; =before and =after one of the guard "
               "bands. Cases without such a byte are skipped")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, injection_site>{{"data", injection_site::data},
                                                {"gap", injection_site::gap},
                                                {"before", injection_site::before},
                                                {"after", injection_site::after}}));
}

void add_case_argument(CLI::App& app, command_line& options) {
  app.add_option("case", options.cases,
                 "Names of cases, with * and ?. Default: the command's own selection");
}

struct measuring_command {
  char const* name;
  char const* description;
  command_kind command;
};

constexpr measuring_command measuring_commands[] = {
    {"run", "Measures cases and prints a table", command_kind::run},
    {"sweep", "Measures cases at many sizes", command_kind::sweep},
    {"latency", "Measures the time of small synchronized copies", command_kind::latency},
    {"alloc", "Measures the time of allocation and deallocation", command_kind::alloc},
    {"check", "Runs every case once, at unaligned sizes, and verifies the data",
     command_kind::check},
};

void add_compare_options(CLI::App& app, compare_options& options) {
  app.footer(
      "A case is faster or slower if the whole range of its change is beyond the tolerance, the\n"
      "same if the range is within the tolerance, and unclear otherwise. The range follows from\n"
      "the 95 % confidence intervals of the medians. For a case that is noisy in either run, the\n"
      "range also covers the spread of the samples: the case is faster or slower only if each\n"
      "median is outside the other run's 5th to 95th percentile.\n"
      "The last line is the verdict. Its first word is the worst finding: wrong data, below (a\n"
      "threshold), slower, faster, same, or unclear if no case has a verdict.");
  app.add_option("before", options.before, "Result file of the earlier run, from --json")
      ->required();
  app.add_option("after", options.after, "Result file of the later run")->required();
  app.add_option("--tolerance", options.tolerance, "Change in percent that counts as the same")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--thresholds", options.thresholds,
                 "File of minimal rates, one per line: a case or glob, a number, and GB/s, "
                 "% of limit or % of before; # starts a comment");
}

void add_report_options(CLI::App& app, report_options& options) {
  app.add_option("results", options.results, "Result file of a run, from --json")->required();
  app.add_option("later", options.later,
                 "Result file of a later run, which is shown with its changes since the first");
  app.add_option("-o,--output", options.output,
                 "File to write: a picture of one run's efficiency bars if the name ends with "
                 ".svg, else HTML; - is standard output")
      ->required();
}

// Reports the first argument that the parser did not recognize. Precondition: there is one.
exit_code report_unknown_argument(CLI::App const& app) {
  auto const commands = app.get_subcommands();
  CLI::App const& active = commands.empty() ? app : *commands.front();
  std::string const argument = app.remaining(true).front();
  bool const is_option = argument.starts_with('-');
  std::vector<std::string> names;
  if (is_option) {
    for (CLI::Option const* const option : active.get_options()) {
      for (std::string const& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else if (commands.empty()) {
    for (CLI::App const* const command : app.get_subcommands({})) {
      names.push_back(command->get_name());
    }
  }
  std::vector<std::string_view> const candidates(names.begin(), names.end());
  std::string_view const nearest =
      nearest_name(std::string_view(argument).substr(0, argument.find('=')), candidates);
  char const* const kind = is_option          ? "unknown option"
                           : commands.empty() ? "unknown command"
                                              : "unexpected argument";
  std::string const help =
      commands.empty() ? "rocbench --help" : "rocbench " + active.get_name() + " --help";
  return fail(exit_code::usage,
              fmt::format("{} '{}'{}", kind, argument,
                          nearest.empty() ? fmt::format("; see `{}`", help) : suggestion(nearest)));
}

}  // namespace

std::variant<command_line, exit_code> parse_command_line(int argc, char** argv) {
  command_line options;
  CLI::App app(
      "Measures memory transfers of a GPU, by rocarray and by HIP's own calls, and verifies every "
      "byte. The default command is run.",
      "rocbench");
  app.footer(footer);
  app.set_version_flag("--version", fmt::format("rocbench {}.{}.{}", ROCARRAY_VERSION_MAJOR,
                                                ROCARRAY_VERSION_MINOR, ROCARRAY_VERSION_PATCH));
  app.require_subcommand(0, 1);
  add_measuring_options(app, options);
  std::vector<std::pair<CLI::App*, command_kind>> commands;
  auto const add_command = [&](char const* name, char const* description, command_kind command) {
    commands.emplace_back(app.add_subcommand(name, description), command);
    return commands.back().first;
  };
  for (measuring_command const& definition : measuring_commands) {
    CLI::App* const command =
        add_command(definition.name, definition.description, definition.command);
    add_case_argument(*command, options);
    add_measuring_options(*command, options);
    command->footer(footer);
  }
  add_case_argument(*add_command("list", "Lists cases", command_kind::list), options);
  add_command("info", "Prints the device, its physical limits and the host", command_kind::info)
      ->add_option("--device", options.device, "Ordinal of the device")
      ->check(CLI::NonNegativeNumber);
  add_compare_options(
      *add_command("compare", "Compares two runs; returns exit code 3 if a case became slower",
                   command_kind::compare),
      options.comparing);
  add_report_options(
      *add_command("report", "Draws a run, or the changes between two, as HTML or SVG",
                   command_kind::report),
      options.reporting);
  try {
    app.parse(argc, argv);
  } catch (CLI::ExtrasError const&) {
    return report_unknown_argument(app);
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? exit_code::ok : exit_code::usage;
  }
  if (options.pitch == 0) options.pitch = options.row + options.row / 8;
  if (options.pitch < options.row) {
    return fail(exit_code::usage,
                fmt::format("pitch {} is less than row {}; use --pitch {} or more", options.pitch,
                            options.row, options.row));
  }
  for (auto const& [subcommand, command] : commands) {
    if (subcommand->parsed()) options.command = command;
  }
  return options;
}

}  // namespace rocbench

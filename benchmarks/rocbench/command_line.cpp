// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <roc/config.hpp>

#include "format.hpp"

namespace rocbench {
namespace {

constexpr std::size_t help_columns = 80;

constexpr char const* footer =
    "Cases are selected by name or glob; * also matches slashes:\n"
    "  rocbench run 'h2d/*' '*pinned'\n"
    "Exit codes:\n"
    "  0    success\n"
    "  1    wrong usage, or a call failed\n"
    "  2    wrong data\n"
    "  3    slower than before or below a threshold (compare), a fault (doctor)\n"
    "  4    noisy, with --strict\n"
    "  5    no device, or no matching case\n"
    "  77   all cases were skipped\n"
    "  130  interrupted\n";

// Prints help within help_columns: names and values of options without the names of C++ types and
// validators.
class help_formatter final : public CLI::Formatter {
 public:
  std::string make_description(CLI::App const* app) const override {
    return app->get_description().empty()
               ? ""
               : wrapped(app->get_description(), help_columns, 0, 0) + "\n";
  }
  std::string make_option(CLI::Option const* option, bool is_positional) const override {
    std::string const type = option->get_type_name();
    std::string const value = type.substr(0, type.find(':'));
    std::string name = option->get_name(is_positional, true);
    name = name.substr(0, name.find('{'));
    std::size_t const comma = name.find(',');
    if (comma != std::string::npos) name.insert(comma + 1, " ");
    if (!value.empty() && !is_positional) name += " " + value;
    std::string const standard = option->get_default_str();
    return line(name, option->get_description() +
                          (standard.empty() ? "" : fmt::format(". Default: {}", standard)));
  }
  std::string make_subcommand(CLI::App const* command) const override {
    return line(command->get_name(), command->get_description());
  }

 private:
  static std::string line(std::string const& name, std::string const& description) {
    constexpr std::size_t indent = 22;
    return fmt::format("  {:<{}}", name, indent - 2) +
           (name.size() + 4 > indent ? "\n" + std::string(indent, ' ') : "") +
           wrapped(description, help_columns, indent, indent) + "\n";
  }
};

// Returns a transformation of sizes such as "64M" to a number of bytes.
CLI::Validator size_validator() {
  auto const transform = [](std::string& text) -> std::string {
    static std::regex const form("([0-9]+)(b|([kmgtpe])(i?b)?)?", std::regex::icase);
    std::smatch parts;
    std::uint64_t number = 0;
    constexpr std::size_t max_characters = 64;  // std::regex recurses for each character
    bool fits = text.size() <= max_characters && std::regex_match(text, parts, form) &&
                std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
    if (fits && parts[3].matched) {
      auto const power = 1 + std::string_view("kmgtpe").find(CLI::detail::to_lower(parts[3]));
      fits = !__builtin_mul_overflow(number, std::uint64_t{1} << 10 * power, &number);
    }
    if (!fits || number == 0) {
      return fmt::format(
          "'{}' is not a size from 1 byte to 16 EiB; use a number such as 4096, 64K or 1G", text);
    }
    text = fmt::format("{}", number);
    return "";
  };
  return {transform, ""};
}

// Returns a check of numbers from `low` to `high`, which NaN and infinity fail.
CLI::Validator number_validator(double low, double high) {
  auto const check = [=](std::string const& text) -> std::string {
    double number = 0;
    bool const is_number = CLI::detail::lexical_cast(text, number);
    if (is_number && number >= low && number <= high) return "";
    return fmt::format("{} is not a number from {:g} to {:g}", text, low, high);
  };
  return {check, ""};
}

// Returns a transformation of names to the values of an enumeration, the first to 1.
CLI::Validator choice_validator(std::vector<std::string> const& names) {
  auto const transform = [names](std::string& text) -> std::string {
    auto const position = std::ranges::find(names, text);
    if (position == names.end())
      return fmt::format("{} is not one of {}", text, fmt::join(names, ", "));
    text = std::to_string(position - names.begin() + 1);
    return "";
  };
  return {transform, ""};
}

constexpr double max_seconds = 1e6;
constexpr int max_device = 65535;

// Adds an option with a value, which the help text shows as `value`.
template <class T>
CLI::Option* add_value(CLI::App& app, char const* names, char const* value, T& variable,
                       char const* text) {
  return app.add_option(names, variable, text)->type_name(value);
}

void add_device_option(CLI::App& app, command_line& options) {
  add_value(app, "--device", "N", options.device, "Ordinal of the device")
      ->check(CLI::Range(0, max_device).description(""))
      ->capture_default_str();
}

void add_measuring_options(CLI::App& app, command_line& options) {
  add_value(app, "--size", "BYTES", options.sizes,
            "Bytes per copy, or several sizes separated by commas; K, M and G are powers of 1024. "
            "Default of run: 256M on a GPU, 64M on the host, at most a quarter of the free device "
            "memory, and small sizes for the cases of small calls; the other commands use several "
            "sizes")
      ->delimiter(',')
      ->transform(size_validator());
  add_value(app, "--row", "BYTES", options.row,
            "Bytes per row of the strided cases and per copy of the batch cases")
      ->transform(size_validator())
      ->capture_default_str();
  add_value(app, "--pitch", "BYTES", options.pitch,
            "Bytes from one row to the next. Default: 9/8 of the row")
      ->transform(size_validator());
  add_value(app, "--element", "BYTES", options.element,
            "Bytes per element, 1 to 16, of the permute, reverse and box cases")
      ->check(CLI::Range(1, static_cast<int>(max_element_bytes)).description(""))
      ->capture_default_str();
  add_value(app, "--min-time", "SECONDS", options.min_time,
            "Minimal seconds per case. Default: 0.2 (sweep 0.1, check 0)")
      ->check(number_validator(0, max_seconds));
  add_value(
      app, "--max-time", "SECONDS", options.max_time,
      "Maximal seconds per case; a case is noisy if its samples still disagree then. Default: "
      "0.65 (sweep 0.5, latency and alloc 1, check 0); without this option, run measures "
      "cases whose median is not precise to 1 % in up to 8 extra rounds of 0.3 seconds, "
      "within half a minute in total")
      ->check(number_validator(0, max_seconds));
  add_value(app, "--rounds", "N", options.rounds,
            "Rounds that divide this time: cases take turns, so that a temporary slowdown of the "
            "machine affects all of them. Default: 2 (check 1)")
      ->check(CLI::Range(1, 1000).description(""));
  add_value(app, "--json", "FILE", options.json,
            "Writes the results to this file, in an extension of Google Benchmark's format; - is "
            "standard output, and moves the table to standard error");
  add_value(app, "--csv", "FILE", options.csv, "Writes the results to this file as CSV");
  app.add_flag("--strict", options.strict, "Returns exit code 4 if a case is noisy");
  add_device_option(app, options);
  add_value(app, "--like", "TOOL", options.like,
            "Measures as another tool does, for comparison with its figures: nvbandwidth (512 MiB, "
            "4 warm-up copies, 16 copies between two events, median of 3), babelstream (arrays of "
            "2^28 doubles, or the largest power of two that fits; 100 synchronized executions, the "
            "shortest time without the first)")
      ->transform(choice_validator({"nvbandwidth", "babelstream"}));
  app.add_flag("--inject{data}", options.inject,
               "Corrupts one byte before each verification, which must fail (exit code 2). "
               "--inject=gap corrupts a byte between rows; =before and =after one of the guard "
               "bands. Cases without such a byte are skipped")
      ->transform(choice_validator({"data", "gap", "before", "after"}));
}

void add_case_argument(CLI::App& app, command_line& options) {
  app.add_option("case", options.cases,
                 "Names of cases, with * and ?. Default: the command's own selection");
}

void add_compare_options(CLI::App& app, compare_options& options) {
  app.footer(
      "A case is faster or slower if the whole range of its change is beyond the\n"
      "tolerance, the same if the range is within it, and unclear otherwise. The range\n"
      "follows from the 95 % confidence intervals of the medians. For a case that is\n"
      "noisy in either run, it also covers the spread of the samples: the case is\n"
      "faster or slower only if each median is outside the other run's 5th to 95th\n"
      "percentile. The last line is the verdict. Its first word is the worst finding:\n"
      "wrong (data), below (a threshold), slower, faster, same, or unclear if no case\n"
      "has a verdict.");
  app.add_option("before", options.before, "Result file of the earlier run, from --json")
      ->required();
  app.add_option("after", options.after, "Result file of the later run")->required();
  add_value(app, "--tolerance", "PERCENT", options.tolerance,
            "Change in percent that counts as the same")
      ->check(number_validator(0, 100))
      ->capture_default_str();
  add_value(
      app, "--thresholds", "FILE", options.thresholds,
      "File of minimal rates, one per line: a case or glob, a number, and GB/s, % of limit or "
      "% of before; # starts a comment");
}

void add_report_options(CLI::App& app, report_options& options) {
  app.add_option("results", options.results, "Result file of a run, from --json")->required();
  app.add_option("later", options.later,
                 "Result file of a later run, which is shown with its changes since the first");
  add_value(
      app, "-o,--output", "FILE", options.output,
      "File to write: a picture of one run's efficiency bars if the name ends with .svg, else "
      "HTML; - is standard output")
      ->required();
}

// In the order of command_kind.
constexpr struct {
  char const* name;
  char const* description;
} commands[] = {
    {"run", "Measures cases and prints a table"},
    {"sweep", "Measures cases at many sizes"},
    {"latency", "Measures the time of small synchronized copies"},
    {"alloc", "Measures the time of allocation and deallocation"},
    {"check", "Runs every case once, at unaligned sizes, and verifies the data"},
    {"list", "Lists cases; * marks those that run measures by default"},
    {"info", "Prints the device, its physical limits and the host"},
    {"doctor", "Finds what slows copies down on this machine, and says how to mend it"},
    {"compare", "Compares two runs; returns exit code 3 if a case became slower"},
    {"report", "Draws a run, or the changes between two, as HTML or SVG"},
};

void add_options(CLI::App& app, command_kind command, command_line& options) {
  app.footer("");
  switch (command) {
    case command_kind::list: return add_case_argument(app, options);
    case command_kind::info:
    case command_kind::doctor: return add_device_option(app, options);
    case command_kind::compare: return add_compare_options(app, options.comparing);
    case command_kind::report: return add_report_options(app, options.reporting);
    default:
      add_case_argument(app, options);
      add_measuring_options(app, options);
      app.footer(footer);
  }
}

// Reports the first argument that the parser did not recognize. Precondition: there is one.
exit_code report_unknown_argument(CLI::App const& app) {
  auto const given = app.get_subcommands();
  CLI::App const& active = given.empty() ? app : *given.front();
  std::string const argument = app.remaining(true).front();
  bool const is_option = argument.starts_with('-');
  std::vector<std::string> names;
  if (is_option) {
    for (CLI::Option const* const option : active.get_options()) {
      for (std::string const& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else if (given.empty()) {
    for (auto const& command : commands) names.push_back(command.name);
  }
  std::string const nearest = nearest_name(argument.substr(0, argument.find('=')), names);
  char const* const kind = is_option       ? "unknown option"
                           : given.empty() ? "unknown command"
                                           : "unexpected argument";
  std::string const help =
      given.empty() ? "rocbench --help" : "rocbench " + active.get_name() + " --help";
  return fail(exit_code::usage,
              nearest.empty()
                  ? fmt::format("{} '{}'; see `{}`", kind, argument, help)
                  : fmt::format("{} '{}'; did you mean '{}'?", kind, argument, nearest));
}

// Completes options that depend on others. Returns an error message, empty if they are valid.
std::string complete(command_line& options) {
  if (options.pitch == 0 && __builtin_add_overflow(options.row, options.row / 8, &options.pitch))
    return fmt::format("--row {} is more than a row can have; use a smaller size", options.row);
  if (options.pitch < options.row) {
    return fmt::format("pitch {} is less than row {}; use --pitch {} or more", options.pitch,
                       options.row, options.row);
  }
  if (!options.json.empty() && options.json == options.csv) {
    return fmt::format("--json and --csv both write to {}; name two files",
                       options.json == "-" ? "standard output (-)" : options.json);
  }
  return "";
}

// Returns the number of insertions, deletions, substitutions and swaps of adjacent characters that
// turn `first` into `second` (optimal string alignment).
std::size_t edit_distance(std::string_view first, std::string_view second) {
  // distances[i][j] is that of the first i and the first j characters.
  std::vector distances(first.size() + 1, std::vector<std::size_t>(second.size() + 1));
  for (std::size_t i = 0; i <= first.size(); ++i) {
    for (std::size_t j = 0; j <= second.size(); ++j) {
      std::size_t& distance = distances[i][j] = std::max(i, j);
      if (i == 0 || j == 0) continue;
      distance = std::min({distances[i - 1][j] + 1, distances[i][j - 1] + 1,
                           distances[i - 1][j - 1] + (first[i - 1] == second[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && first[i - 1] == second[j - 2] && first[i - 2] == second[j - 1])
        distance = std::min(distance, distances[i - 2][j - 2] + 1);
    }
  }
  return distances.back().back();
}

measuring_plan defaults_of(command_line const& options, std::uint64_t largest,
                           std::uint64_t largest_array) {
  constexpr std::uint64_t kibi = 1024;
  constexpr std::uint64_t mebi = 1024 * kibi;
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
    // If all 47 cases are noisy, this takes half a minute including preparation. The remaining time
    // is spent on noisy cases in short rounds, which see more of a machine's drift than one long
    // round.
    default:
      return {{},
              {largest},
              {.min_time = 0.2, .max_time = 0.5, .rounds = 2, .extra = {{0.3, 8, 27}}},
              true};
  }
}

}  // namespace

std::string nearest_name(std::string_view name, std::vector<std::string> const& candidates) {
  std::string nearest;
  std::size_t smallest = std::string_view::npos;
  for (std::string const& candidate : candidates) {
    std::size_t const distance = edit_distance(name, candidate);
    std::size_t const allowed = std::max(name.size(), candidate.size()) / 3;
    if (distance > allowed || distance >= smallest) continue;
    smallest = distance;
    nearest = candidate;
  }
  return nearest;
}

std::variant<command_line, exit_code> parse_command_line(int argc, char const* const* argv) {
  command_line options;
  CLI::App app(
      "Measures memory transfers of a GPU, by rocarray and by HIP's own calls, and verifies every "
      "byte. The default command is run.",
      "rocbench");
  app.formatter(std::make_shared<help_formatter>());
  app.set_version_flag("--version", fmt::format("rocbench {}.{}.{}", ROCARRAY_VERSION_MAJOR,
                                                ROCARRAY_VERSION_MINOR, ROCARRAY_VERSION_PATCH));
  app.require_subcommand(0, 1);
  app.footer(footer);
  add_measuring_options(app, options);
  for (std::size_t i = 0; i < std::size(commands); ++i) {
    auto const kind = static_cast<command_kind>(i);
    CLI::App* const command = app.add_subcommand(commands[i].name, commands[i].description);
    command->callback([&options, kind] { options.command = kind; });
    add_options(*command, kind, options);
  }
  try {
    app.parse(argc, argv);
  } catch (CLI::ExtrasError const&) {
    return report_unknown_argument(app);
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() != 0) return fail(exit_code::usage, e.what());
    app.exit(e);
    return exit_code::ok;
  }
  std::string const error = complete(options);
  if (!error.empty()) return fail(exit_code::usage, error);
  return options;
}

std::vector<std::uint64_t> measuring_plan::sizes_of(benchmark_case const& benchmark) const {
  if (!prefers_usual_sizes || benchmark.usual_bytes == 0 || sizes.empty()) return sizes;
  return {std::min<std::uint64_t>(benchmark.usual_bytes, std::ranges::max(sizes))};
}

measuring_plan make_plan(command_line const& options, std::uint64_t largest,
                         std::uint64_t largest_array) {
  measuring_plan plan = defaults_of(options, largest, largest_array);
  if (options.like == like_tool::none)
    std::erase_if(plan.sizes, [&](std::uint64_t bytes) { return bytes > largest; });
  if (!options.cases.empty()) plan.globs = options.cases;
  if (!options.sizes.empty()) {
    plan.sizes = options.sizes;
    plan.prefers_usual_sizes = false;
  }
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

}  // namespace rocbench

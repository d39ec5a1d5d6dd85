// SPDX-License-Identifier: MIT
#include "result_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "format.hpp"

namespace rocbench {
namespace {

constexpr std::string_view raw_prefix = "raw/";

// Returns the name of a result, with its size if the run has several sizes.
std::string name_in(benchmark_run const& run, case_result const& result) {
  bool const has_one_size = std::ranges::all_of(run.results, [&](case_result const& other) {
    return other.bytes == run.results.front().bytes;
  });
  return has_one_size ? result.name : describe(result);
}

struct compared_pair {
  std::string name;
  double ratio;
};

// Returns all results that have a raw counterpart, the slowest compared with it first.
std::vector<compared_pair> ratios_of(benchmark_run const& run) {
  std::vector<compared_pair> result;
  for (case_pair const& pair : pair_cases(run)) {
    for (case_result const* library : pair.library) {
      if (auto const* raw = pair.counterpart(*library))
        result.push_back({name_in(run, *library), ratio_to(*library, *raw)});
    }
  }
  std::ranges::stable_sort(result, {}, &compared_pair::ratio);
  return result;
}

constexpr std::size_t wide = 120;
// Names take as many columns as the longest one. With more, the table would not fit in 80 columns.
constexpr std::size_t min_name_width = 23;
constexpr std::size_t max_name_width = 31;
constexpr char const* red = "31";
constexpr char const* green = "32";
constexpr char const* yellow = "33";
constexpr char const* bold = "1";

constexpr char const* pair_explanation =
    "Rates are GB/s (1e9 bytes) of payload; within the device, of bytes read plus\n"
    "written. Times have a unit. Ratio: speed relative to HIP, above 1 is faster.";
constexpr char const* loop_explanation =
    "As in BabelStream: each execution is synchronized, the first is ignored, the\n"
    "rate is that of the shortest time. MBytes = 1e6 bytes, read plus written.";

void print_limit(std::FILE* file, char const* name, rate_limit const& limit) {
  fmt::print(file, "  {:<15} {:>7} {}  {}\n", name,
             limit.rate ? format_rate(*limit.rate) : "unknown", limit.rate ? "GB/s" : "    ",
             limit.origin);
}

void print_not_measured(std::FILE* file, case_result const& result,
                        std::size_t name_width = min_name_width) {
  fmt::print(file, "{:<{}} {:>9} {}: {}\n", result.name, name_width, format_size(result.bytes),
             result.status == outcome::skipped ? "skipped" : "FAILED", result.reason);
}

}  // namespace

case_result const* case_pair::counterpart(case_result const& result) const {
  auto const match = std::ranges::lower_bound(raw, result.bytes, {}, &case_result::bytes);
  bool const found = !library.empty() && match != raw.end() && (*match)->bytes == result.bytes;
  return found ? *match : nullptr;
}

std::vector<case_result const*> case_pair::both() const {
  std::vector<case_result const*> results = library;
  results.insert(results.end(), raw.begin(), raw.end());
  return results;
}

std::string base_name(std::string const& name) {
  return name.starts_with(raw_prefix) ? name.substr(raw_prefix.size()) : name;
}

std::vector<case_pair> pair_cases(benchmark_run const& run) {
  std::vector<case_pair> result;
  std::map<std::string, std::size_t> indexes;
  for (case_result const& entry : run.results) {
    if (entry.status != outcome::measured || entry.measured.mismatch) continue;
    std::string const name = base_name(entry.name);
    auto const [position, is_new] = indexes.try_emplace(name, result.size());
    if (is_new) result.push_back({name, {}, {}});
    case_pair& pair = result[position->second];
    (entry.name == name ? pair.library : pair.raw).push_back(&entry);
  }
  for (case_pair& pair : result) {
    std::ranges::stable_sort(pair.library, {}, &case_result::bytes);
    std::ranges::stable_sort(pair.raw, {}, &case_result::bytes);
  }
  return result;
}

std::size_t device_matrix::count() const {
  return cells.size() - static_cast<std::size_t>(std::ranges::count(cells, nullptr));
}

double device_matrix::relative_speed(case_result const& cell) const {
  auto const speed = [](case_result const& result) {
    return result.counted == accounting::time ? 1 / result.measured.reported_seconds()
                                              : result.measured.reported_rate();
  };
  double fastest = 0;
  for (case_result const* other : cells) {
    if (other != nullptr) fastest = std::max(fastest, speed(*other));
  }
  return speed(cell) / fastest;
}

std::string device_matrix::title() const {
  auto const measured =
      std::ranges::find_if(cells, [](auto const* cell) { return cell != nullptr; });
  bool const is_time = measured != cells.end() && (*measured)->counted == accounting::time;
  return fmt::format("{}, {}, {}", name, format_size(bytes), is_time ? "time" : "GB/s");
}

std::vector<device_matrix> device_matrices(benchmark_run const& run) {
  std::vector<device_matrix> matrices;
  std::vector<std::vector<case_result const*>> members;
  for (case_result const& result : run.results) {
    bool const is_right = result.status == outcome::measured && !result.measured.mismatch;
    if (!result.devices || !is_right) continue;
    std::string name = result.name;
    std::string const pair = fmt::format("{}-{}/", result.devices->from, result.devices->to);
    if (auto const begin = name.find(pair); begin != std::string::npos)
      name.erase(begin, pair.size());
    auto matrix = std::ranges::find_if(matrices, [&](device_matrix const& candidate) {
      return candidate.name == name && candidate.bytes == result.bytes;
    });
    if (matrix == matrices.end()) {
      matrix = matrices.insert(matrices.end(), {name, result.bytes});
      members.emplace_back();
    }
    members[static_cast<std::size_t>(matrix - matrices.begin())].push_back(&result);
    for (int const device : {result.devices->from, result.devices->to}) {
      if (std::ranges::find(matrix->devices, device) == matrix->devices.end())
        matrix->devices.push_back(device);
    }
  }
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    device_matrix& matrix = matrices[i];
    std::ranges::sort(matrix.devices);
    std::size_t const size = matrix.devices.size();
    matrix.cells.resize(size * size);
    auto const position = [&](int device) {
      return static_cast<std::size_t>(std::ranges::lower_bound(matrix.devices, device) -
                                      matrix.devices.begin());
    };
    for (case_result const* member : members[i]) {
      std::size_t const from = position(member->devices->from);
      std::size_t const to = position(member->devices->to);
      matrix.cells[from * size + to] = member;
      if (member->devices->both_ways) matrix.cells[to * size + from] = member;
    }
  }
  return matrices;
}

double ratio_to(case_result const& library, case_result const& raw) {
  return library.counted == accounting::time
             ? raw.measured.reported_seconds() / library.measured.reported_seconds()
             : library.measured.reported_rate() / raw.measured.reported_rate();
}

std::string describe(case_result const& result) {
  return result.name + " at " + format_size(result.bytes);
}

std::string format_value(case_result const& result) {
  return result.counted == accounting::time ? format_time(result.measured.reported_seconds())
                                            : format_rate(result.measured.reported_rate());
}

std::string format_spread(case_result const& result) {
  summary const& rate = result.measured.rate;
  summary const& seconds = result.measured.seconds;
  return result.counted == accounting::time
             ? format_time(seconds.p5) + " to " + format_time(seconds.p95)
             : format_rate(rate.p5) + " to " + format_rate(rate.p95);
}

std::string device_warning(run_environment const& environment) {
  if (environment.is_fake_runtime)
    return "Measured with the fake HIP runtime on the CPU: these figures are meaningless.";
  return environment.on_gpu ? "" : "Measured on the CPU: these are not figures of a GPU.";
}

std::vector<finding> find_in(benchmark_run const& run) {
  std::vector<finding> findings;
  auto const add = [&](finding_kind kind, std::string const& title,
                       std::vector<std::string> const& names, std::size_t total,
                       char const* explanation = "") {
    if (names.empty()) return;
    findings.push_back({kind, fmt::format("{}: {} of {}{} ({})", title, names.size(), total,
                                          explanation, join_names(names))});
  };
  auto const names_if = [&](auto const& is_member) {
    std::vector<std::string> names;
    for (case_result const& result : run.results) {
      if (is_member(result)) names.push_back(name_in(run, result));
    }
    return names;
  };
  auto const names_with_status = [&](outcome status) {
    return names_if([&](case_result const& result) { return result.status == status; });
  };
  std::size_t const measured = names_with_status(outcome::measured).size();
  add(finding_kind::bad, "Wrong data",
      names_if([](case_result const& result) { return result.measured.mismatch.has_value(); }),
      measured);
  if (findings.empty() && measured != 0)
    findings.push_back({finding_kind::good, fmt::format("Data right: {0} of {0}", measured)});
  auto const ratios = ratios_of(run);
  std::vector<std::string> slower;
  for (compared_pair const& entry : ratios) {
    if (entry.ratio < slower_ratio) slower.push_back(entry.name);
  }
  if (!ratios.empty()) {
    // If the number of ratios is even, the median is the lower of the two in the middle.
    findings.front().text +=
        fmt::format("; speed relative to HIP: median {:.2f}, worst {:.2f} ({}), best {:.2f} ({})",
                    ratios[(ratios.size() - 1) / 2].ratio, ratios.front().ratio,
                    ratios.front().name, ratios.back().ratio, ratios.back().name);
  }
  add(finding_kind::notice, fmt::format("Below {} of HIP's speed", slower_ratio), slower,
      ratios.size());
  add(finding_kind::notice, "Above the physical limit",
      names_if([](case_result const& result) { return result.efficiency().value_or(0) > 1; }),
      measured, ", so the limit is not theirs");
  add(finding_kind::notice, "Noisy",
      names_if([](case_result const& result) { return result.measured.noisy; }), measured,
      ", with a median that is not known to 0.5 %");
  add(finding_kind::notice, "Skipped", names_with_status(outcome::skipped), run.results.size());
  add(finding_kind::bad, "Failed", names_with_status(outcome::failed), run.results.size());
  return findings;
}

terminal terminal::of(std::FILE* file) {
  terminal result;
  int const descriptor = fileno(file);
  bool const is_terminal = isatty(descriptor) == 1;
  winsize window{};
  char const* const columns = std::getenv("COLUMNS");
  if (columns != nullptr && std::atoi(columns) > 0)
    result.columns = static_cast<std::size_t>(std::atoi(columns));
  else if (is_terminal && ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col != 0)
    result.columns = window.ws_col;
  char const* const no_color = std::getenv("NO_COLOR");
  char const* const type = std::getenv("TERM");
  bool const is_dumb = type == nullptr || std::string_view(type) == "dumb";
  result.has_color = is_terminal && !is_dumb && (no_color == nullptr || *no_color == '\0');
  return result;
}

void print_environment(std::FILE* file, run_environment const& environment,
                       machine_limits const& limits) {
  fmt::print(file, "rocbench {}, platform {}, driver {}, runtime {}\n", environment.version,
             environment.platform, environment.driver_version, environment.runtime_version);
  fmt::print(file, "Device {}: {} ({})\n", environment.ordinal, environment.device_name,
             environment.pci_bus_id);
  if (auto const warning = device_warning(environment); !warning.empty())
    fmt::print(file, "{}\n", warning);
  fmt::print(file, "Physical limits:\n");
  if (environment.on_gpu) {
    print_limit(file, "link, one way", limits.link);
    print_limit(file, "device memory", limits.device_memory);
  } else {
    print_limit(file, "host memory", limits.host_copy);
  }
  std::fflush(file);
}

void print_facts(std::FILE* file, run_environment const& environment) {
  fmt::print(file, "Machine {}:\n", environment.host_name);
  for (auto const* facts : {&environment.facts, &environment.state}) {
    for (fact const& property : *facts)
      fmt::print(file, "  {:<26} {}\n", property.name, property.value);
  }
  std::fflush(file);
}

result_table::result_table(std::FILE* file, std::vector<benchmark_case> const& planned,
                           terminal shown_on)
    : file_(file), terminal_(shown_on) {
  name_width_ = min_name_width;
  for (benchmark_case const& entry : planned) {
    planned_.push_back(entry.name);
    name_width_ = std::max(name_width_, base_name(entry.name).size());
  }
  name_width_ = std::min(name_width_, max_name_width);
}

std::string result_table::colored(std::string const& text, char const* color) const {
  return terminal_.has_color ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : text;
}

void result_table::print_headings(char const* explanation, std::string const& columns) {
  if (explanation_ == explanation) return;
  explanation_ = explanation;
  fmt::print(file_, "\n{}\n{}\n", explanation, colored(columns, bold));
}

std::string result_table::cells_of_pair(case_result const* library, case_result const* raw) const {
  case_result const& shown = library != nullptr ? *library : *raw;
  std::string ratio_cell = fmt::format("{:>6}", "");
  if (library != nullptr && raw != nullptr) {
    double const ratio = ratio_to(*library, *raw);
    ratio_cell = fmt::format("{:>6.2f}", ratio);
    if (ratio < slower_ratio) ratio_cell = colored(ratio_cell, red);
    if (ratio > 1 / slower_ratio) ratio_cell = colored(ratio_cell, green);
  }
  auto const efficiency = shown.efficiency();
  std::string limit_cell = fmt::format("{:>10}", efficiency ? format_fraction(*efficiency)
                                                 : shown.counted == accounting::time ? ""
                                                                                     : "unknown");
  if (efficiency && *efficiency > 1) limit_cell = colored(limit_cell, yellow);
  std::string row =
      fmt::format("{:<{}} {:>9} {:>9} {:>9} {} {}", base_name(shown.name), name_width_,
                  format_size(shown.bytes), library != nullptr ? format_value(*library) : "",
                  raw != nullptr ? format_value(*raw) : "", ratio_cell, limit_cell);
  if (terminal_.columns >= wide) {
    row += fmt::format("  {:>22} {:>8}  {}", format_spread(shown),
                       shown.physical_limit.rate ? format_rate(*shown.physical_limit.rate) : "",
                       shown.path);
  }
  return row;
}

// Precondition: one of the results is not null.
void result_table::print_pair(case_result const* library, case_result const* raw) {
  for (case_result const** result : {&library, &raw}) {
    if (*result == nullptr || (*result)->status == outcome::measured) continue;
    print_not_measured(file_, **result, name_width_);
    *result = nullptr;
  }
  if (library == nullptr && raw == nullptr) return;
  bool const is_wide = terminal_.columns >= wide;
  print_headings(pair_explanation,
                 fmt::format("{:<{}} {:>9} {:>9} {:>9} {:>6} {:>10}", "case", name_width_, "size",
                             "rocarray", "HIP", "ratio", "of limit") +
                     (is_wide ? fmt::format("  {:>22} {:>8}  path", "5 to 95 %", "limit") : ""));
  auto const is_wrong = [](case_result const* result) {
    return result != nullptr && result->measured.mismatch;
  };
  fmt::print(file_, "{}{}\n", cells_of_pair(library, raw),
             is_wrong(library) || is_wrong(raw) ? colored("  WRONG", red) : "");
}

void result_table::print_row(case_result const& result) {
  if (result.measured.loop) {
    loop_times const& loop = *result.measured.loop;
    print_headings(loop_explanation,
                   fmt::format("{:<20} {:>13} {:>9} {:>9} {:>9} {:>8}  {}", "Function",
                               "MBytes/sec", "Min (sec)", "Max", "Average", "size", "right"));
    fmt::print(file_, "{:<20} {:>13.3f} {:>9.7f} {:>9.7f} {:>9.7f} {:>8}  {}\n", result.name,
               result.measured.loop_rate * 1e-6, loop.min, loop.max, loop.mean,
               format_size(result.bytes), result.measured.mismatch ? colored("NO", red) : "yes");
    std::fflush(file_);
    return;
  }
  std::string const name = base_name(result.name);
  bool const is_raw = name != result.name;
  if (!is_raw && std::ranges::find(planned_, "raw/" + name) != planned_.end()) {
    waiting_.push_back(result);
    return;
  }
  auto const library = std::ranges::find_if(waiting_, [&](case_result const& candidate) {
    return is_raw && candidate.name == name && candidate.bytes == result.bytes;
  });
  bool const waited = library != waiting_.end();
  print_pair(waited ? &*library : is_raw ? nullptr : &result, is_raw ? &result : nullptr);
  if (waited) waiting_.erase(library);
  std::fflush(file_);
}

void result_table::print_matrices(benchmark_run const& run) const {
  constexpr std::size_t label_width = 6;
  constexpr std::size_t cell_width = 9;
  auto const matrices = device_matrices(run);
  if (matrices.empty()) return;
  fmt::print(file_, "\nPairs of devices: row: from, column: to.\n");
  std::size_t const columns = std::max(
      (terminal_.columns - std::min(terminal_.columns, label_width)) / cell_width, std::size_t{1});
  for (device_matrix const& matrix : matrices) {
    std::size_t const size = matrix.devices.size();
    fmt::print(file_, "\n{}\n", colored(matrix.title(), bold));
    for (std::size_t begin = 0; begin < size; begin += columns) {
      std::size_t const end = std::min(begin + columns, size);
      std::string headings(label_width, ' ');
      for (std::size_t to = begin; to < end; ++to)
        headings += fmt::format("{:>{}}", matrix.devices[to], cell_width);
      fmt::print(file_, "{}\n", headings);
      for (std::size_t from = 0; from < size; ++from) {
        std::string row = fmt::format("{:>{}}", matrix.devices[from], label_width);
        for (std::size_t to = begin; to < end; ++to) {
          case_result const* const cell = matrix.at(from, to);
          row += fmt::format("{:>{}}", cell != nullptr ? format_value(*cell) : "-", cell_width);
        }
        fmt::print(file_, "{}\n", row);
      }
    }
  }
}

void result_table::print_device_rates(benchmark_run const& run) const {
  bool is_first = true;
  for (case_result const& result : run.results) {
    if (result.status != outcome::measured || result.measured.devices.empty()) continue;
    if (std::exchange(is_first, false)) fmt::print(file_, "\nGB/s of each device:\n");
    std::string text;
    for (device_rate const& rate : result.measured.devices)
      text += fmt::format(" {}: {}", rate.device, format_rate(rate.rate));
    fmt::print(file_, "{:<29} {:>9}  {}\n", result.name, format_size(result.bytes),
               wrapped(text, terminal_.columns, 41, 41));
  }
}

void result_table::print_bus_bandwidths(benchmark_run const& run) const {
  bool is_first = true;
  for (case_result const& result : run.results) {
    auto const bandwidth = result.bus_bandwidth();
    if (!bandwidth) continue;
    if (std::exchange(is_first, false)) {
      fmt::print(file_, "\n{:<37} {:>9} {:>10} {:>10} {:>10}\n", "Collective operations, GB/s",
                 "size", "algorithm", "bus", "time");
    }
    fmt::print(file_, "{:<37} {:>9} {:>10} {:>10} {:>10}\n", result.name, format_size(result.bytes),
               format_rate(result.measured.reported_rate()), format_rate(*bandwidth),
               format_time(result.measured.reported_seconds()));
  }
}

void result_table::finish(benchmark_run const& run) {
  for (case_result const& result : waiting_) print_pair(&result, nullptr);
  waiting_.clear();
  print_matrices(run);
  print_device_rates(run);
  print_bus_bandwidths(run);
  fmt::print(file_, "\n");
  for (finding const& entry : find_in(run)) {
    char const* const color = entry.kind == finding_kind::good  ? green
                              : entry.kind == finding_kind::bad ? red
                                                                : yellow;
    std::string const text = wrapped(entry.text, terminal_.columns, 0, 2);
    std::size_t const title_end = text.find(':');
    fmt::print(file_, "{}{}\n", colored(text.substr(0, title_end), color), text.substr(title_end));
  }
  std::fflush(file_);
}

void print_check_result(std::FILE* file, case_result const& result) {
  if (result.status != outcome::measured) {
    print_not_measured(file, result);
  } else {
    fmt::print(file, "{:<27} {:>9} B  {:<16} {}\n", result.name, result.bytes, result.path,
               result.measured.mismatch ? "WRONG DATA" : "correct");
  }
  std::fflush(file);
}

}  // namespace rocbench

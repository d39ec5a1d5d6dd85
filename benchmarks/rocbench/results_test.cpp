// SPDX-License-Identifier: MIT
// What is made of results: files, tables, findings, comparisons and reports.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "comparison.hpp"
#include "example_run.hpp"
#include "format.hpp"
#include "report.hpp"
#include "result_file.hpp"
#include "result_table.hpp"

namespace rocbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Returns the times of BabelStream for a case of 1 MiB.
case_result with_loop(case_result result) {
  result.measured.loop = {1e-3, 4e-3, 2e-3};
  result.measured.loop_rate = 48e9;
  return result;
}

// Expects that the text contains each part, or none of them.
void expect_parts(std::string const& text, std::vector<std::string> const& parts,
                  bool contained = true) {
  for (std::string const& part : parts)
    EXPECT_EQ(text.find(part) != std::string::npos, contained) << part << "\n" << text;
}

// ---- Result files ----

TEST(ResultFile, HasGoogleBenchmarksFields) {
  json const document = json::parse(to_json(example_run()));
  json const& context = document["context"];
  EXPECT_EQ(context["date"], "2026-01-02T03:04:05+00:00");
  EXPECT_EQ(context["json_schema_version"], 1);
  EXPECT_TRUE(context["cpu_scaling_enabled"].is_boolean());
  for (char const* key : {"num_cpus", "mhz_per_cpu"})
    EXPECT_TRUE(context[key].is_number_integer()) << key;
  for (char const* key : {"caches", "load_avg"}) EXPECT_TRUE(context[key].is_array()) << key;
  for (char const* key : {"host_name", "executable", "library_build_type"})
    EXPECT_TRUE(context[key].is_string()) << key;
  json benchmark = document["benchmarks"][0];
  json const own = benchmark["rocbench"];
  benchmark.erase("rocbench");
  EXPECT_EQ(benchmark, json::parse(R"({"name": "h2d/pinned/1048576", "family_index": 0,
    "per_family_instance_index": 0, "run_name": "h2d/pinned/1048576", "run_type": "iteration",
    "repetitions": 1, "repetition_index": 0, "threads": 1, "iterations": 60,
    "real_time": 32768.0, "cpu_time": 2000.0, "time_unit": "ns", "bytes_per_second": 32e9,
    "label": "dma"})"));
  EXPECT_EQ(own["name"], "h2d/pinned");
  EXPECT_EQ(own["physical_limit"], json({{"rate", 64e9}, {"origin", "PCIe 5.0 x16"}}));
  EXPECT_EQ(own["verified"], true);
  EXPECT_DOUBLE_EQ(own["efficiency"], 0.5);
  for (std::size_t i = 1; i < 4; ++i) {  // wrong data, skipped, failed
    EXPECT_EQ(document["benchmarks"][i]["error_occurred"], true);
    EXPECT_TRUE(document["benchmarks"][i]["error_message"].is_string());
    EXPECT_EQ(document["benchmarks"][i]["rocbench"]["verified"], false);
  }
}

TEST(ResultFile, SizesOfCaseFormFamily) {
  json const benchmarks =
      json::parse(to_json(run_of({example_result("a", 1, 1), example_result("a", 2, 1),
                                  example_result("b", 1, 1)})))["benchmarks"];
  EXPECT_EQ(benchmarks[1]["family_index"], 0);
  EXPECT_EQ(benchmarks[1]["per_family_instance_index"], 1);
  EXPECT_EQ(benchmarks[2]["family_index"], 1);
}

TEST(ResultFile, RoundTrips) {
  benchmark_run run = example_run();
  run.results.push_back(with_loop(example_result("stream/copy", 8, 2e9)));
  run.results[4].measured.seconds.median_interval = {-infinity, infinity};
  run.environment.device_name = "GPU \xff \uFFFF";  // not valid UTF-8, and not valid in XML
  run.results[2].reason = "ends the line\nand clears \x1b[2J the screen";
  benchmark_run const read = parse_run(to_json(run), "x.json");
  EXPECT_EQ(read.environment.device_name, "GPU \uFFFD ?");
  EXPECT_EQ(read.results.at(2).reason, "ends the line?and clears ?[2J the screen");
  EXPECT_EQ(read.results.at(4).measured.seconds.median_interval.high, infinity);
  run.results[2].reason = read.results[2].reason;
  run.results[3].reason = read.results[3].reason;
  run.environment.device_name = read.environment.device_name;
  json const first = json::parse(to_json(run));
  json const second = json::parse(to_json(read));
  EXPECT_EQ(first["benchmarks"], second["benchmarks"]);
  EXPECT_EQ(first["context"]["rocbench"], second["context"]["rocbench"]);
}

// Returns the error without file name and advice.
std::string error_of(std::string const& text) {
  constexpr std::string_view advice =
      "; use a file that this version of rocbench --json wrote completely";
  try {
    parse_run(text, "x.json");
    return "";
  } catch (file_error const& e) {
    std::string const message = e.what();
    EXPECT_TRUE(message.starts_with("x.json: ") && message.ends_with(advice)) << message;
    return message.substr(8, message.rfind(';') - 8);
  }
}

TEST(ParseRun, RefusesTruncatedAndOtherFiles) {
  std::string const complete = to_json(example_run());
  EXPECT_EQ(error_of(complete), "");
  std::vector<std::string> texts{std::string(5 * mebi, '['), "nonsense"};
  for (std::size_t length = 0; length + 3 < complete.size(); length += 499)
    texts.push_back(complete.substr(0, length));
  for (std::string const& text : texts)
    EXPECT_TRUE(error_of(text).starts_with("parse error at line "));
  EXPECT_EQ(error_of("{}"), "key 'context' not found");
  EXPECT_EQ(error_of("[]"), "cannot use at() with array");
  EXPECT_EQ(error_of(R"({"context": {"date": "x"}, "benchmarks": []})"),
            "(/context) key 'rocbench' not found");
}

TEST(ParseRun, NamesPlaceOfWrongValue) {
  struct {
    char const* place;
    json value;
    char const* message;
  } const rows[] = {
      {"/context/rocbench/schema", 1, "context/rocbench/schema is 1, but only 2 can be read"},
      {"/context/rocbench/schema", 3, "context/rocbench/schema is 3, but only 2 can be read"},
      {"/context/rocbench/ordinal", "one",
       "(/context/rocbench/ordinal) type must be number, but is string"},
      {"/context/rocbench/ordinal", 2147483648,
       "ordinal is 2147483648, not an integer from -2147483648 to 2147483647"},
      {"/benchmarks/0/rocbench/bytes", -1e308,
       "bytes is -1e+308, not an integer from 0 to 18446744073709551615"},
      {"/benchmarks/0/rocbench/measured/rate/count", -1,
       "count is -1, not an integer from 0 to 18446744073709551615"},
      {"/benchmarks/0/rocbench/measured/noisy", 7,
       "(/benchmarks/0/rocbench/measured/noisy) type must be boolean, but is number"},
      {"/benchmarks/0/rocbench/measured/rate/median", 0,
       "the median of h2d/pinned is 0, not above zero"},
      {"/benchmarks/0/rocbench/measured/seconds/p5", 0,
       "the 5th percentile of h2d/pinned is 0, not above zero"},
      {"/benchmarks/0/rocbench/measured/seconds/p95", -1,
       "the 95th percentile of h2d/pinned is -1, not above zero"},
      {"/benchmarks/0/rocbench/status", "fine",
       "status of h2d/pinned is \"fine\", which is unknown"},
      {"/benchmarks/0/rocbench/counted", 3, "counted of h2d/pinned is 3, which is unknown"},
  };
  for (auto const& row : rows) {
    json document = json::parse(to_json(example_run()));
    document[json::json_pointer(row.place)] = row.value;
    EXPECT_EQ(error_of(document.dump()), row.message);
  }
}

TEST(Csv, HasFieldPerColumnAndQuotes) {
  benchmark_run run = example_run();
  run.results.push_back(with_loop(example_result("stream/copy", mebi, 2e9)));
  std::string const text = to_csv(run);
  EXPECT_TRUE(text.starts_with("case,bytes,counted,path,median_rate,"));
  expect_parts(text, {"\r\nh2d/pinned,1048576,payload,dma,32000000000,",
                      ",64000000000,PCIe 5.0 x16,yes,\r\n", ",0.001,0.004,0.002,48000000000,",
                      ",skipped,\"no \"\"managed\"\" memory,\nhere\"\r\n"});
  std::string const names = text.substr(0, text.find("\r\n"));
  std::string const fields = text.substr(names.size() + 2, text.find("\r\nd2d") - names.size() - 2);
  EXPECT_EQ(std::ranges::count(names, ','), std::ranges::count(fields, ','));
}

TEST(Files, AreReplacedAsAWhole) {
  fs::path const directory = fs::temp_directory_path() / ("rocbench_" + std::to_string(getpid()));
  fs::path const file = directory / "x.json";
  fs::create_directory(directory);
  write_file(file, "old");
  check_writable(file);
  EXPECT_EQ(read_file(file), "old");
  write_file(file, "new");
  EXPECT_EQ(read_file(file), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 1);
  fs::remove_all(directory);
}

TEST(Files, ThrowIfUnusable) {
  for (char const* path : {"/nonexistent/x.json", "/", "/dev/zero"})
    EXPECT_THROW(read_file(path), file_error) << path;
  for (char const* path : {"/", "/nonexistent/x.json", "/proc/x.json"}) {
    EXPECT_THROW(check_writable(path), file_error) << path;
    EXPECT_THROW(write_file(path, ""), file_error) << path;
  }
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  check_writable("/dev/full");
  EXPECT_THROW(write_file("/dev/full", "text"), file_error);
}

TEST(Files, CheckLeavesReaderOfPipeWaiting) {
  fs::path const pipe = fs::temp_directory_path() / ("rocbench_pipe_" + std::to_string(getpid()));
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  int const reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  check_writable(pipe);
  pollfd state{reader, POLLIN, 0};
  EXPECT_EQ(poll(&state, 1, 0), 0);  // it would report the end of a writer
  close(reader);
  fs::remove(pipe);
}

// ---- Tables and findings ----

benchmark_run run_with_pairs() {
  benchmark_run run = run_of(
      {example_result("h2d/pinned", 4096, 20e9), example_result("h2d/pinned", mebi, 32e9),
       example_result("raw/h2d/pinned", 4096, 40e9), example_result("raw/h2d/pinned", mebi, 30e9),
       example_result("fill/byte", mebi, 96e9)});
  run.results[4].measured.noisy = true;
  return run;
}

// Returns what the table prints for the run.
std::string table_of(benchmark_run const& run, terminal shown_on = {}) {
  case_vector planned;
  for (case_result const& result : run.results)
    planned.push_back({result.name, "", accounting::payload, limiting_resource::link, true});
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const file = open_memstream(&text, &size);
  result_table table(file, planned, shown_on);
  for (case_result const& result : run.results) table.print_row(result);
  table.finish(run);
  std::fclose(file);
  std::string result(text, size);
  std::free(text);
  return result;
}

TEST(ResultTable, PrintsLibraryAndHipInOneLine) {
  std::string const text = table_of(run_with_pairs());
  expect_parts(text,
               {"\nh2d/pinned                  4 KiB     20.00     40.00   0.50       "
                "31 %\nh2d/pinned                  1 MiB     32.00     30.00   1.07",
                "\nfill/byte                   1 MiB     96.00                     150 % !\n"});
  expect_parts(text, {"\nraw/", "\x1b"}, false);
  expect_parts(table_of(run_with_pairs(), {.columns = 80, .has_color = true}),
               {"\x1b[31m  0.50\x1b[0m", "\x1b[32m  1.07\x1b[0m"});
}

TEST(ResultTable, FitsIn80Columns) {
  benchmark_run run = run_with_pairs();
  for (case_result const& result : example_run().results) run.results.push_back(result);
  run.results.back().reason = "short";
  std::istringstream lines(table_of(run));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 82u) << line;
  expect_parts(table_of(run, {.columns = 120}), {"31.87 to 32.13"});
}

TEST(ResultTable, PrintsResultWhoseCounterpartIsMissing) {
  std::string const library = "\nh2d/pinned                  4 KiB     20.00";
  benchmark_run run = run_of({example_result("h2d/pinned", 4096, 20e9)});
  expect_parts(table_of(run), {library});
  run.results.push_back({.name = "raw/h2d/pinned", .bytes = 4096, .status = outcome::skipped});
  run.results[1].reason = "no such call";
  expect_parts(table_of(run),
               {library, "raw/h2d/pinned              4 KiB skipped: no such call\n"});
}

// ---- Several devices ----

case_result between(int from, int to, double rate, bool both_ways = false) {
  case_result result = example_result(
      fmt::format("peer/{}-{}/{}copy", from, to, both_ways ? "both/" : ""), mebi, rate);
  result.physical_limit = {std::nullopt, "not measured"};
  result.devices = device_pair{from, to, both_ways};
  return result;
}

// Returns the copies between devices 0, 1 and 10, without those from device 10, and both ways
// between two of them; a case of all devices; and one of a collective operation.
benchmark_run run_with_devices() {
  case_result all = example_result("all/h2d/pinned", mebi, 60e9);
  all.measured.devices = {{0, 20e9}, {1, 40e9}};
  case_result collective = example_result("collective/all_reduce", mebi, 100e9);
  collective.bus_factor = 1.5;
  case_result wrong = between(10, 0, 400e9);
  wrong.measured.mismatch = "a wrong byte";
  return run_of({between(0, 1, 100e9), between(0, 10, 50e9), between(1, 0, 200e9),
                 between(1, 10, 25e9), wrong, between(0, 10, 30e9, true), all, collective});
}

TEST(DeviceMatrices, HaveCellForEachPair) {
  benchmark_run const run = run_with_devices();
  auto const matrices = device_matrices(run);
  ASSERT_EQ(matrices.size(), 2u);
  device_matrix const& one_way = matrices[0];
  EXPECT_EQ(one_way.title(), "peer/copy, 1 MiB, GB/s");
  EXPECT_EQ(one_way.devices, (std::vector{0, 1, 10}));
  EXPECT_EQ(one_way.at(0, 2), &run.results[1]);
  EXPECT_EQ(one_way.at(1, 0), &run.results[2]);
  EXPECT_EQ(one_way.at(2, 0), nullptr);
  EXPECT_EQ(one_way.at(1, 1), nullptr);
  EXPECT_DOUBLE_EQ(one_way.relative_speed(run.results[1]), 0.25);
  EXPECT_EQ(matrices[1].name, "peer/both/copy");
  EXPECT_EQ(matrices[1].at(0, 1), &run.results[5]);
  EXPECT_EQ(matrices[1].at(1, 0), &run.results[5]);
}

TEST(DeviceMatrices, OfTimesAreRelativeToShortest) {
  benchmark_run run = run_of({between(0, 1, 1e9), between(1, 0, 2e9)});
  for (case_result& result : run.results) result.counted = accounting::time;
  device_matrix const matrix = device_matrices(run).at(0);
  EXPECT_EQ(matrix.title(), "peer/copy, 1 MiB, time");
  EXPECT_DOUBLE_EQ(matrix.relative_speed(run.results[0]), 0.5);
  EXPECT_DOUBLE_EQ(matrix.relative_speed(run.results[1]), 1);
}

TEST(ResultTable, PrintsMatricesRatesOfDevicesAndBusBandwidths) {
  expect_parts(table_of(run_with_devices()),
               {"\npeer/copy, 1 MiB, GB/s\n"
                "              0        1       10\n"
                "     0        -    100.0    50.00\n"
                "     1    200.0        -    25.00\n"
                "    10        -        -        -\n",
                "all/h2d/pinned                    1 MiB  0: 20.00 1: 40.00\n",
                "collective/all_reduce                     1 MiB      100.0      150.0 "});
}

TEST(ResultTable, DividesMatrixThatIsWiderThanTerminal) {
  std::vector<case_result> results;
  for (int to = 1; to < 16; ++to) results.push_back(between(0, to, to * 1e9));
  std::string const text = table_of(run_of(results));
  expect_parts(text,
               {"        7\n     0        -     1.00", "       15\n     0     8.00     9.00"});
  std::istringstream lines(text.substr(text.find("peer/copy, ")));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(ResultFile, KeepsFieldsOfSeveralDevices) {
  benchmark_run const run = run_with_devices();
  json const document = json::parse(to_json(run));
  json const& benchmarks = document["benchmarks"];
  EXPECT_EQ(benchmarks[5]["rocbench"]["devices"],
            json({{"from", 0}, {"to", 10}, {"both_ways", true}}));
  EXPECT_TRUE(benchmarks[6]["rocbench"]["devices"].is_null());
  EXPECT_EQ(benchmarks[6]["rocbench"]["measured"]["devices"],
            json::parse(R"([{"device": 0, "rate": 20e9}, {"device": 1, "rate": 40e9}])"));
  EXPECT_EQ(benchmarks[7]["rocbench"]["bus_bandwidth"], 150e9);
  benchmark_run const read = parse_run(to_json(run), "x.json");
  EXPECT_EQ(json::parse(to_json(read))["benchmarks"], benchmarks);
  EXPECT_EQ(device_matrices(read).size(), 2u);
  expect_parts(to_csv(run), {",0,10,yes,,", ",,,,150000000000,"});
}

TEST(ResultFile, WithoutFieldsOfSeveralDevicesIsRead) {
  json document = json::parse(to_json(run_with_devices()));
  for (json& benchmark : document["benchmarks"]) {
    for (char const* key : {"devices", "bus_factor", "bus_bandwidth"})
      benchmark["rocbench"].erase(key);
    benchmark["rocbench"]["measured"].erase("devices");
  }
  benchmark_run const read = parse_run(document.dump(), "x.json");
  EXPECT_EQ(read.results.size(), 8u);
  EXPECT_TRUE(device_matrices(read).empty());
  EXPECT_FALSE(read.results[7].bus_bandwidth());
}

TEST(ParseRun, RefusesDevicesThatNoMachineHas) {
  for (int const ordinal : {-1, 1000000}) {
    json document = json::parse(to_json(run_with_devices()));
    document["benchmarks"][0]["rocbench"]["devices"]["to"] = ordinal;
    EXPECT_THROW(parse_run(document.dump(), "x.json"), file_error) << ordinal;
  }
}

TEST(Compare, MatchesPairsOfDevices) {
  benchmark_run const before = run_with_devices();
  benchmark_run after = before;
  after.results[2].measured = example_result("", mebi, 100e9).measured;
  comparison const changes = compare(before, after, 0.02);
  EXPECT_EQ(changes.count(change::slower), 1u);
  EXPECT_EQ(changes.count(change::same), 6u);
}

TEST(Report, DrawsMatricesInsteadOfRowsForPairs) {
  std::string const page = html_report(run_with_devices());
  expect_parts(
      page, {"<h2>Pairs of devices</h2>", "<h3>peer/copy, 1 MiB, GB/s</h3>",
             R"(<td style="background:#101c54;color:#fff" title="peer/1-0/copy, )", R"(<td>–</td>)",
             "<td>0: 20.00, 1: 40.00</td>", R"(<td class="number">150.0</td>)"});
  expect_parts(page, {R"(<div class="name">peer/0-1/copy)"}, false);
}

// The text of a cell has a contrast of at least 4.5 to its color, as WCAG asks for.
TEST(Report, ColorsOfMatrixAreLegibleAndGetDarker) {
  double previous = 2;
  std::vector<case_result> results;
  for (int to = 1; to <= 100; ++to) results.push_back(between(0, to, to * 1e9));
  std::string const page = html_report(run_of(results));
  std::regex const cell(
      R"re(background:#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2});color:#(000|fff)" title)re");
  std::size_t cells = 0;
  for (auto match = std::sregex_iterator(page.begin(), page.end(), cell);
       match != std::sregex_iterator(); ++match, ++cells) {
    auto const linear = [&](int group) {
      double const value = std::stoi((*match)[group], nullptr, 16) / 255.0;
      return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    double const luminance = 0.2126 * linear(1) + 0.7152 * linear(2) + 0.0722 * linear(3);
    EXPECT_LT(luminance, previous);
    previous = luminance;
    double const contrast =
        (*match)[4] == "000" ? (luminance + 0.05) / 0.05 : 1.05 / (luminance + 0.05);
    EXPECT_GE(contrast, 4.5) << match->str();
  }
  EXPECT_EQ(cells, 100u);
}

TEST(Terminal, HasColorAndWidthOfWindowUnlessVariablesDiffer) {
  int const controller = posix_openpt(O_RDWR | O_NOCTTY);
  if (controller < 0) GTEST_SKIP() << "no pseudo terminals";
  ASSERT_EQ(grantpt(controller), 0);
  ASSERT_EQ(unlockpt(controller), 0);
  winsize window{};
  window.ws_col = 132;
  ioctl(controller, TIOCSWINSZ, &window);
  struct {
    char const* file;
    char const* type;
    char const* no_color;
    char const* columns;
    terminal expected;
  } const rows[] = {{ptsname(controller), "xterm", "", "", {132, true}},
                    {ptsname(controller), "xterm", "", "100", {100, true}},
                    {ptsname(controller), "xterm", "1", "", {132, false}},
                    {ptsname(controller), "dumb", "", "", {132, false}},
                    {"/dev/null", "xterm", "", "", {80, false}}};
  for (auto const& row : rows) {
    setenv("TERM", row.type, 1);
    setenv("NO_COLOR", row.no_color, 1);
    setenv("COLUMNS", row.columns, 1);
    std::FILE* const file = std::fopen(row.file, "w");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(terminal::of(file).has_color, row.expected.has_color);
    EXPECT_EQ(terminal::of(file).columns, row.expected.columns);
    std::fclose(file);
  }
  close(controller);
}

std::vector<std::string> texts_of(std::vector<finding> const& findings) {
  std::vector<std::string> texts;
  for (finding const& entry : findings) texts.push_back(entry.text);
  return texts;
}

TEST(Findings, NameWorstAndBestRatioThenEachProblemOnce) {
  EXPECT_EQ(texts_of(find_in(run_with_pairs())),
            (std::vector<std::string>{
                "Data right: 5 of 5; speed relative to HIP: median 0.50, worst 0.50 (h2d/pinned at "
                "4 KiB), best 1.07 (h2d/pinned at 1 MiB)",
                "Below 0.97 of HIP's speed: 1 of 2 (h2d/pinned at 4 KiB)",
                "Above the physical limit: 1 of 5, so the limit is not theirs (fill/byte at 1 MiB)",
                "Noisy: 1 of 5, with a median that is not known to 0.5 % (fill/byte at 1 MiB)"}));
  EXPECT_TRUE(find_in(benchmark_run{}).empty());
}

TEST(Findings, NameSizesIfAnyDiffers) {
  benchmark_run run = run_of({example_result("h2d/pinned", mebi, 20e9),
                              example_result("h2d/pinned", 2 * mebi, 32e9),
                              example_result("h2d/pinned", mebi, 20e9)});
  run.results[1].measured.noisy = true;
  EXPECT_EQ(find_in(run).at(1).text,
            "Noisy: 1 of 3, with a median that is not known to 0.5 % (h2d/pinned at 2 MiB)");
}

TEST(Findings, StartWithWrongData) {
  std::vector<finding> const findings = find_in(example_run());
  EXPECT_EQ(findings.at(0).kind, finding_kind::bad);
  EXPECT_EQ(findings.at(0).text, "Wrong data: 1 of 2 (d2d/copy at 1 MiB)");
  EXPECT_EQ(findings.at(1).text, "Skipped: 1 of 4 (managed/fault at 4 KiB)");
}

TEST(Findings, RatioOfTimesIsThatOfSpeeds) {
  case_result library = example_result("latency/a", 4, 1e6);
  case_result raw = example_result("raw/latency/a", 4, 2e6);
  EXPECT_DOUBLE_EQ(ratio_to(library, raw), 0.5);
  library.counted = raw.counted = accounting::time;
  EXPECT_DOUBLE_EQ(ratio_to(library, raw), 0.5);
}

TEST(PairCases, PairsLibraryWithRawAndSortsSizes) {
  benchmark_run const run = run_of({example_result("raw/a", 8, 1), example_result("a", 16, 1),
                                    example_result("a", 8, 1), example_result("raw/b", 8, 1)});
  auto const pairs = pair_cases(run);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].name, "a");
  ASSERT_EQ(pairs[0].library.size(), 2u);
  EXPECT_EQ(pairs[0].library[0]->bytes, 8u);
  EXPECT_EQ(pairs[0].counterpart(*pairs[0].library[0]), &run.results[0]);
  EXPECT_EQ(pairs[0].counterpart(*pairs[0].library[1]), nullptr);
  EXPECT_EQ(pairs[1].shown().at(0), &run.results[3]);
}

TEST(Format, ChoosesUnitsAndDigitsByMagnitude) {
  EXPECT_EQ(format_size(17), "17 B");
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  EXPECT_EQ(format_size(1ull << 50), "1 PiB");
  EXPECT_EQ(format_size(15ull << 60), "15 EiB");
  EXPECT_EQ(format_rate(55.44e9), "55.44");
  EXPECT_EQ(format_rate(4087.06e9), "4087.1");
  EXPECT_EQ(format_rate(12.3e6), "0.0123");
  EXPECT_EQ(format_time(4.5e-9), "4.50 ns");
  EXPECT_EQ(format_time(12.34e-6), "12.3 µs");
  EXPECT_EQ(format_time(4567), "4567 s");
  EXPECT_EQ(format_fraction(0.876), "88 %");
  EXPECT_EQ(format_fraction(1.04), "104 % !");
  EXPECT_EQ(join_names({"a", "b"}), "a, b");
  EXPECT_EQ(join_names({"a", "b", "c", "d", "e", "f"}), "a, b, c, d, e and 1 more");
}

// ---- Comparisons ----

// A case with its rates in GB/s before and after.
struct rates {
  char const* name;
  double before;
  double after;
  double width = 0.002;
};

// Compares two runs of the example's machine. The result is valid until the next call.
comparison compare_results(std::vector<case_result> const& before,
                           std::vector<case_result> const& after, int driver_after = 13010) {
  static benchmark_run runs[2];
  runs[0] = run_of(before);
  runs[1] = run_of(after);
  runs[1].environment.driver_version = driver_after;
  return compare(runs[0], runs[1], 0.02);
}

comparison compare_rates(std::vector<rates> const& cases, int driver_after = 13010) {
  std::vector<case_result> before;
  std::vector<case_result> after;
  for (rates const& entry : cases) {
    before.push_back(example_result(entry.name, mebi, entry.before * 1e9, entry.width));
    after.push_back(example_result(entry.name, mebi, entry.after * 1e9, entry.width));
  }
  return compare_results(before, after, driver_after);
}

TEST(Compare, VerdictFollowsFromIntervals) {
  struct {
    rates measured;
    change verdict;
  } const rows[] = {
      {{"x", 50, 50}, change::same},
      {{"x", 50, 50.5}, change::same},   // a real change, but within the tolerance
      {{"x", 50, 51}, change::unclear},  // the range contains the tolerance
      {{"x", 50, 52}, change::faster},
      {{"x", 50, 49}, change::unclear},
      {{"x", 50, 48}, change::slower},
      {{"x", 50, 48, 0.1}, change::unclear},  // noise
      {{"x", 50, 50, 0.1}, change::unclear},
  };
  for (auto const& [measured, verdict] : rows)
    EXPECT_EQ(compare_rates({measured}).cases.at(0).verdict, verdict) << measured.after;
  compared_case const changes = compare_rates({{"x", 50, 60, 0.01}}).cases.at(0);
  EXPECT_DOUBLE_EQ(changes.speed, 1.2);
  EXPECT_DOUBLE_EQ(changes.range.low, 1.2 * 0.99 / 1.01);
  EXPECT_DOUBLE_EQ(changes.range.high, 1.2 * 1.01 / 0.99);
}

compared_case compare_times(summary const& before, bool before_is_noisy, summary const& after,
                            bool after_is_noisy) {
  case_result results[2] = {example_result("x", 256 * mebi, 50e9),
                            example_result("x", 256 * mebi, 50e9)};
  results[0].measured.seconds = before;
  results[0].measured.noisy = before_is_noisy;
  results[1].measured.seconds = after;
  results[1].measured.noisy = after_is_noisy;
  return compare_results({results[0]}, {results[1]}).cases.at(0);
}

// If one run is noisy, each median must be outside the other run's spread.
TEST(Compare, VerdictOfNoisyRunsFollowsFromSpreads) {
  // Two identical runs on an H100, in ms.
  summary const pinned{20, 5.4283, 4.9218, 5.7797, {5.1713, 5.6059}};
  summary const pinned_again{20, 4.9867, 4.9343, 5.6069, {4.9480, 5.0272}};
  summary const pageable{20, 18.417, 17.413, 22.421, {17.895, 21.162}};
  summary const pageable_again{20, 22.245, 20.016, 30.399, {21.797, 23.081}};
  // `wide` is outside the spread of `steady`, whose median is within the spread of `wide`. `beyond`
  // and `steady` are each outside the other's spread. The samples of `spread` are spread, its
  // interval is not. `few` has too few samples for an interval.
  summary const steady{20, 10, 9.9, 10.1, {9.95, 10.05}};
  summary const wide{20, 12, 9, 13, {11.5, 12.5}};
  summary const beyond{20, 12, 11, 13, {11.5, 12.5}};
  summary const spread{20, 10, 9, 11, {9.99, 10.01}};
  summary const few{20, 20, 19, 21, {-infinity, infinity}};
  auto const reversed = [](change verdict) {
    return verdict == change::slower   ? change::faster
           : verdict == change::faster ? change::slower
                                       : verdict;
  };
  struct {
    summary before, after;
    change if_noisy, if_steady;
  } const rows[] = {
      {pinned, pinned_again, change::unclear, change::faster},
      {pageable, pageable_again, change::unclear, change::slower},
      {steady, wide, change::unclear, change::slower},
      {steady, beyond, change::slower, change::slower},
      {spread, spread, change::same, change::same},
      {few, steady, change::unclear, change::unclear},
      {few, few, change::unclear, change::unclear},
  };
  for (auto const& [before, after, if_noisy, if_steady] : rows) {
    for (auto const& [before_is_noisy, after_is_noisy] :
         {std::pair(true, true), std::pair(false, true), std::pair(true, false),
          std::pair(false, false)}) {
      change const expected = before_is_noisy || after_is_noisy ? if_noisy : if_steady;
      EXPECT_EQ(compare_times(before, before_is_noisy, after, after_is_noisy).verdict, expected);
      EXPECT_EQ(compare_times(after, after_is_noisy, before, before_is_noisy).verdict,
                reversed(expected));
    }
  }
  interval const range = compare_times(pinned, true, pinned_again, true).range;
  EXPECT_DOUBLE_EQ(range.low, pinned.median / pinned_again.p95);
  EXPECT_DOUBLE_EQ(range.high, pinned.p95 / pinned_again.median);
  EXPECT_DOUBLE_EQ(compare_times(spread, true, spread, true).range.high, 10.01 / 9.99);
}

TEST(Compare, MatchesCasesByNameAndSize) {
  comparison const changes =
      compare_results({example_result("x", 4096, 1e9)}, {example_result("x", 8192, 1e9)});
  EXPECT_TRUE(changes.cases.empty());
  EXPECT_EQ(changes.only_before.at(0), "x at 4 KiB");
  EXPECT_EQ(changes.only_after.at(0), "x at 8 KiB");
}

// Comparing versions of rocbench is intended.
TEST(Compare, WarnsOfDifferentSystemsAndWrongOrder) {
  struct {
    void (*modify)(run_environment&);
    bool same_system;
    std::vector<std::string> warnings;
  } const rows[] = {
      {[](run_environment&) {}, true, {}},
      {[](run_environment& after) { after.driver_version = 13020; },
       false,
       {"different driver: 13010 before, 13020 now"}},
      {[](run_environment& after) { after.device_name = "Other GPU"; },
       false,
       {"different device: Example GPU before, Other GPU now"}},
      {[](run_environment& after) { after.version = "0.2.0"; },
       true,
       {"different rocbench: 0.1.0 before, 0.2.0 now"}},
      {[](run_environment& after) { after.facts.at(0).value = "Other CPU"; },
       true,
       {"different CPU: Example CPU before, Other CPU now"}},
      {[](run_environment& after) { after.date = "2026-01-02T03:04:04+00:00"; },
       true,
       {"the first file is the later run: 2026-01-02T03:04:05+00:00, the second is of "
        "2026-01-02T03:04:04+00:00; exchange the files"}},
  };
  for (auto const& row : rows) {
    benchmark_run const before = example_run();
    benchmark_run after = before;
    row.modify(after.environment);
    comparison const changes = compare(before, after, 0.02);
    EXPECT_EQ(changes.same_system, row.same_system);
    EXPECT_EQ(changes.warnings, row.warnings);
  }
}

// Comparing each of 60 000 results with all others would take a minute.
TEST(Compare, TakesLessThanSecondsForManyResults) {
  std::vector<case_result> results;
  for (std::size_t bytes = 1; bytes <= 60'000; ++bytes)
    results.push_back(example_result("h2d/pinned", bytes, 50e9));
  auto const begin = std::chrono::steady_clock::now();
  EXPECT_EQ(compare_results(results, results).count(change::same), results.size());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(VerdictLine, StartsWithWorstFinding) {
  struct {
    std::vector<rates> cases;
    char const* expected;
    std::size_t below = 0;
    int driver_after = 13010;
  } const rows[] = {
      {{{"a", 50, 50}, {"b", 50, 50.2}}, "same: nothing is slower or faster"},
      {{{"a", 50, 60}, {"b", 50, 50}}, "faster: 1 of 2 (a)"},
      {{{"a", 50, 60}, {"b", 50, 40}, {"c", 50, 40}}, "slower: 2 of 3 (b, c); faster: 1 of 3 (a)"},
      {{{"a", 50, 40}}, "below 2 thresholds; slower: 1 of 1 (a)", 2},
      {{{"a", 50, 50}}, "below 1 threshold", 1},
      {{{"a", 50, 50}, {"b", 50, 50, 0.1}},
       "same: nothing is slower or faster; 1 of 2 too noisy or too close to 2 % for a verdict"},
      {{{"a", 50, 40}, {"b", 50, 50, 0.1}},
       "slower: 1 of 2 (a); 1 of 2 too noisy or too close to 2 % for a verdict"},
      {{{"b", 50, 50, 0.1}}, "unclear: 1 of 1 too noisy or too close to 2 % for a verdict"},
      {{{"a", 50, 40}}, "slower, on a different device, driver or runtime: 1 of 1 (a)", 0, 13020},
      {{{"a", 50, 50}}, "same: nothing is slower or faster", 0, 13020},
  };
  for (auto const& row : rows)
    EXPECT_EQ(verdict_line(compare_rates(row.cases, row.driver_after), 0.02, row.below),
              row.expected);
}

TEST(VerdictLine, CountsWrongDataAndUnmeasuredCases) {
  benchmark_run both = example_run();  // one is right, one has wrong data, two were not measured
  EXPECT_EQ(verdict_line(compare(both, both, 0.02), 0.02),
            "wrong data: 1 of 4 (d2d/copy at 1 MiB); 2 of 4 not measured");
  both.results.erase(both.results.begin(), both.results.begin() + 2);
  EXPECT_EQ(verdict_line(compare(both, both, 0.02), 0.02), "unclear: 2 of 2 not measured");
}

// The example's h2d/pinned reaches 32 GB/s: 50 % of its limit, and 100 % of before.
TEST(Thresholds, AreComparedInEachUnitIfMeasured) {
  struct {
    std::string text;
    std::vector<std::string> reached;  // if it is below the threshold
    std::size_t unchecked;
  } const rows[] = {
      {"h2d/pinned 31.9 GB/s", {}, 0},
      {"h2d/* 49 % of limit", {}, 0},
      {"h2d/p* 99 % of before", {}, 0},
      {"h2d/pinned 33 GB/s", {"32 GB/s"}, 0},
      {"h2d/* 51 % of limit", {"50 % of limit"}, 0},
      {"h2d/p* 101 % of before", {"100 % of before"}, 0},
      {"nonsense 1 GB/s", {}, 1},
      {"d2d/copy 50 % of limit", {}, 1},  // unknown limit
      {"d2h/pinned 1 GB/s", {}, 1},       // failed case
      {"?2?/pinned 1 GB/s", {}, 1},       // a failed case besides one that reaches it
      {"# a comment\n\n  \n h2d/* 1 GB/s \r\nraw/* 2 % of limit", {}, 1},
  };
  benchmark_run const run = example_run();
  for (auto const& [text, reached, unchecked] : rows) {
    auto const checked = check_thresholds(parse_thresholds(text, "t"), compare(run, run, 0.02));
    EXPECT_EQ(checked.below.size(), reached.size()) << text;
    for (std::string const& rate : reached) {
      EXPECT_EQ(checked.below.at(0),
                "h2d/pinned at 1 MiB reaches only " + rate + "; the threshold is: " + text);
    }
    EXPECT_EQ(checked.unchecked.size(), unchecked) << text;
  }
}

TEST(Thresholds, InLongLinesAreRefused) {
  std::string const text(std::size_t{1} << 20, 'x');
  EXPECT_TRUE(parse_thresholds("#" + text, "file").empty());
  EXPECT_THROW(parse_thresholds(text + " 1 GB/s", "file"), file_error);
}

TEST(Thresholds, InOtherFormAreRefusedWithLocation) {
  for (char const* line : {"h2d", "h2d 5", "h2d five GB/s", "h2d 5 MB/s", "h2d -5 GB/s",
                           "h2d nan GB/s", "h2d 1e999 GB/s", "h2d 1.2.3 GB/s", "h2d 5 GB/s more"}) {
    try {
      parse_thresholds(std::string("# x\n") + line, "file");
      ADD_FAILURE() << line;
    } catch (file_error const& e) {
      EXPECT_TRUE(std::string_view(e.what()).starts_with("file:2: '")) << e.what();
    }
  }
}

// ---- Reports ----

benchmark_run run_with_sizes() {
  benchmark_run result = example_run();
  for (std::size_t bytes = 4096; bytes <= 16 * mebi; bytes *= 16) {
    for (char const* name : {"d2h/pageable", "raw/d2h/pageable"}) {
      result.results.push_back(example_result(name, bytes, 1e9 + 2e3 * static_cast<double>(bytes)));
      if (bytes > 4096) result.results.back().path = "staged";
    }
  }
  result.results.push_back(example_result("latency/h2d/pinned", 4, 1e6));
  result.results.back().counted = accounting::time;
  result.results.back().physical_limit = {};
  return result;
}

benchmark_run run_with_raw() {
  return run_of(
      {example_result("h2d/pinned", mebi, 32e9), example_result("raw/h2d/pinned", mebi, 16e9)});
}

// Checks that elements are closed in the order in which they are nested.
void expect_well_formed(std::string const& document) {
  std::vector<std::string> open;
  std::regex const tag("<(/?)([a-z0-9]+)[^>]*?(/?)>");
  for (std::sregex_iterator position(document.begin(), document.end(), tag), end; position != end;
       ++position) {
    std::string const name = (*position)[2];
    if (name == "meta" || (*position)[3] == "/") continue;
    if ((*position)[1] == "") {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << name;
    ASSERT_EQ(open.back(), name);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST(Report, IsWellFormedWithoutExternalResources) {
  benchmark_run const run = run_with_sizes();
  std::string const picture = svg_report(run);
  EXPECT_TRUE(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="));
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  benchmark_run const with_devices = run_with_devices();
  for (std::string const& page :
       {html_report(run), html_report(run, &run), html_report(with_devices),
        html_report(benchmark_run{}), "<svg " + picture.substr(39)}) {
    expect_well_formed(page.substr(page.find(page[1] == '!' ? "<html" : "<svg")));
    expect_parts(page, {"<script", "http:", "https:", "url(", "@import", "href", "src=", "onload"},
                 false);
    expect_parts(page, {"@media (prefers-color-scheme: dark)"});
  }
  expect_parts(html_report(run), {"width=device-width"});
}

TEST(Report, HasVerdictAndSectionsInOrder) {
  std::string const page = html_report(run_with_sizes());
  std::size_t previous = 0;
  for (char const* part :
       {"<p class=\"verdict bad\">Wrong data: 1 of 11 (d2d/copy at 1 MiB)", ">Efficiency<",
        ">Rate over size<", ">Latency and allocation<", ">All figures<", ">Where it was measured<",
        "Example CPU", "345 MHz before the run, 1980 MHz after it"}) {
    std::size_t const position = page.find(part);
    ASSERT_NE(position, std::string::npos) << part;
    EXPECT_GT(position, previous);
    previous = position;
  }
  expect_parts(page, {">Changes<"}, false);
  expect_parts(page, {"<b>32.00 GB/s, 50 %</b> of 64.00 (PCIe 5.0 x16)",
                      "class=\"library\" x=\"0.0\" y=\"0\" width=\"500.0\"", ">staged</span>",
                      "<polygon class=\"library\"", "GB/s over size; limit 64.00 (PCIe 5.0 x16)",
                      "<b>4.00 µs</b>", "skipped: no &quot;managed&quot; memory"});
}

// Bars beyond the limit are not clipped.
TEST(Report, ShowsPropertiesOfRuns) {
  struct {
    void (*modify)(benchmark_run&);
    std::vector<std::string> in_both;  // the page and the picture
    std::vector<std::string> in_page = {};
  } const rows[] = {
      {[](benchmark_run&) {},
       {"2.00", "HIP 16.00", "class=\"library\" x=\"0.0\" y=\"0\" width=\"500.0\""}},
      {[](benchmark_run& run) { run.results.push_back(example_result("fill/byte", 1, 128e9, 0)); },
       {"class=\"library\" x=\"0.0\" y=\"0\" width=\"1000.0\"",
        "class=\"library\" x=\"0.0\" y=\"0\" width=\"250.0\""},
       {"full width is 200 % of it"}},
      {[](benchmark_run& run) {
         run.results[0] = with_loop(run.results[0]);
         run.results[1].path = "kernel, pointers";
       },
       {"48.00 GB/s, 75 %", "; pointers 16.00"},
       {"48.00 GB/s (shortest time)"}},
      {[](benchmark_run& run) { run.environment.on_gpu = false; },
       {"these are not figures of a GPU"}},
      {[](benchmark_run& run) { run.environment.is_fake_runtime = true; },
       {"these figures are meaningless"}},
  };
  for (auto const& row : rows) {
    benchmark_run run = run_with_raw();
    row.modify(run);
    expect_parts(svg_report(run), row.in_both);
    expect_parts(html_report(run), row.in_both);
    expect_parts(html_report(run), row.in_page);
  }
}

TEST(Report, DrawsNoEmptyBarsAndSaysNoisyOnce) {
  benchmark_run run = run_with_raw();
  run.results.push_back(example_result("fill/float", mebi, 1e9));
  for (case_result& result : run.results) {
    result.physical_limit = {std::nullopt, "not reported"};
    result.measured.noisy = true;
  }
  std::string const page = html_report(run);
  expect_parts(page, {">Efficiency<", "noisy"}, false);
  expect_parts(page, {">Rates without a known limit<"});
  for (std::string const part : {"class=\"track\"", "Noisy: 3 of 3"})  // one row has two bars
    EXPECT_EQ(page.find(part), page.rfind(part)) << part;
  EXPECT_EQ(svg_report(run), "");
  for (case_result& result : run.results) result.counted = accounting::time;
  EXPECT_EQ(svg_report(run), "");
}

TEST(Report, OfTwoRunsStartsWithVerdictOfCompare) {
  benchmark_run const before = run_with_raw();
  benchmark_run after = before;
  after.results[0] = example_result("h2d/pinned", mebi, 16e9);
  after.environment.driver_version = 1;
  after.environment.date = "2026-01-01T00:00:00+00:00";
  expect_parts(
      html_report(after, &before),
      {"<p class=\"verdict bad\">Compared with the earlier run: slower, on a different "
       "device, driver or runtime: 1 of 2 (h2d/pinned)</p>",
       "Warning: different driver: 13010 before, 1 now", "Warning: the first file is the later run",
       "<b>-50.0 %, slower</b>", "<rect class=\"slower\""});
}

// Each median is within the spread of the other run.
TEST(Report, OfTwoNoisyRunsShowsUnclearChange) {
  benchmark_run before = run_of({example_result("h2d/pinned", mebi, 32e9)});
  benchmark_run const after = run_of({example_result("h2d/pinned", mebi, 25.6e9)});
  measurement& measured = before.results[0].measured;
  measured.noisy = true;
  measured.seconds.p95 = after.results[0].measured.seconds.median * 1.05;
  expect_parts(html_report(after, &before),
               {"<rect class=\"unclear\"", "-20.0 %, unclear</b> -20.3 % to +5.0 %"});
}

TEST(Report, EscapesAndShortensTexts) {
  benchmark_run run = run_with_raw();
  run.environment.device_name = "<script>&\"']]>";
  run.results[0].name = "<img src=x>" + std::string(100, 'x');
  for (int i = 0; i < 100; ++i) run.results[0].path += "ö";
  for (std::string const& text : {html_report(run), svg_report(run)}) {
    expect_parts(text, {"&lt;script&gt;&amp;&quot;&#39;]]&gt;"});
    expect_parts(text, {"<script", "<img"}, false);
  }
  expect_parts(svg_report(run), {"ö…</text>"});
}

}  // namespace
}  // namespace rocbench

// SPDX-License-Identifier: MIT
// The fields of result files, which Google Benchmark's compare tool reads, and refused files. Reading
// and writing of files.
#include "result_file.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "example_run.hpp"
#include "files.hpp"

namespace rocbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(ResultFile, HasGoogleBenchmarksFields) {
  json const document = json::parse(to_json(example_run()));
  json const& context = document["context"];
  EXPECT_EQ(context["date"], "2026-01-02T03:04:05+00:00");
  EXPECT_EQ(context["json_schema_version"], 1);
  for (char const* key : {"num_cpus", "mhz_per_cpu"}) {
    EXPECT_TRUE(context[key].is_number_integer()) << key;
  }
  EXPECT_TRUE(context["cpu_scaling_enabled"].is_boolean());
  for (char const* key : {"caches", "load_avg"}) EXPECT_TRUE(context[key].is_array()) << key;
  for (char const* key : {"host_name", "executable", "library_build_type"}) {
    EXPECT_TRUE(context[key].is_string()) << key;
  }
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
  benchmark_run run = example_run();
  run.results = {example_result("a", 1, 1), example_result("a", 2, 1), example_result("b", 1, 1)};
  json const benchmarks = json::parse(to_json(run))["benchmarks"];
  EXPECT_EQ(benchmarks[1]["family_index"], 0);
  EXPECT_EQ(benchmarks[1]["per_family_instance_index"], 1);
  EXPECT_EQ(benchmarks[2]["family_index"], 1);
}

TEST(ResultFile, RoundTrips) {
  double const infinity = std::numeric_limits<double>::infinity();
  benchmark_run run = example_run();
  run.results.push_back(example_result("stream/copy", 8, 2e9));
  run.results[4].measured.loop = {1e-9, 4e-9, 2e-9};
  run.results[4].measured.loop_rate = 8e9;
  run.results[4].measured.seconds.median_interval = {-infinity, infinity};
  run.environment.device_name = "GPU \xff";  // not valid UTF-8
  run.results[2].reason = "ends the line\nand clears \x1b[2J the screen";
  benchmark_run const read = parse_run(to_json(run), "x.json");
  EXPECT_EQ(read.environment.device_name, "GPU \uFFFD");
  EXPECT_EQ(read.results.at(2).reason, "ends the line?and clears ?[2J the screen");
  EXPECT_EQ(read.results.at(4).measured.seconds.median_interval.high, infinity);
  run.results[2].reason = read.results[2].reason;
  run.results[3].reason = read.results[3].reason;
  json const first = json::parse(to_json(run));
  json const second = json::parse(to_json(read));
  EXPECT_EQ(first["benchmarks"], second["benchmarks"]);
  EXPECT_EQ(first["context"]["rocbench"], second["context"]["rocbench"]);
}

// Returns the error without file name and advice.
std::string error_of(std::string const& text) {
  try {
    parse_run(text, "x.json");
    return "";
  } catch (file_error const& e) {
    std::string const message = e.what();
    EXPECT_TRUE(message.starts_with("x.json: ")) << message;
    EXPECT_TRUE(
        message.ends_with("; use a file that this version of rocbench --json wrote "
                          "completely"))
        << message;
    return message.substr(8, message.rfind(';') - 8);
  }
}

TEST(ParseRun, RefusesTruncatedAndOtherFiles) {
  std::string const complete = to_json(example_run());
  EXPECT_EQ(error_of(complete), "");
  for (std::size_t length = 0; length + 3 < complete.size(); length += 499) {
    EXPECT_TRUE(error_of(complete.substr(0, length)).starts_with("parse error at line "));
  }
  for (std::string const& text :
       {std::string(std::size_t{5} << 20, '['), std::string("nonsense")}) {
    EXPECT_TRUE(error_of(text).starts_with("parse error at line "));
  }
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
      {"/benchmarks/0/rocbench/measured/noisy", 7,
       "(/benchmarks/0/rocbench/measured/noisy) type must be boolean, but is number"},
      {"/benchmarks/0/rocbench/measured/rate/median", 0,
       "the median of h2d/pinned is 0, not above zero"},
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
  run.results.push_back(example_result("stream/copy", 1 << 20, 2e9));
  run.results.back().measured.loop = {1e-3, 4e-3, 2e-3};
  run.results.back().measured.loop_rate = 3e9;
  std::string const text = to_csv(run);
  EXPECT_TRUE(text.starts_with("case,bytes,counted,path,median_rate,"));
  for (char const* part :
       {"\r\nh2d/pinned,1048576,payload,dma,32000000000,", ",64000000000,PCIe 5.0 x16,yes,\r\n",
        ",0.001,0.004,0.002,3000000000,", ",skipped,\"no \"\"managed\"\" memory,\nhere\"\r\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
  std::string const names = text.substr(0, text.find("\r\n"));
  std::string const fields = text.substr(names.size() + 2, text.find("\r\nd2d") - names.size() - 2);
  EXPECT_EQ(std::ranges::count(names, ','), std::ranges::count(fields, ','));
}

TEST(WriteFile, ReplacesFileAsAWhole) {
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

TEST(WriteFile, ThrowsIfNotWritable) {
  for (char const* path : {"/", "/nonexistent/x.json", "/proc/x.json"}) {
    EXPECT_THROW(check_writable(path), file_error) << path;
    EXPECT_THROW(write_file(path, ""), file_error) << path;
  }
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  check_writable("/dev/full");
  EXPECT_THROW(write_file("/dev/full", "text"), file_error);
}

TEST(ReadFile, ThrowsIfUnreadableOrEndless) {
  for (char const* path : {"/nonexistent/x.json", "/", "/dev/zero"}) {
    EXPECT_THROW(read_file(path), file_error) << path;
  }
}

}  // namespace
}  // namespace rocbench

// SPDX-License-Identifier: MIT
// The fields of result files, which Google Benchmark's compare tool reads, and of CSV files.
#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "csv_writer.hpp"
#include "example_run.hpp"
#include "json_reader.hpp"
#include "json_writer.hpp"

namespace rocbench {
namespace {

using nlohmann::json;

json example_json() { return json::parse(to_json(example_run())); }

TEST(Json, ContextHasGoogleBenchmarksFields) {
  json const context = example_json()["context"];
  EXPECT_EQ(context["date"], "2026-01-02T03:04:05+00:00");
  EXPECT_EQ(context["host_name"], "machine");
  EXPECT_TRUE(context["executable"].is_string());
  EXPECT_TRUE(context["num_cpus"].is_number_integer());
  EXPECT_TRUE(context["mhz_per_cpu"].is_number_integer());
  EXPECT_TRUE(context["cpu_scaling_enabled"].is_boolean());
  EXPECT_TRUE(context["caches"].is_array());
  for (json const& cache : context["caches"]) {
    EXPECT_TRUE(cache["type"].is_string());
    for (char const* key : {"level", "size", "num_sharing"}) {
      EXPECT_TRUE(cache[key].is_number_integer()) << key;
    }
  }
  EXPECT_TRUE(context["load_avg"].is_array());
  EXPECT_TRUE(context["library_build_type"] == "release" ||
              context["library_build_type"] == "debug");
  EXPECT_EQ(context["json_schema_version"], 1);
}

TEST(Json, BenchmarksHaveGoogleBenchmarksFields) {
  json const benchmark = example_json()["benchmarks"][0];
  EXPECT_EQ(benchmark["name"], "h2d/pinned/1048576");
  EXPECT_EQ(benchmark["run_name"], "h2d/pinned/1048576");
  EXPECT_EQ(benchmark["run_type"], "iteration");
  EXPECT_EQ(benchmark["family_index"], 0);
  EXPECT_EQ(benchmark["per_family_instance_index"], 0);
  EXPECT_EQ(benchmark["repetitions"], 1);
  EXPECT_EQ(benchmark["repetition_index"], 0);
  EXPECT_EQ(benchmark["threads"], 1);
  EXPECT_EQ(benchmark["iterations"], 60);
  EXPECT_EQ(benchmark["time_unit"], "ns");
  EXPECT_EQ(benchmark["label"], "dma");
  ASSERT_TRUE(benchmark["real_time"].is_number_float());
  EXPECT_DOUBLE_EQ(benchmark["real_time"], (1 << 20) / 32.0);
  ASSERT_TRUE(benchmark["cpu_time"].is_number_float());
  EXPECT_DOUBLE_EQ(benchmark["cpu_time"], 2000);
  ASSERT_TRUE(benchmark["bytes_per_second"].is_number_float());
  EXPECT_DOUBLE_EQ(benchmark["bytes_per_second"], 32e9);
  EXPECT_FALSE(benchmark.contains("error_occurred"));
}

TEST(Json, ExtensionFieldsHaveTheirTypes) {
  json const extension = example_json()["benchmarks"][0]["rocbench"];
  EXPECT_EQ(extension["case"], "h2d/pinned");
  EXPECT_EQ(extension["bytes"], 1 << 20);
  EXPECT_EQ(extension["counted"], "payload");
  EXPECT_EQ(extension["outcome"], "measured");
  EXPECT_EQ(extension["path"], "dma");
  EXPECT_EQ(extension["verified"], true);
  EXPECT_EQ(extension["noisy"], false);
  EXPECT_EQ(extension["samples"], 20);
  EXPECT_EQ(extension["batch"], 3);
  EXPECT_DOUBLE_EQ(extension["spent_seconds"], 0.5);
  EXPECT_DOUBLE_EQ(extension["efficiency"], 0.5);
  EXPECT_EQ(extension["limit"]["origin"], "PCIe 5.0 x16");
  EXPECT_DOUBLE_EQ(extension["limit"]["bytes_per_second"], 64e9);
  for (char const* benchmark : {"rate", "seconds"}) {
    for (char const* key : {"median", "p5", "p95", "median_low", "median_high"}) {
      EXPECT_TRUE(extension[benchmark][key].is_number_float()) << benchmark << key;
    }
  }
  EXPECT_DOUBLE_EQ(extension["rate"]["median_low"], 32e9 * 0.998);
}

TEST(Json, MarksWrongDataAndUnmeasuredCasesAsErrors) {
  json const benchmarks = example_json()["benchmarks"];
  EXPECT_EQ(benchmarks[1]["error_occurred"], true);
  EXPECT_EQ(benchmarks[1]["error_message"], "sample 1: payload byte 7 is 0x80, not 0x81");
  EXPECT_EQ(benchmarks[1]["rocbench"]["verified"], false);
  EXPECT_TRUE(benchmarks[1]["rocbench"]["limit"]["bytes_per_second"].is_null());
  EXPECT_EQ(benchmarks[2]["error_occurred"], true);
  EXPECT_EQ(benchmarks[2]["rocbench"]["outcome"], "skipped");
  EXPECT_EQ(benchmarks[3]["rocbench"]["outcome"], "failed");
}

TEST(Json, ReportsFastestExecutionIfRequested) {
  benchmark_run run;
  run.results = {example_result("stream/copy", 1 << 20, 2e9)};
  run.results[0].measured.loop = {1e-3, 4e-3, 2e-3};
  run.results[0].measured.loop_rate = 3e9;
  json const benchmark = json::parse(to_json(run))["benchmarks"][0];
  EXPECT_DOUBLE_EQ(benchmark["bytes_per_second"], 3e9);
  EXPECT_DOUBLE_EQ(benchmark["real_time"], 1e6);
  json const extension = benchmark["rocbench"];
  EXPECT_DOUBLE_EQ(extension["loop"]["least_seconds"], 1e-3);
  EXPECT_DOUBLE_EQ(extension["loop"]["greatest_seconds"], 4e-3);
  EXPECT_DOUBLE_EQ(extension["loop"]["mean_seconds"], 2e-3);
  EXPECT_DOUBLE_EQ(extension["rate"]["median"], 2e9);
  EXPECT_DOUBLE_EQ(extension["efficiency"], 3. / 64);
  EXPECT_NE(to_csv(run).find(",0.001,0.004,0.002,3000000000,"), std::string::npos);
}

TEST(Json, SizesOfCaseFormFamily) {
  benchmark_run run = example_run();
  run.results = {example_result("a", 1, 1), example_result("a", 2, 1), example_result("b", 1, 1)};
  json const benchmarks = json::parse(to_json(run))["benchmarks"];
  EXPECT_EQ(benchmarks[1]["family_index"], 0);
  EXPECT_EQ(benchmarks[1]["per_family_instance_index"], 1);
  EXPECT_EQ(benchmarks[2]["family_index"], 1);
  EXPECT_EQ(benchmarks[2]["per_family_instance_index"], 0);
}

TEST(Json, ReplacesInvalidUtf8) {
  benchmark_run run = example_run();
  run.environment.device_name = "GPU \xff";
  EXPECT_EQ(json::parse(to_json(run))["context"]["rocbench"]["device_name"], "GPU \uFFFD");
}

// Reading and writing again gives the same document, apart from the machine's current load.
TEST(Json, RoundTripsThroughReader) {
  benchmark_run run = example_run();
  run.results.push_back(example_result("stream/copy", 8, 2e9));
  run.results.back().measured.loop = {1e-9, 4e-9, 2e-9};
  run.results.back().measured.loop_rate = 8e9;
  run.results.push_back(example_result("h2d/wc", 17, 1e9));
  double const infinity = std::numeric_limits<double>::infinity();
  run.results.back().measured.seconds.median_interval = {-infinity, infinity};
  benchmark_run const read = parse_run(to_json(run), "x.json");
  ASSERT_EQ(read.results.size(), run.results.size());
  EXPECT_EQ(read.results[5].measured.seconds.median_interval.high, infinity);
  EXPECT_EQ(read.results[2].reason, "no \"managed\" memory,?here");
  json first = json::parse(to_json(run));
  json second = json::parse(to_json(read));
  for (json* document : {&first, &second}) {
    (*document)["context"].erase("load_avg");
    (*document)["context"].erase("mhz_per_cpu");
    for (json& benchmark : (*document)["benchmarks"]) {
      benchmark.erase("cpu_time");
      benchmark.erase("error_message");
      benchmark["rocbench"].erase("problem");
    }
  }
  EXPECT_EQ(first, second);
}

TEST(Csv, HasFieldPerColumnAndQuotes) {
  std::string const text = to_csv(example_run());
  EXPECT_TRUE(text.starts_with("case,bytes,counted,path,median_rate,"));
  EXPECT_NE(text.find("\r\nh2d/pinned,1048576,payload,dma,32000000000,"), std::string::npos);
  EXPECT_NE(text.find(",64000000000,PCIe 5.0 x16,yes,\r\n"), std::string::npos);
  EXPECT_NE(text.find(",skipped,\"no \"\"managed\"\" memory,\nhere\"\r\n"), std::string::npos);
  std::string const first = text.substr(0, text.find("\r\n"));
  std::string const second =
      text.substr(first.size() + 2, text.find("\r\n", first.size() + 2) - first.size() - 2);
  EXPECT_EQ(std::count(first.begin(), first.end(), ','),
            std::count(second.begin(), second.end(), ','));
}

}  // namespace
}  // namespace rocbench

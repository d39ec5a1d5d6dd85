// SPDX-License-Identifier: MIT
// The format of --json, field by field: Google Benchmark's compare tool reads these files.
#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "csv_writer.hpp"
#include "example_document.hpp"
#include "json_reader.hpp"
#include "json_writer.hpp"

namespace rocbench {
namespace {

using nlohmann::json;

json written() { return json::parse(to_json(example_document())); }

TEST(json, context_is_google_benchmarks) {
  json const context = written()["context"];
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

TEST(json, benchmarks_are_google_benchmarks) {
  json const benchmark = written()["benchmarks"][0];
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

TEST(json, own_fields_are_numbers_where_they_are_numbers) {
  json const own = written()["benchmarks"][0]["rocbench"];
  EXPECT_EQ(own["case"], "h2d/pinned");
  EXPECT_EQ(own["bytes"], 1 << 20);
  EXPECT_EQ(own["counted"], "payload");
  EXPECT_EQ(own["outcome"], "measured");
  EXPECT_EQ(own["path"], "dma");
  EXPECT_EQ(own["verified"], true);
  EXPECT_EQ(own["noisy"], false);
  EXPECT_EQ(own["samples"], 20);
  EXPECT_EQ(own["batch"], 3);
  EXPECT_DOUBLE_EQ(own["spent_seconds"], 0.5);
  EXPECT_DOUBLE_EQ(own["efficiency"], 0.5);
  EXPECT_EQ(own["limit"]["origin"], "PCIe 5.0 x16");
  EXPECT_DOUBLE_EQ(own["limit"]["bytes_per_second"], 64e9);
  for (char const* of : {"rate", "seconds"}) {
    for (char const* key : {"median", "p5", "p95", "median_low", "median_high"}) {
      EXPECT_TRUE(own[of][key].is_number_float()) << of << key;
    }
  }
  EXPECT_DOUBLE_EQ(own["rate"]["median_low"], 32e9 * 0.998);
}

TEST(json, wrong_data_and_what_was_not_measured_are_errors) {
  json const benchmarks = written()["benchmarks"];
  EXPECT_EQ(benchmarks[1]["error_occurred"], true);
  EXPECT_EQ(benchmarks[1]["error_message"], "sample 1: payload byte 7 is 0x80, not 0x81");
  EXPECT_EQ(benchmarks[1]["rocbench"]["verified"], false);
  EXPECT_TRUE(benchmarks[1]["rocbench"]["limit"]["bytes_per_second"].is_null());
  EXPECT_EQ(benchmarks[2]["error_occurred"], true);
  EXPECT_EQ(benchmarks[2]["rocbench"]["outcome"], "skipped");
  EXPECT_EQ(benchmarks[3]["rocbench"]["outcome"], "failed");
}

TEST(json, says_the_rate_of_the_least_time_where_that_was_asked_for) {
  document loops;
  loops.results = {example_result("stream/copy", 1 << 20, 2e9)};
  loops.results[0].measured.loop = {1e-3, 4e-3, 2e-3};
  loops.results[0].measured.loop_rate = 3e9;
  json const benchmark = json::parse(to_json(loops))["benchmarks"][0];
  EXPECT_DOUBLE_EQ(benchmark["bytes_per_second"], 3e9);
  EXPECT_DOUBLE_EQ(benchmark["real_time"], 1e6);
  json const own = benchmark["rocbench"];
  EXPECT_DOUBLE_EQ(own["loop"]["least_seconds"], 1e-3);
  EXPECT_DOUBLE_EQ(own["loop"]["greatest_seconds"], 4e-3);
  EXPECT_DOUBLE_EQ(own["loop"]["mean_seconds"], 2e-3);
  EXPECT_DOUBLE_EQ(own["rate"]["median"], 2e9);
  EXPECT_DOUBLE_EQ(own["efficiency"], 3. / 64);
  EXPECT_NE(to_csv(loops).find(",0.001,0.004,0.002,3000000000,"), std::string::npos);
}

TEST(json, sizes_of_a_case_are_a_family) {
  document two = example_document();
  two.results = {example_result("a", 1, 1), example_result("a", 2, 1), example_result("b", 1, 1)};
  json const benchmarks = json::parse(to_json(two))["benchmarks"];
  EXPECT_EQ(benchmarks[1]["family_index"], 0);
  EXPECT_EQ(benchmarks[1]["per_family_instance_index"], 1);
  EXPECT_EQ(benchmarks[2]["family_index"], 1);
  EXPECT_EQ(benchmarks[2]["per_family_instance_index"], 0);
}

TEST(json, is_written_for_names_that_are_not_utf8) {
  document strange = example_document();
  strange.where.device_name = "GPU \xff";
  EXPECT_EQ(json::parse(to_json(strange))["context"]["rocbench"]["device_name"], "GPU \uFFFD");
}

// What is read is what was written: writing it again gives the same text, but for the machine's
// load at the time.
TEST(json, reads_what_it_writes) {
  document few = example_document();
  few.results.push_back(example_result("stream/copy", 8, 2e9));
  few.results.back().measured.loop = {1e-9, 4e-9, 2e-9};
  few.results.back().measured.loop_rate = 8e9;
  few.results.push_back(example_result("h2d/wc", 17, 1e9));
  double const infinity = std::numeric_limits<double>::infinity();
  few.results.back().measured.seconds.median_interval = {-infinity, infinity};
  document const back = parse_document(to_json(few), "x.json");
  ASSERT_EQ(back.results.size(), few.results.size());
  EXPECT_EQ(back.results[5].measured.seconds.median_interval.high, infinity);
  EXPECT_EQ(back.results[2].problem, "no \"managed\" memory,?here");
  json first = json::parse(to_json(few));
  json second = json::parse(to_json(back));
  for (json* each : {&first, &second}) {
    (*each)["context"].erase("load_avg");
    (*each)["context"].erase("mhz_per_cpu");
    for (json& of : (*each)["benchmarks"]) {
      of.erase("cpu_time");
      of.erase("error_message");
      of["rocbench"].erase("problem");
    }
  }
  EXPECT_EQ(first, second);
}

TEST(csv, has_a_field_for_every_name_and_quotes_what_needs_it) {
  std::string const text = to_csv(example_document());
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

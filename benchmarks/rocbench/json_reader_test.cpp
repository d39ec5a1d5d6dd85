// SPDX-License-Identifier: MIT
// Invalid and manipulated result files: each must be refused with one clear message.
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "example_run.hpp"
#include "json_reader.hpp"
#include "json_writer.hpp"
#include "text_file.hpp"

namespace rocbench {
namespace {

using nlohmann::json;

std::string error_of(std::string const& text) {
  try {
    parse_run(text, "x.json");
  } catch (input_error const& e) {
    return e.what();
  }
  return "";
}

std::string error_after(std::function<void(json&)> const& modify) {
  json document = json::parse(to_json(example_run()));
  modify(document);
  return error_of(document.dump());
}

TEST(ParseRun, RefusesInvalidJson) {
  for (char const* text : {"", "{", "[1,2", "nonsense", "{\"a\":}", "\"\xff\"", "{} {}"}) {
    EXPECT_TRUE(error_of(text).starts_with("x.json: not valid JSON: ")) << text << error_of(text);
  }
}

TEST(ParseRun, RefusesDeepNestingBeforeStackOverflow) {
  for (std::size_t const depth : {std::size_t{40}, std::size_t{5} << 20}) {
    EXPECT_TRUE(error_of(std::string(depth, '[')).starts_with("x.json: nested deeper than"));
    std::string objects;
    for (std::size_t i = 0; i < depth / 5; ++i) objects += "{\"a\":";
    bool const is_refused = depth > 1000;
    EXPECT_TRUE(error_of(objects).starts_with(is_refused ? "x.json: nested deeper"
                                                         : "x.json: not valid JSON"));
  }
}

TEST(ParseRun, RefusesOtherDocuments) {
  for (char const* text : {"null", "3", "[]", "\"text\""}) {
    EXPECT_EQ(error_of(text), "x.json: the document is not an object") << text;
  }
  EXPECT_EQ(error_of("{}"),
            "x.json: the document has no \"context\"; use a result file of rocbench --json");
  EXPECT_EQ(error_of(R"({"context": {"date": "x"}, "benchmarks": []})"),
            "x.json: context has no \"rocbench\"; use a result file of rocbench --json");
}

TEST(ParseRun, NamesLocationOfWrongType) {
  EXPECT_EQ(error_after([](json& document) { document["benchmarks"] = 7; }),
            "x.json: benchmarks is not an array");
  EXPECT_EQ(error_after([](json& document) { document["benchmarks"][0] = {1}; }),
            "x.json: benchmarks[0] is not an object");
  EXPECT_EQ(error_after([](json& document) { document["context"]["rocbench"]["device"] = "one"; }),
            "x.json: context.rocbench.device is not an integer");
  EXPECT_EQ(error_after([](json& document) { document["context"]["rocbench"]["on_gpu"] = 1; }),
            "x.json: context.rocbench.on_gpu is not a boolean");
  EXPECT_EQ(
      error_after([](json& document) { document["benchmarks"][0]["rocbench"]["case"] = nullptr; }),
      "x.json: benchmarks[0].rocbench.case is not a string");
  EXPECT_EQ(error_after(
                [](json& document) { document["benchmarks"][0]["rocbench"]["rate"]["p5"] = "4"; }),
            "x.json: benchmarks[0].rocbench.rate.p5 is not a number");
  EXPECT_EQ(
      error_after(
          [](json& document) { document["benchmarks"][0]["rocbench"]["outcome"] = "fine"; }),
      "x.json: benchmarks[0].rocbench.outcome is not \"measured\", \"skipped\" or \"failed\"");
  EXPECT_EQ(error_after(
                [](json& document) { document["benchmarks"][0]["rocbench"]["counted"] = "words"; }),
            "x.json: benchmarks[0].rocbench.counted is not \"payload\", \"traffic\" or \"time\"");
}

TEST(ParseRun, RefusesNumbersOutOfRange) {
  auto const error_for_size = [](json const& value) {
    return error_after(
        [&](json& document) { document["benchmarks"][0]["rocbench"]["bytes"] = value; });
  };
  EXPECT_EQ(error_for_size(-1),
            "x.json: benchmarks[0].rocbench.bytes is not a non-negative integer");
  EXPECT_EQ(error_for_size(1e300),
            "x.json: benchmarks[0].rocbench.bytes is not a non-negative integer");
  EXPECT_EQ(error_for_size(UINT64_MAX), "x.json: benchmarks[0].rocbench.bytes is out of range");
  auto const error_for_ordinal = [](json const& value) {
    return error_after([&](json& document) { document["context"]["rocbench"]["device"] = value; });
  };
  EXPECT_EQ(error_for_ordinal(UINT64_MAX), "x.json: context.rocbench.device is out of range");
  EXPECT_EQ(error_for_ordinal(INT64_MIN), "x.json: context.rocbench.device is out of range");
  auto const error_for_median = [](json const& value) {
    return error_after(
        [&](json& document) { document["benchmarks"][0]["rocbench"]["rate"]["median"] = value; });
  };
  EXPECT_EQ(error_for_median(0),
            "x.json: benchmarks[0].rocbench.rate.median is not a finite number above zero");
  EXPECT_EQ(error_for_median(-4.5),
            "x.json: benchmarks[0].rocbench.rate.median is not a finite number above zero");
  EXPECT_EQ(error_for_median(1e12),
            "x.json: benchmarks[0].rocbench.rate has a median outside its confidence interval");
  auto const error_for_loop = [](json const& value) {
    return error_after(
        [&](json& document) { document["benchmarks"][0]["rocbench"]["loop"] = value; });
  };
  EXPECT_EQ(error_for_loop({{"least_seconds", -1}}),
            "x.json: benchmarks[0].rocbench.loop.least_seconds is not a finite number above zero");
  EXPECT_TRUE(error_of(R"({"context": 1e99999})").starts_with("x.json: not valid JSON: "));
}

TEST(ParseRun, ReplacesControlCharactersAndLimitsLength) {
  json run = json::parse(to_json(example_run()));
  run["context"]["rocbench"]["device_name"] = "\x1b[2Jgone\x7f";
  EXPECT_EQ(parse_run(run.dump(), "x").environment.device_name, "?[2Jgone?");
  EXPECT_EQ(error_after([](json& document) {
              document["context"]["rocbench"]["device_name"] = std::string(2000, 'x');
            }),
            "x.json: context.rocbench.device_name is longer than 1000 bytes");
}

TEST(ReadRun, RefusesUnreadableFiles) {
  EXPECT_THROW(read_run("/nonexistent/x.json"), input_error);
  EXPECT_THROW(read_run("/"), input_error);
  EXPECT_THROW(read_run("/dev/zero"), input_error);
}

}  // namespace
}  // namespace rocbench
